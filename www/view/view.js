import { Camera } from './camera.js';
import { colormap } from './colormaps.js';
import { watchPointers } from './pointer.js';
import { STRETCHES } from './stretch.js';
import { PLANES, planesOf, Tiles } from './tiles.js';

/**
 * Where the view takes its codes from.
 * @typedef {object} CodeSource
 * @property {number} width pixels
 * @property {number} height pixels
 * @property {number} [planes] 1 (the default) to 3; see {@link View.compose}
 * @property {number} [aspect] width of a pixel over its height; 1 by default
 * @property {boolean} [down] whether row 0 is the top row; by default it is the lowest
 * @property {number} [cell] pixels along the square that one code stands for, counted from the top left corner; 1 by
 *   default. It may change from one drawing to the next: then all codes are read anew
 * @property {(x0: number, y0: number, width: number, height: number, out: Uint16Array, plane: number) => void} read
 *   writes the codes of a rectangle of a plane, row by row, row `y0` first; in pixels, or in cells of the present size
 *
 * How one plane becomes light.
 * @typedef {object} Channel
 * @property {number} lo code that is dark @property {number} hi code that is fully lit; fractions allowed
 * @property {string} stretch one of STRETCHES
 * @property {[number, number, number]} tint its colour, 0 to 1 each
 */

/**
 * A WebGL2 view of one image of 16-bit codes, of any size: one plane through a colour table, or up to three planes
 * that each add light of their own colour.
 *
 * Pixel coordinates are zero-based, x to the right, y up: row 0 lies at the bottom, unless the source says that it
 * is the top row. Code 0 is no data and is drawn as a quiet checker where no plane has data. Codes lie in integer textures, so nothing between the source and the colour table rounds them.
 * The view holds no pixels of its own: it asks the source for what is on screen, again after {@link View.invalidate}
 * and after a lost graphics context.
 *
 * Events (`addEventListener`): `hover` and `pick` with `detail` {x, y} or null when beside the image, `move` when
 * the visible part changes, `lost` and `restored` with the graphics context.
 */
