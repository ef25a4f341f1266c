import { byId } from '../app/dom.js';

/**
 * Marking a part of the image: a rectangle by dragging, a polygon by clicks (a double click, Enter, or a click on the
 * first corner closes it). Without a pointer: the key takes the pinned pixel as a corner, and a second time as the
 * opposite one.
 *
 * Coordinates are edges of pixels, x to the right, y downwards, as the view has them.
 */
export class RegionTool {
  /**
   * @param {import('../view/view.js').View} view
   * @param {{changed(): void, mode(tool: string): void}} on
   */
  constructor(view, on) {
    Object.assign(this, { view, on });
    this.tool = '';
    /** @type {{rect?: number[], polygon?: number[][]} | null} */
    this.shape = null;
    /** @type {number[][]} corners so far */
    this.open = [];
    this.hover = null;
    this.corner = null;
    const { canvas } = view;
    for (const name of ['pointerdown', 'pointermove', 'pointerup', 'dblclick']) {
      // Ahead of the view's own handlers, and in their place while something is marked.
      canvas.addEventListener(name, (event) => this.pointer(name, event), { capture: true });
    }
    view.addEventListener('move', () => this.draw());
  }

  /** Starts or ends a tool. @param {'' | 'rect' | 'polygon'} tool */
  use(tool) {
    this.tool = this.tool === tool ? '' : tool;
    this.open = [];
    this.hover = null;
    this.corner = null;
    this.on.mode(this.tool);
    this.draw();
  }

  /** Removes the region. */
  clear() {
    this.shape = null;
    this.open = [];
    this.draw();
    this.on.changed();
  }

  /** The rectangle by keyboard: the first call takes a corner, the second the opposite one. */
  corners(pinned) {
    if (!pinned) return;
    if (!this.corner) {
      this.corner = pinned;
      this.tool = 'rect';
      this.on.mode('rect');
      this.stretch(pinned);
      return;
    }
    const { corner } = this;
    this.finish({ rect: rectangle([corner.x + 0.5, corner.y + 0.5], [pinned.x + 0.5, pinned.y + 0.5]) });
  }

  /** The cursor has moved while a corner is held by keyboard. */
  stretch(pinned) {
    if (!this.corner || !pinned) return;
    const { corner } = this;
    this.open = outline({ rect: rectangle([corner.x + 0.5, corner.y + 0.5], [pinned.x + 0.5, pinned.y + 0.5]) });
    this.draw();
  }

  pointer(name, event) {
    if (this.tool === '' || !this.view.source) return;
    event.stopImmediatePropagation();
    const box = this.view.canvas.getBoundingClientRect();
    const at = this.inside(this.view.camera.toImage(event.clientX - box.left, event.clientY - box.top));
    if (this.tool === 'rect') this.rect(name, event, at);
    else this.polygon(name, event, at);
  }

  rect(name, event, at) {
    if (name === 'pointerdown' && event.button === 0) {
      this.view.canvas.setPointerCapture(event.pointerId);
      this.from = at;
    }
    if (!this.from) return;
    const shape = { rect: rectangle(this.from, at) };
    if (name === 'pointermove') this.open = outline(shape);
    if (name === 'pointerup') {
      this.from = null;
      this.finish(shape);
    }
    this.draw();
  }

  polygon(name, event, at) {
    if (name === 'pointermove') this.hover = at;
    if (name === 'pointerup' && event.button === 0) {
      if (this.open.length > 2 && this.near(this.open[0], at)) return this.close();
      if (this.open.length === 0 || !this.near(this.open.at(-1), at, 2)) this.open.push(at);
    }
    if (name === 'dblclick') return this.close();
    return this.draw();
  }

  /** Closes the polygon, when it has an inside. */
  close() {
    if (this.tool !== 'polygon' || this.open.length < 3) return;
    this.finish({ polygon: this.open });
  }

  finish(shape) {
    this.shape = shape;
    this.open = [];
    this.hover = null;
    this.corner = null;
    this.tool = '';
    this.on.mode('');
    this.draw();
    this.on.changed();
  }

  near(a, b, pixels = 9) {
    const [ax, ay] = this.view.camera.toScreen(...a);
    const [bx, by] = this.view.camera.toScreen(...b);
    return Math.hypot(ax - bx, ay - by) <= pixels;
  }

  inside([x, y]) {
    const { width, height } = this.view.source;
    return [Math.min(width, Math.max(0, x)), Math.min(height, Math.max(0, y))];
  }

  draw() {
    const screen = (points) => points.map(([x, y]) => this.view.camera.toScreen(x, y).map((v) => v.toFixed(1)).join(',')).join(' ');
    const closed = this.open.length > 0 && this.tool === 'rect' ? this.open : this.shape ? outline(this.shape) : [];
    byId('region-shape').setAttribute('points', screen(this.view.source ? closed : []));
    const line = this.tool === 'polygon' ? [...this.open, ...(this.hover && this.open.length > 0 ? [this.hover] : [])] : [];
    byId('region-line').setAttribute('points', screen(line));
  }
}

/** The whole pixels between two points: [x0, y0, x1, y1], half-open, at least one pixel. */
export function rectangle(a, b) {
  const low = (i) => Math.floor(Math.min(a[i], b[i]));
  const high = (i) => Math.max(Math.floor(Math.min(a[i], b[i])) + 1, Math.ceil(Math.max(a[i], b[i])));
  return [low(0), low(1), high(0), high(1)];
}

function outline({ rect, polygon }) {
  if (polygon) return polygon;
  const [x0, y0, x1, y1] = rect;
  return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
}
