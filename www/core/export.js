/** Results as files, made band by band so that no more than a band is ever in the core. */
import { checked, release } from './errors.js';
import { core } from './stack-instance.js';

/** Values of one band. */
const BAND = 1 << 18;

/**
 * A plane as a 16-bit greyscale PNG. Code 0 means no data; otherwise value = bzero + bscale·code;
 * the scale and the unit stand in text chunks. The first row of the plane is the lowest of the
 * picture, so rows are written from the last to the first.
 *
 * @param {{width: number, height: number, values: Float32Array | Float64Array,
 *   scale: {bzero: number, bscale: number}, unit?: string | null}} plane
 * @returns {Blob}
 */
export function pngFile({ width, height, values, scale, unit }) {
  const writer = checked(() => new (core().PngWriter)(width, height, scale.bzero, scale.bscale, unit ?? undefined, false));
  const parts = [];
  const rows = Math.max(1, Math.floor(BAND / width));
  try {
    for (let top = height; top > 0; top -= rows) {
      const bottom = Math.max(0, top - rows);
      const band = new Float64Array((top - bottom) * width);
      for (let y = top - 1, at = 0; y >= bottom; y -= 1, at += width) {
        band.set(values.subarray(y * width, (y + 1) * width), at);
      }
      parts.push(checked(() => writer.rows(band)));
    }
    parts.push(checked(() => writer.finish()));
  } finally {
    release(writer);
  }
  return new Blob(parts, { type: 'image/png' });
}

/**
 * A result as a FITS file: the median in the primary HDU with the first exposure's world
 * coordinates, the number of contributing exposures in the extension COUNT.
 *
 * @param {import('./stack.js').Stack} stack
 * @param {{width: number, height: number, values: Float32Array | Float64Array,
 *   count: Uint16Array | null}} plane
 * @returns {Blob}
 */
export function fitsFile(stack, { width, height, values, count }) {
  const writer = checked(() => stack.inner.fits(width, height, values instanceof Float64Array));
  const parts = [];
  try {
    parts.push(checked(() => writer.header()));
    for (let at = 0; at < values.length; at += BAND) {
      const band = values.subarray(at, at + BAND);
      parts.push(checked(() => (band instanceof Float64Array ? core().fits_wide_values(band) : core().fits_values(band))));
    }
    parts.push(checked(() => core().fits_padding(values.byteLength)));
    if (count) {
      parts.push(checked(() => writer.count_header()));
      for (let at = 0; at < count.length; at += BAND) {
        parts.push(checked(() => core().fits_count(count.subarray(at, at + BAND))));
      }
      parts.push(checked(() => core().fits_padding(count.byteLength)));
    }
  } finally {
    release(writer);
  }
  return new Blob(parts, { type: 'application/fits' });
}

/**
 * The limits z1, z2 of the zscale algorithm (contrast 0.25, 600 samples), for a display.
 * @param {Float32Array} samples
 * @returns {[number, number]}
 */
export function zscale(samples) {
  const [low, high] = checked(() => core().zscale(samples));
  return [low, high];
}
