import { emptyRange, fitForDisplay, grow, quantise } from '../view/scale.js';
import { percentile } from '../view/limits.js';

/** The part of the pixels with signal that the hotspot clip leaves below the upper limit. */
export const HOTSPOT = 99;

/** One ion image: its values, its limits, and the scale that makes 16-bit codes of them. */
export class IonPlane {
  /** @param {object} image as the core gives it: width, height, values (NaN is no data), hits, max, requests, bytes @param {object} ion */
  constructor(image, ion) {
    Object.assign(this, { image, ion, width: image.width, height: image.height, values: image.values });
    this.range = emptyRange();
    grow(this.range, image.values);
    this.scale = { bzero: 0, bscale: 1 };
    this.signal = signalOf(image.values);
  }

  get bytes() {
    return this.values.byteLength + this.signal.byteLength;
  }

  /** Whether there is anything above or below zero. */
  get empty() {
    return this.signal.length === 0;
  }

  /** The limits by rule: from 0 (or below it, where there are negative values) to the top. @param {boolean} hot */
  limits(hot) {
    const lo = Math.min(0, this.range.min);
    if (this.empty || !Number.isFinite(lo)) return { lo: 0, hi: 1 };
    const hi = hot ? percentile(this.signal, HOTSPOT) : this.range.max;
    return hi > lo ? { lo, hi } : { lo, hi: this.range.max > lo ? this.range.max : lo + 1 };
  }

  /** The value of a pixel; NaN for no data. */
  valueAt(x, y) {
    return this.values[y * this.width + x];
  }

  /** Chooses the scale of the codes. @returns {boolean} whether it changed, so that all codes are stale */
  rescale(limits) {
    const wanted = fitForDisplay(this.range, limits);
    const changed = wanted.bzero !== this.scale.bzero || wanted.bscale !== this.scale.bscale;
    this.scale = wanted;
    return changed;
  }

  /** Where a value lies on the axis of the codes. */
  codeOf(value) {
    return (value - this.scale.bzero) / this.scale.bscale;
  }

  /** Codes of a rectangle, row `y0` first. */
  read(x0, y0, width, height, out) {
    for (let row = 0; row < height; row += 1) {
      quantise(this.scale, this.values, (y0 + row) * this.width + x0, width, out, row * width);
    }
  }
}

/** Finite values that are not 0, in ascending order. */
function signalOf(values) {
  let n = 0;
  const out = new Float32Array(values.length);
  for (let i = 0; i < values.length; i += 1) {
    const v = values[i];
    if (v - v !== 0 || v === 0) continue;
    out[n] = v;
    n += 1;
  }
  return out.slice(0, n).sort();
}

/** One to three planes as the view wants them: row 0 at the top, pixels in true proportion. */
export class Picture {
  /** @param {IonPlane[]} planes @param {[number, number] | null} pixelSize µm across and downwards */
  constructor(planes, pixelSize) {
    this.layers = planes;
    this.planes = planes.length;
    this.width = planes[0].width;
    this.height = planes[0].height;
    this.down = true;
    this.aspect = aspectOf(pixelSize);
  }

  read(x0, y0, width, height, out, plane) {
    this.layers[plane].read(x0, y0, width, height, out);
  }
}

/** Width over height of a pixel; 1 where either is not known. */
export function aspectOf(pixelSize) {
  const [x, y] = pixelSize ?? [];
  return x > 0 && y > 0 ? x / y : 1;
}