export class View extends EventTarget {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    super();
    this.canvas = canvas;
    this.camera = new Camera();
    this.ratio = 1;
    this.look = { ...lookOf([{ lo: 1, hi: 65535, stretch: 'linear', tint: [1, 1, 1] }]), added: 0, quiet: [0.105, 0.12, 0.145] };
    this.table = colormap('grey');
    this.source = null;
    this.frame = 0;
    this.ending = new AbortController();
    this.gl = canvas.getContext('webgl2', { alpha: true, antialias: false, premultipliedAlpha: true });
    if (!this.gl) throw new Error('This browser has no WebGL2, which the image view needs.');
    this.tiles = new Tiles(this.gl);
    this.tiles.colours(this.table);
    this.observe();
  }

  observe() {
    const { canvas } = this;
    const { signal } = this.ending;
    canvas.addEventListener('webglcontextlost', (event) => {
      event.preventDefault();
      this.tiles = null;
      this.tell('lost', null);
    }, { signal });
    canvas.addEventListener('webglcontextrestored', () => this.rebuild(), { signal });
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(canvas);
    this.resize();
    watchPointers(canvas, {
      pan: (dx, dy) => this.move(() => this.camera.pan(dx, dy)),
      zoom: (factor, sx, sy) => this.move(() => this.camera.zoomBy(factor, sx, sy)),
      hover: (sx, sy) => this.tell('hover', this.pixelAt(sx, sy)),
      pick: (sx, sy) => this.tell('pick', this.pixelAt(sx, sy)),
      leave: () => this.tell('hover', null),
    }, signal);
  }

  rebuild() {
    this.tiles = new Tiles(this.gl);
    this.tiles.colours(this.table);
    this.tiles.show(this.source);
    this.request();
    this.tell('restored', null);
  }

  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    this.ratio = globalThis.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(box.width * this.ratio));
    const height = Math.max(1, Math.round(box.height * this.ratio));
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    this.move(() => this.camera.resize(width / this.ratio, height / this.ratio));
    // A cleared canvas would flash until the next frame.
    this.draw();
  }

  /** Shows an image, or nothing. The place on screen stays when the size stays. @param {CodeSource | null} source */
  show(source) {
    this.source = source;
    this.tiles?.show(source);
    this.move(() => this.camera.load(source?.width ?? 1, source?.height ?? 1, { aspect: source?.aspect, down: source?.down }));
  }

  /** Says that codes of the source have changed: a rectangle {x0, y0, x1, y1}, or all. */
  invalidate(rect = null) {
    this.tiles?.invalidate(rect);
    this.request();
  }

  /** Shows the first plane through the colour table: which codes become its ends, and the stretch between them. */
  transfer(lo, hi, stretch) {
    this.look = { ...this.look, ...lookOf([{ lo, hi, stretch, tint: [1, 1, 1] }]), added: 0 };
    this.request();
  }

  /** Shows all planes at once: each adds light of its own colour, by its own limits and stretch. @param {Channel[]} channels */
  compose(channels) {
    this.look = { ...this.look, ...lookOf(channels), added: channels.length };
    this.request();
  }

  /** Sets the 256 colours: 768 bytes of R, G, B. @param {Uint8Array} table */
  colours(table) {
    this.table = table;
    this.tiles?.colours(table);
    this.request();
  }

  /** Changes the camera through a function, redraws and tells it. */
  move(change) {
    change(this.camera);
    this.request();
    this.tell('move', null);
  }

  /** Shows the whole image. */
  fit() {
    this.move((camera) => camera.fit());
  }

  /** One image pixel on one pixel of the screen. */
  actual() {
    this.move((camera) => camera.zoomTo(1 / this.ratio));
  }

  /** Zooms about a screen point, by default the middle. */
  zoomBy(factor, sx, sy) {
    this.move((camera) => camera.zoomBy(factor, sx, sy));
  }

  /** Brings a pixel on screen with the least movement. */
  reveal(x, y) {
    const [sx, sy] = this.camera.toScreen(x + 0.5, y + 0.5);
    const edge = Math.min(24, this.camera.width / 4, this.camera.height / 4);
    const dx = Math.min(0, this.camera.width - edge - sx) + Math.max(0, edge - sx);
    const dy = Math.min(0, this.camera.height - edge - sy) + Math.max(0, edge - sy);
    if (dx !== 0 || dy !== 0) this.move((camera) => camera.pan(dx, dy));
  }

  /** The pixel under a point of the canvas in CSS pixels, or null beside the image. */
  pixelAt(sx, sy) {
    if (!this.source) return null;
    const [x, y] = this.camera.toImage(sx, sy).map(Math.floor);
    return x >= 0 && y >= 0 && x < this.source.width && y < this.source.height ? { x, y } : null;
  }

  /** The code of a pixel as the graphics card holds it: 0 no data; null beside the image or without a context. */
  codeAt(x, y, plane = 0) {
    const { source, tiles } = this;
    if (!source || !tiles || !(x >= 0 && y >= 0 && x < source.width && y < source.height && plane < planesOf(source))) return null;
    return tiles.codeAt(Math.floor(x), Math.floor(y), plane);
  }

  /** The colour [r, g, b, a] drawn at a point of the canvas in CSS pixels. */
  colourAt(sx, sy) {
    this.draw();
    const out = new Uint8Array(4);
    const { gl, ratio } = this;
    gl.readPixels(Math.floor(sx * ratio), gl.drawingBufferHeight - 1 - Math.floor(sy * ratio), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, out);
    return [...out];
  }

  request() {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.tiles && !this.gl.isContextLost()) this.tiles.draw(this.camera, this.ratio, this.look);
  }

  /** Stops listening and frees the textures. */
  close() {
    this.ending.abort();
    this.watcher.disconnect();
    cancelAnimationFrame(this.frame);
    this.tiles?.clear();
  }
}

/** The channels as the shader takes them; planes without a channel of their own give no light. */
function lookOf(channels) {
  const all = Array.from({ length: PLANES }, (_, plane) => channels[plane] ?? { lo: 0, hi: 1, stretch: '', tint: [0, 0, 0] });
  return {
    limits: Float32Array.from(all.flatMap(({ lo, hi }) => [lo, hi])),
    stretch: Int32Array.from(all, ({ stretch }) => Math.max(0, STRETCHES.indexOf(stretch))),
    tint: Float32Array.from(all.flatMap(({ tint }) => tint)),
  };
}
