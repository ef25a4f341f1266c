/**
 * 16-bit codes of values: value = bzero + bscale · code, code 0 is no data, 1…65535 are data.
 * The same rule as the PNG tiles carry, so what is on screen is what an export holds.
 * @typedef {{bzero: number, bscale: number}} Scale
 * @typedef {{min: number, max: number, whole: boolean, half: boolean}} Range finite extremes; whole / half: every
 *   value is a multiple of 1 / of 0.5
 */

const STEPS = 65534;

/** An empty range, to be grown with {@link grow}. @returns {Range} */
export function emptyRange() {
  return { min: Infinity, max: -Infinity, whole: true, half: true };
}

/**
 * Grows a range by the finite values of an array.
 * @param {Range} range changed in place
 * @param {ArrayLike<number>} values
 * @returns {boolean} whether it changed
 */
export function grow(range, values) {
  let { min, max, whole, half } = range;
  for (let i = 0; i < values.length; i += 1) {
    const v = values[i];
    if (v - v !== 0) continue; // NaN or infinite
    if (v < min) min = v;
    if (v > max) max = v;
    if (whole && v !== Math.round(v)) whole = false;
    if (half && 2 * v !== Math.round(2 * v)) half = false;
  }
  const changed = min !== range.min || max !== range.max || whole !== range.whole || half !== range.half;
  Object.assign(range, { min, max, whole, half });
  return changed;
}

/**
 * The scale that spans a range. Whole and half numbers get steps of exactly 1 and 0.5 when 65,534 steps reach.
 * @param {Range} range
 * @param {number} [room] part of the span left free at both ends, for a range that is still growing
 * @returns {Scale}
 */
export function fit(range, room = 0) {
  if (!(range.max >= range.min)) return { bzero: 0, bscale: 1 };
  const span = range.max - range.min;
  if (range.whole && span <= STEPS) return { bzero: centred(range, 1, room), bscale: 1 };
  if (range.half && span / 0.5 <= STEPS) return { bzero: centred(range, 0.5, room), bscale: 0.5 };
  if (span === 0) return { bzero: range.min - 1, bscale: 1 };
  const low = range.min - room * span;
  // Halves first: the span of two huge numbers may not be finite.
  const bscale = 2 * ((range.max / 2 + (room * span) / 2 - low / 2) / STEPS);
  return { bzero: low - bscale, bscale };
}

function centred(range, step, room) {
  if (room === 0) return range.min - step;
  const free = Math.floor((STEPS - (range.max - range.min) / step) / 2);
  return range.min - step * (1 + Math.max(0, free));
}

/**
 * The scale to draw with. The whole range when that leaves at least 1,024 steps between the limits; otherwise a few
 * hot pixels would coarsen the sky, and the scale spans the surroundings of the limits only (what lies beyond is
 * shown saturated either way).
 * @param {Range} range @param {{lo: number, hi: number}} limits @param {number} [room]
 * @returns {Scale}
 */
export function fitForDisplay(range, limits, room = 0) {
  const full = fit(range, room);
  const span = limits.hi - limits.lo;
  if (!(span > 0) || full.bscale === 1 || full.bscale === 0.5 || span / full.bscale >= 1024) return full;
  const window = {
    min: Math.max(range.min, limits.lo - 2 * span),
    max: Math.min(range.max, limits.hi + 4 * span),
    whole: false,
    half: false,
  };
  return window.max > window.min ? fit(window) : full;
}

/** Whether every finite value of the range has a code of its own step, without being clamped. */
export function holds(scale, range) {
  return (range.min - scale.bzero) / scale.bscale >= 0.5 && (range.max - scale.bzero) / scale.bscale < 65535.5;
}

/** The code of one value: NaN → 0, −∞ → 1, +∞ → 65535, clamped to 1…65535, to the nearest. */
export function codeOf(scale, value) {
  if (value !== value) return 0;
  const code = Math.round((value - scale.bzero) / scale.bscale);
  return code < 1 ? 1 : code > 65535 ? 65535 : code;
}

/** Codes of `length` values from `from` on, written to `out` at `to`. */
export function quantise(scale, values, from, length, out, to) {
  const { bzero, bscale } = scale;
  for (let i = 0; i < length; i += 1) {
    const v = values[from + i];
    if (v !== v) {
      out[to + i] = 0;
      continue;
    }
    const code = Math.round((v - bzero) / bscale);
    out[to + i] = code < 1 ? 1 : code > 65535 ? 65535 : code;
  }
}
