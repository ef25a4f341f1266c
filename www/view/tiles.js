import { FRAGMENT, VERTEX } from './shader.js';

/** Side of a texture. Small enough for every WebGL2 device, and for an upload that does not stall a frame. */
export const TILE = 1024;

/** Textures kept at most, those on screen apart: 64 × 2 MiB. */
const KEPT = 64;

const UNIFORMS = ['corners', 'codes', 'lut', 'origin', 'pitch', 'size', 'limits', 'stretch', 'quiet'];

/**
 * The image as a grid of R16UI textures, filled from a source when they come on screen.
 *
 * Nothing is kept on the CPU side: a lost context, a new scale or a new layer only marks tiles as stale, and the
 * source is asked again.
 */
export class Tiles {
  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.gl = gl;
    this.program = link(gl);
    this.at = Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(this.program, name)]));
    this.array = gl.createVertexArray();
    this.lut = gl.createTexture();
    this.staging = new Uint16Array(TILE * TILE);
    /** @type {Map<string, object>} least recently drawn first */
    this.grid = new Map();
    this.source = null;
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  }

  /** Sets the source of codes; null for none. */
  show(source) {
    const reusable = this.source && source && this.source.width === source.width && this.source.height === source.height;
    if (!reusable) this.clear();
    this.source = source;
    this.invalidate(null);
  }

  /** Frees every texture. */
  clear() {
    for (const tile of this.grid.values()) this.gl.deleteTexture(tile.texture);
    this.grid.clear();
  }

  /** Marks a rectangle (null: all) as changed in the source. */
  invalidate(rect) {
    for (const tile of this.grid.values()) {
      const part = rect ? overlap(tile, rect) : { x0: tile.x0, y0: tile.y0, x1: tile.x1, y1: tile.y1 };
      if (part) tile.stale = tile.stale ? union(tile.stale, part) : part;
    }
  }

  /** Sets the 256 colours. */
  colours(table) {
    const { gl } = this;
    const rgba = new Uint8Array(1024).fill(255);
    for (let i = 0; i < 256; i += 1) rgba.set(table.subarray(3 * i, 3 * i + 3), 4 * i);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.lut);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, rgba);
    nearest(gl);
  }

  /** Draws what is visible. `look` = { lo, hi, stretch, quiet }, limits in codes; `ratio` = device per CSS pixel. */
  draw(camera, ratio, look) {
    const { gl } = this;
    const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const seen = this.source && camera.visible();
    if (!seen) return;
    const zoom = camera.zoom * ratio;
    const left = camera.x - width / 2 / zoom;
    const bottom = camera.y - height / 2 / zoom;
    gl.useProgram(this.program);
    gl.bindVertexArray(this.array);
    gl.uniform1i(this.at.codes, 0);
    gl.uniform1i(this.at.lut, 1);
    gl.uniform1f(this.at.pitch, 1 / zoom);
    gl.uniform2f(this.at.limits, look.lo, look.hi);
    gl.uniform1i(this.at.stretch, look.stretch);
    gl.uniform3fv(this.at.quiet, look.quiet);
    for (let row = Math.floor(seen.y0 / TILE); row * TILE < seen.y1; row += 1) {
      for (let column = Math.floor(seen.x0 / TILE); column * TILE < seen.x1; column += 1) {
        const tile = this.ready(column, row);
        const clip = (v, from, size) => (2 * (v - from) * zoom) / size - 1;
        gl.uniform4f(this.at.corners, clip(tile.x0, left, width), clip(tile.y0, bottom, height), clip(tile.x1, left, width), clip(tile.y1, bottom, height));
        gl.uniform2f(this.at.origin, left - tile.x0, bottom - tile.y0);
        gl.uniform2i(this.at.size, tile.x1 - tile.x0, tile.y1 - tile.y0);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      }
    }
    this.evict(seen);
  }

  /** The tile of a place, bound to unit 0, with the source's present codes. */
  ready(column, row) {
    const { gl } = this;
    const key = `${column},${row}`;
    const tile = this.grid.get(key) ?? this.create(column, row);
    this.grid.delete(key);
    this.grid.set(key, tile);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, tile.texture);
    if (tile.stale) this.upload(tile);
    return tile;
  }

  create(column, row) {
    const { gl } = this;
    const x0 = column * TILE;
    const y0 = row * TILE;
    const x1 = Math.min(this.source.width, x0 + TILE);
    const y1 = Math.min(this.source.height, y0 + TILE);
    const texture = gl.createTexture();
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.R16UI, x1 - x0, y1 - y0);
    nearest(gl);
    return { texture, x0, y0, x1, y1, stale: { x0, y0, x1, y1 } };
  }

  upload(tile) {
    const { gl } = this;
    const { x0, y0, x1, y1 } = tile.stale;
    const codes = this.staging.subarray(0, (x1 - x0) * (y1 - y0));
    this.source.read(x0, y0, x1 - x0, y1 - y0, codes);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, x0 - tile.x0, y0 - tile.y0, x1 - x0, y1 - y0, gl.RED_INTEGER, gl.UNSIGNED_SHORT, codes);
    tile.stale = null;
  }

  /** The code of one pixel as the graphics card holds it. */
  codeAt(x, y) {
    const { gl } = this;
    const tile = this.ready(Math.floor(x / TILE), Math.floor(y / TILE));
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, tile.texture, 0);
    const out = new Uint32Array(4);
    gl.readPixels(x - tile.x0, y - tile.y0, 1, 1, gl.RGBA_INTEGER, gl.UNSIGNED_INT, out);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.deleteFramebuffer(frame);
    return out[0];
  }

  evict(seen) {
    for (const [key, tile] of this.grid) {
      if (this.grid.size <= KEPT) return;
      if (overlap(tile, seen)) continue;
      this.gl.deleteTexture(tile.texture);
      this.grid.delete(key);
    }
  }
}

function overlap(a, b) {
  const part = { x0: Math.max(a.x0, b.x0), y0: Math.max(a.y0, b.y0), x1: Math.min(a.x1, b.x1), y1: Math.min(a.y1, b.y1) };
  return part.x1 > part.x0 && part.y1 > part.y0 ? part : null;
}

function union(a, b) {
  return { x0: Math.min(a.x0, b.x0), y0: Math.min(a.y0, b.y0), x1: Math.max(a.x1, b.x1), y1: Math.max(a.y1, b.y1) };
}

function nearest(gl) {
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
}

function link(gl) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`The view's shaders do not link: ${gl.getProgramInfoLog(program)}`);
  }
  return program;
}
