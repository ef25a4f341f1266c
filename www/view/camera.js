/**
 * Where the image lies on the screen.
 *
 * Image coordinates here are *edges*: pixel (i, j) covers [i, i+1) × [j, j+1), so its centre is at
 * (i + 0.5, j + 0.5). y grows upwards, or downwards for an image whose row 0 is its top row. Screen coordinates are
 * CSS pixels of the canvas, y down. `zoom` is CSS pixels per image pixel across; `zoomY` is the same downwards, and
 * differs where pixels are not square.
 * Pure: no canvas, no events, so every rule can be tested with numbers.
 */
export class Camera {
  constructor() {
    this.width = 1;
    this.height = 1;
    this.image = { width: 1, height: 1 };
    this.x = 0.5;
    this.y = 0.5;
    this.zoom = 1;
    /** Width of a pixel over its height. */
    this.aspect = 1;
    /** Row 0 at the top, y downwards. */
    this.down = false;
    /** CSS pixels at most along the shorter side of an image pixel. */
    this.most = 64;
    /** Follow the canvas size with a fitted image until the user moves. */
    this.fitted = true;
  }

  /** Sets the canvas size in CSS pixels. */
  resize(width, height) {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    if (this.fitted) this.fit();
    else this.keep();
  }

  /** Sets the image size, the shape of its pixels and its way up; the view is fitted to a new one. */
  load(width, height, { aspect = 1, down = false } = {}) {
    const same = this.image.width === width && this.image.height === height && this.aspect === aspect && this.down === down;
    this.image = { width, height };
    this.aspect = aspect;
    this.down = down;
    if (!same || this.fitted) this.fit();
  }

  /** CSS pixels per image pixel downwards. */
  get zoomY() {
    return this.zoom / this.aspect;
  }

  /** +1 where y grows upwards, −1 where it grows downwards. */
  get up() {
    return this.down ? -1 : 1;
  }

  /** The zoom at which the whole image is seen, with a small margin. */
  get fitZoom() {
    const margin = this.width > 480 ? 24 : 8;
    const across = Math.max(1, this.width - 2 * margin) / this.image.width;
    const down = (Math.max(1, this.height - 2 * margin) / this.image.height) * this.aspect;
    return Math.min(across, down, this.largest);
  }

  /** The zoom at which the shorter side of a pixel has `most` CSS pixels. */
  get largest() {
    return this.most * Math.max(1, this.aspect);
  }

  /** Shows the whole image. */
  fit() {
    this.zoom = this.fitZoom;
    this.x = this.image.width / 2;
    this.y = this.image.height / 2;
    this.fitted = true;
  }

  /** Limits of the zoom: half the fitted size to `most` CSS pixels per image pixel. */
  get limits() {
    return [Math.min(this.fitZoom / 2, 1), this.largest];
  }

  /** Multiplies the zoom; what lies under the screen point stays under it. */
  zoomBy(factor, sx = this.width / 2, sy = this.height / 2) {
    const [least, most] = this.limits;
    this.zoomTo(Math.min(most, Math.max(least, this.zoom * factor)), sx, sy);
  }

  /** Sets the zoom; what lies under the screen point stays under it. */
  zoomTo(zoom, sx = this.width / 2, sy = this.height / 2) {
    const [x, y] = this.toImage(sx, sy);
    this.zoom = zoom;
    this.x = x - (sx - this.width / 2) / zoom;
    this.y = y + (this.up * (sy - this.height / 2)) / this.zoomY;
    this.fitted = false;
    this.keep();
  }

  /** Moves the image by CSS pixels. */
  pan(dx, dy) {
    this.x -= dx / this.zoom;
    this.y += (this.up * dy) / this.zoomY;
    this.fitted = false;
    this.keep();
  }

  /** Puts an image point into the middle. */
  centre(x, y) {
    this.x = x;
    this.y = y;
    this.fitted = false;
    this.keep();
  }

  /** Never lets the image leave the canvas: the middle of the canvas stays on the image. */
  keep() {
    this.x = Math.min(this.image.width, Math.max(0, this.x));
    this.y = Math.min(this.image.height, Math.max(0, this.y));
  }

  /** Image edges coordinates under a screen point. */
  toImage(sx, sy) {
    return [this.x + (sx - this.width / 2) / this.zoom, this.y - (this.up * (sy - this.height / 2)) / this.zoomY];
  }

  /** Screen point of image edges coordinates. */
  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.zoom, this.height / 2 - this.up * (y - this.y) * this.zoomY];
  }

  /** The part of the image on screen, half-open in whole pixels; null when there is none. */
  visible() {
    const [left, top] = this.toImage(0, 0);
    const [right, bottom] = this.toImage(this.width, this.height);
    const x0 = Math.max(0, Math.floor(left));
    const y0 = Math.max(0, Math.floor(Math.min(top, bottom)));
    const x1 = Math.min(this.image.width, Math.ceil(right));
    const y1 = Math.min(this.image.height, Math.ceil(Math.max(top, bottom)));
    return x1 > x0 && y1 > y0 ? { x0, y0, x1, y1 } : null;
  }
}
