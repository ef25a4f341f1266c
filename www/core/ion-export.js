/** Ion images as files, made band by band so that no more than a band is ever in the core. */
import { checked, release } from './errors.js';
import { core } from './ions-instance.js';

/** Values of one band. */
const BAND = 1 << 18;

/**
 * An ion image as a 16-bit greyscale PNG: value = BZERO + BSCALE·code, code 0 where no spectrum was
 * acquired; the scale stands in text chunks. With `alpha` there is a second channel, 0 there and 65,535
 * elsewhere.
 *
 * With `shares` it is an image as METASPACE stores it and `sectile images` writes it: grey and alpha, the code of a value
 * is its share of the range, cut, so that value = BZERO + BSCALE·code for all 65,536 codes, and alpha alone tells where
 * nothing was measured.
 *
 * @param {{mz?: number, width: number, height: number, values: Float32Array}} image
 * @param {{alpha?: boolean, shares?: boolean}} [options]
 * @returns {Blob}
 */
export function ionPng({ width, height, values }, { alpha = false, shares = false } = {}) {
  const writer = checked(() => (shares ? core().PngWriter.of_shares(width, height, ...ends(values)) : new (core().PngWriter)(width, height, ...scaleOf(values), undefined, alpha)));
  const take = shares ? (band) => writer.values(band) : (band) => writer.rows(Float64Array.from(band));
  const parts = [];
  const rows = Math.max(1, Math.floor(BAND / width));
  try {
    for (let y = 0; y < height; y += rows) parts.push(checked(() => take(values.subarray(y * width, (y + rows) * width))));
    parts.push(checked(() => writer.finish()));
  } finally {
    release(writer);
  }
  return new Blob(parts, { type: 'image/png' });
}

/** The smallest and the greatest value, where pixels without a spectrum are 0. */
function ends(values) {
  let [least, greatest] = values.length > 0 ? [Infinity, -Infinity] : [0, 0];
  for (const measured of values) {
    const value = Number.isNaN(measured) ? 0 : measured;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return [least, greatest];
}

/** The scale that holds all values, exactly where they are integers that fit. */
function scaleOf(values) {
  const seen = new (core().Seen)();
  try {
    for (let at = 0; at < values.length; at += BAND) seen.see(Float64Array.from(values.subarray(at, at + BAND)));
    return seen.scale();
  } finally {
    release(seen);
  }
}

/**
 * An ion image as a table of its acquired pixels, in rows from the top: `x`, `y` and a column that is named after the
 * m/z, as the command line writes it.
 * @param {{mz?: number, width: number, height: number, values: Float32Array, origin?: [number, number]}} image `origin` is the
 *   position of the first pixel in the file (`info.origin`), for positions as the file counts them; 0, 0 by default
 * @returns {Blob}
 */
export function ionCsv({ mz, width, height, values, origin: [x0, y0] = [0, 0] }) {
  const parts = [`x,y,${mz === undefined ? 'intensity' : `mz_${mz}`}\n`];
  for (let y = 0; y < height; y += 1) {
    let rows = '';
    for (let x = 0; x < width; x += 1) {
      const value = values[y * width + x];
      if (!Number.isNaN(value)) rows += `${x0 + x},${y0 + y},${shortest(value)}\n`;
    }
    parts.push(rows);
  }
  return new Blob(parts, { type: 'text/csv' });
}

/** The fewest digits that give back the same f32. */
function shortest(value) {
  for (let digits = 6; digits < 9; digits += 1) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}
