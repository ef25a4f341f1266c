import { formatBytes } from './bytes.js';
import { emptyRange, fit, fitForDisplay, grow, holds, quantise } from '../view/scale.js';

/**
 * @typedef {{x0: number, y0: number, width: number, rows: number, step: number,
 *   values: Float32Array | Float64Array, count: Uint16Array | null}} Section
 * @typedef {{x0: number, y0: number, x1: number, y1: number}} Rect half-open, FITS pixels, y up
 */

function allocate(Numbers, width, height) {
  try {
    return new Numbers(width * height);
  } catch {
    const bytes = formatBytes(width * height * Numbers.BYTES_PER_ELEMENT);
    throw new RangeError(`The picture of ${width} × ${height} pixels takes ${bytes}, which this browser does not give a page. The command line has no such limit.`);
  }
}

/**
 * One layer of the picture: values at full precision, and the scale that makes 16-bit codes of them.
 *
 * Pixels that have not arrived are NaN. A coarse preview is kept apart, so that it is seen where nothing better has
 * arrived but never counts as data: not in a readout, not in an export.
 */
export class Plane {
  /**
   * @param {string} name @param {number} width @param {number} height @param {string | null} unit
   * @param {typeof Float32Array | typeof Float64Array | typeof Uint16Array} [Numbers] kind of array; counts have no
   *   NaN and are 0 where nothing has arrived
   * @throws {RangeError} when the browser does not give the memory
   */
  constructor(name, width, height, unit, Numbers = Float32Array) {
    Object.assign(this, { name, width, height, unit });
    this.values = allocate(Numbers, width, height).fill(NaN);
    this.range = emptyRange();
    this.scale = { bzero: 0, bscale: 1 };
    this.complete = false;
    /** @type {Rect[]} full resolution */
    this.exact = [];
    this.coarse = null;
  }

  /** Bytes held in this page for the layer. */
  get bytes() {
    return this.values.byteLength + (this.coarse?.values.byteLength ?? 0);
  }

  /** Takes a section's values. @param {Section} section @param {ArrayLike<number>} values @returns {Rect} what changed */
  put(section, values) {
    const columns = section.rows > 0 ? values.length / section.rows : 0;
    const rect = {
      x0: section.x0, y0: section.y0,
      x1: Math.min(this.width, section.x0 + columns * section.step),
      y1: Math.min(this.height, section.y0 + section.rows * section.step),
    };
    grow(this.range, values);
    if (section.step > 1) this.putCoarse(section, values, columns);
    else this.putExact(rect, values, columns);
    return rect;
  }

  putExact(rect, values, columns) {
    for (let row = 0; row < rect.y1 - rect.y0; row += 1) {
      const part = values.subarray(row * columns, (row + 1) * columns);
      this.values.set(part, (rect.y0 + row) * this.width + rect.x0);
    }
    this.exact.push(rect);
  }

  putCoarse(section, values, columns) {
    const { step } = section;
    const across = Math.ceil(this.width / step);
    const down = Math.ceil(this.height / step);
    this.coarse ??= { step, across, down, values: new Float32Array(across * down).fill(NaN) };
    const [column, line] = [Math.floor(section.x0 / step), Math.floor(section.y0 / step)];
    for (let row = 0; row < section.rows && line + row < down; row += 1) {
      const part = values.subarray(row * columns, (row + 1) * columns).subarray(0, across - column);
      this.coarse.values.set(part, (line + row) * across + column);
    }
  }

  /** Says that all pixels have arrived: the preview goes, and the scale may be exact. */
  finish() {
    this.complete = true;
    this.coarse = null;
  }

  /** Whether a pixel has arrived at full resolution. */
  arrived(x, y) {
    return this.complete || this.exact.some((r) => x >= r.x0 && x < r.x1 && y >= r.y0 && y < r.y1);
  }

  /** The value of a pixel; NaN for no data; undefined when it has not arrived. */
  valueAt(x, y) {
    return this.arrived(x, y) ? this.values[y * this.width + x] : undefined;
  }

  /**
   * Chooses the scale to draw with.
   * @param {{lo: number, hi: number}} limits
   * @returns {boolean} whether it changed, so that all codes are stale
   */
  rescale(limits) {
    const room = this.complete ? 0 : 0.25;
    const wanted = fitForDisplay(this.range, limits, room);
    if (!this.complete && this.keeps(wanted, limits)) return false;
    const changed = wanted.bzero !== this.scale.bzero || wanted.bscale !== this.scale.bscale;
    this.scale = wanted;
    return changed;
  }

  /** While sections arrive: whether the present scale still does, being nearly as fine as the wanted one. */
  keeps(wanted, limits) {
    const { scale, range } = this;
    if (scale.bscale > 2 * wanted.bscale || scale.bscale < wanted.bscale / 2) return false;
    const shown = { min: Math.max(range.min, limits.lo), max: Math.min(range.max, limits.hi) };
    return holds(scale, holds(wanted, range) ? range : shown);
  }

  /** Of what all values are multiples: 1, 0.5, or 0 for nothing. */
  get step() {
    const { whole, half, max } = this.range;
    return max === -Infinity ? 0 : whole ? 1 : half ? 0.5 : 0;
  }

  /** The scale of an export: the whole range. */
  exportScale() {
    return fit(this.range);
  }

  /** The value of a code, as a fraction of a step: where a limit lies on the code axis. */
  codeOf(value) {
    return (value - this.scale.bzero) / this.scale.bscale;
  }

  /** Codes of a rectangle, for the view. */
  read(x0, y0, width, height, out) {
    if (this.coarse) this.readCoarse(x0, y0, width, height, out);
    const parts = this.complete ? [{ x0, y0, x1: x0 + width, y1: y0 + height }] : this.exact;
    if (!this.complete && !this.coarse) out.fill(0);
    for (const rect of parts) {
      const left = Math.max(x0, rect.x0);
      const length = Math.min(x0 + width, rect.x1) - left;
      if (length <= 0) continue;
      for (let y = Math.max(y0, rect.y0); y < Math.min(y0 + height, rect.y1); y += 1) {
        quantise(this.scale, this.values, y * this.width + left, length, out, (y - y0) * width + left - x0);
      }
    }
  }

  readCoarse(x0, y0, width, height, out) {
    const { step, across, values } = this.coarse;
    const codes = new Uint16Array(values.length);
    quantise(this.scale, values, 0, values.length, codes, 0);
    for (let y = y0; y < y0 + height; y += 1) {
      const line = Math.floor(y / step) * across;
      for (let x = x0; x < x0 + width; x += 1) out[(y - y0) * width + x - x0] = codes[line + Math.floor(x / step)];
    }
  }

  /** What a sample for limits is taken from: all values, or the preview as long as it shows more. */
  get sampled() {
    const area = this.exact.reduce((sum, r) => sum + (r.x1 - r.x0) * (r.y1 - r.y0), 0);
    return this.coarse && area < (this.width * this.height) / 4 ? this.coarse.values : this.values;
  }
}
