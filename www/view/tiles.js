import { FRAGMENT, VERTEX } from './shader.js';

/** Side of a texture. Small enough for every WebGL2 device, and for an upload that does not stall a frame. */
export const TILE = 1024;

/** Textures kept at most, those on screen apart: 64 × 2 MiB. */
const KEPT = 64;

/** Planes that one image can be made of. */
export const PLANES = 3;

/** Texture unit of the colour table, behind those of the planes. */
const LUT_UNIT = PLANES;

const UNIFORMS = ['corners', 'codes0', 'codes1', 'codes2', 'lut', 'added', 'origin', 'pitch', 'size', 'limits', 'stretch', 'tint', 'quiet'];

/**
 * The image as a grid of R16UI textures, one for each plane, filled from a source when they come on screen.
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
    this.cell = 1;
    /** Rows of pixels by which the lowest row of cells reaches below the image. */
    this.lift = 0;
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  }

  /** Sets the source of codes; null for none. */
  show(source) {
    const { width, height } = this.source ?? {};
    const reusable = source && width === source.width && height === source.height && planesOf(this.source) === planesOf(source);
    if (!reusable) this.clear();
    this.source = source;
    this.invalidate(null);
  }

  /** Follows the size of the source's cells: textures are of one size of them. */
  settle() {
    const { cell = 1, height, down } = this.source;
    if (cell !== this.cell) this.clear();
    this.cell = cell;
    this.lift = down ? 0 : Math.ceil(height / cell) * cell - height;
  }

  /** The cells that a rectangle of pixels touches. */
  cells({ x0, y0, x1, y1 }) {
    const { cell, lift } = this;
    return { x0: Math.floor(x0 / cell), y0: Math.floor((y0 + lift) / cell), x1: Math.ceil(x1 / cell), y1: Math.ceil((y1 + lift) / cell) };
  }

  /** Frees every texture. */
  clear() {
    for (const tile of this.grid.values()) this.free(tile);
    this.grid.clear();
  }

  /** Marks a rectangle (null: all) as changed in the source. */
  invalidate(rect) {
    const changed = rect && this.cells(rect);
    for (const tile of this.grid.values()) {
      const part = changed ? overlap(tile, changed) : { x0: tile.x0, y0: tile.y0, x1: tile.x1, y1: tile.y1 };
      if (part) tile.stale = tile.stale ? union(tile.stale, part) : part;
    }
  }

  /** Sets the 256 colours. */
  colours(table) {
    const { gl } = this;
    const rgba = new Uint8Array(1024).fill(255);
    for (let i = 0; i < 256; i += 1) rgba.set(table.subarray(3 * i, 3 * i + 3), 4 * i);
    gl.activeTexture(gl.TEXTURE0 + LUT_UNIT);
    gl.bindTexture(gl.TEXTURE_2D, this.lut);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, rgba);
    nearest(gl);
  }

  /**
   * Draws what is visible. `look` = { added, limits, stretch, tint, quiet }: limits in codes, two a plane; `ratio` =
   * device per CSS pixel.
   */
  draw(camera, ratio, look) {
    const { gl } = this;
    const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const pixels = this.source && camera.visible();
    if (!pixels) return;
    this.settle();
    const { cell, lift } = this;
    const seen = this.cells(pixels);
    // From here on in cells.
    const across = 1 / (camera.zoom * ratio * cell);
    const upwards = camera.up / (camera.zoomY * ratio * cell);
    const left = camera.x / cell - (width / 2) * across;
    const bottom = (camera.y + lift) / cell - (height / 2) * upwards;
    gl.useProgram(this.program);
    gl.bindVertexArray(this.array);
    this.style(look);
    gl.uniform2f(this.at.pitch, across, upwards);
    for (let row = Math.floor(seen.y0 / TILE); row * TILE < seen.y1; row += 1) {
      for (let column = Math.floor(seen.x0 / TILE); column * TILE < seen.x1; column += 1) {
        const tile = this.ready(column, row);
        const clip = (v, from, pitch, size) => (2 * (v - from)) / (pitch * size) - 1;
        // Cells at the edge reach beyond the image; what is drawn does not.
        const [x0, x1] = [tile.x0, Math.min(tile.x1, this.source.width / cell)].map((x) => clip(x, left, across, width));
        const [y0, y1] = this.rows(tile).map((y) => clip(y, bottom, upwards, height));
        gl.uniform4f(this.at.corners, x0, y0, x1, y1);
        gl.uniform2f(this.at.origin, left - tile.x0, bottom - tile.y0);
        gl.uniform2i(this.at.size, tile.x1 - tile.x0, tile.y1 - tile.y0);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      }
    }
    this.evict(seen);
  }

  /** The rows of a tile's cells that lie on the image. */
  rows({ y0, y1 }) {
    const { cell, lift, source } = this;
    return source.down ? [y0, Math.min(y1, source.height / cell)] : [Math.max(y0, lift / cell), y1];
  }

  /** Hands the look over to the shader. */
  style(look) {
    const { gl } = this;
    for (let plane = 0; plane < PLANES; plane += 1) gl.uniform1i(this.at[`codes${plane}`], plane);
    gl.uniform1i(this.at.lut, LUT_UNIT);
    gl.uniform1i(this.at.added, look.added > 0 ? planesOf(this.source) : 0);
    gl.uniform2fv(this.at.limits, look.limits);
    gl.uniform1iv(this.at.stretch, look.stretch);
    gl.uniform3fv(this.at.tint, look.tint);
    gl.uniform3fv(this.at.quiet, look.quiet);
  }

  /** The tile of a place, its planes bound to the units from 0 on, with the source's present codes. */
  ready(column, row) {
    const { gl } = this;
    const key = `${column},${row}`;
    const tile = this.grid.get(key) ?? this.create(column, row);
    this.grid.delete(key);
    this.grid.set(key, tile);
    for (let plane = 0; plane < PLANES; plane += 1) {
      gl.activeTexture(gl.TEXTURE0 + plane);
      // A unit without a plane of its own still needs an integer texture to be complete.
      gl.bindTexture(gl.TEXTURE_2D, tile.textures[plane] ?? tile.textures[0]);
      if (tile.stale && tile.textures[plane]) this.upload(tile, plane);
    }
    tile.stale = null;
    return tile;
  }

  create(column, row) {
    const { gl } = this;
    const x0 = column * TILE;
    const y0 = row * TILE;
    const x1 = Math.min(Math.ceil(this.source.width / this.cell), x0 + TILE);
    const y1 = Math.min(Math.ceil(this.source.height / this.cell), y0 + TILE);
    const textures = Array.from({ length: planesOf(this.source) }, () => {
      const texture = gl.createTexture();
      gl.activeTexture(gl.TEXTURE0);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texStorage2D(gl.TEXTURE_2D, 1, gl.R16UI, x1 - x0, y1 - y0);
      nearest(gl);
      return texture;
    });
    return { textures, x0, y0, x1, y1, stale: { x0, y0, x1, y1 } };
  }

  /** Fills what is stale of the plane bound to the active unit. */
  upload(tile, plane) {
    const { gl } = this;
    const { x0, y0, x1, y1 } = tile.stale;
    const codes = this.staging.subarray(0, (x1 - x0) * (y1 - y0));
    this.source.read(x0, y0, x1 - x0, y1 - y0, codes, plane);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, x0 - tile.x0, y0 - tile.y0, x1 - x0, y1 - y0, gl.RED_INTEGER, gl.UNSIGNED_SHORT, codes);
  }

  free(tile) {
    for (const texture of tile.textures) this.gl.deleteTexture(texture);
  }

  /** The code of one pixel as the graphics card holds it. */
  codeAt(x, y, plane) {
    const { gl } = this;
    this.settle();
    const { x0, y0 } = this.cells({ x0: x, y0: y, x1: x + 1, y1: y + 1 });
    const tile = this.ready(Math.floor(x0 / TILE), Math.floor(y0 / TILE));
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, tile.textures[plane], 0);
    const out = new Uint32Array(4);
    gl.readPixels(x0 - tile.x0, y0 - tile.y0, 1, 1, gl.RGBA_INTEGER, gl.UNSIGNED_INT, out);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.deleteFramebuffer(frame);
    return out[0];
  }

  evict(seen) {
    for (const [key, tile] of this.grid) {
      if (this.grid.size * planesOf(this.source) <= KEPT) return;
      if (overlap(tile, seen)) continue;
      this.free(tile);
      this.grid.delete(key);
    }
  }
}

/** How many planes a source has. */
export function planesOf(source) {
  return source?.planes ?? 1;
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
