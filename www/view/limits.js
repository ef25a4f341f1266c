/** Which values become the ends of the colormap, worked out from a sample of the image. */

/** Samples taken of an image: enough for 0.1 % percentiles, few enough to sort while dragging. */
export const SAMPLES = 100_000;

/**
 * Finite values spread over an array, at most `most`. Steps are jittered by the golden ratio, so that a step that
 * divides the row length does not take the same few columns again and again.
 * @param {ArrayLike<number>} values @param {number} [most]
 * @returns {Float32Array}
 */
export function sample(values, most = SAMPLES) {
  const n = values.length;
  const wanted = Math.min(n, most);
  const out = new Float32Array(wanted);
  let kept = 0;
  for (let k = 0; k < wanted; k += 1) {
    const jitter = wanted === n ? 0 : (k * 0.618033988749895) % 1;
    const v = values[Math.floor(((k + jitter) * n) / wanted)];
    if (v - v === 0) {
      out[kept] = v;
      kept += 1;
    }
  }
  return out.slice(0, kept);
}

/** The p-th percentile (0…100) of sorted numbers, linear between neighbours; NaN for none. */
export function percentile(sorted, p) {
  if (sorted.length === 0) return NaN;
  const at = (Math.min(100, Math.max(0, p)) / 100) * (sorted.length - 1);
  const below = Math.floor(at);
  const above = Math.min(sorted.length - 1, below + 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}

/** The central `p` per cent of sorted numbers: 99.5 gives the percentiles 0.25 and 99.75. */
export function central(sorted, p) {
  const tail = (100 - p) / 2;
  return { lo: percentile(sorted, tail), hi: percentile(sorted, 100 - tail) };
}

/** Limits that can be drawn: finite, and apart even for a constant image. */
export function apart(limits) {
  let { lo, hi } = limits;
  if (!Number.isFinite(lo) || !Number.isFinite(hi)) return { lo: 0, hi: 1 };
  if (lo > hi) [lo, hi] = [hi, lo];
  if (lo === hi) {
    const half = Math.max(Math.abs(lo) * 1e-6, 0.5);
    return { lo: lo - half, hi: hi + half };
  }
  return { lo, hi };
}

/** Counts of numbers in equal bins between lo and hi; what lies outside is not counted. */
export function histogram(numbers, lo, hi, bins) {
  const counts = new Uint32Array(bins);
  const factor = bins / (hi - lo);
  for (let i = 0; i < numbers.length; i += 1) {
    const bin = Math.floor((numbers[i] - lo) * factor);
    if (bin >= 0 && bin < bins) counts[bin] += 1;
    else if (numbers[i] === hi) counts[bins - 1] += 1;
  }
  return counts;
}

/** Round numbers between lo and hi, about `wanted` of them. */
export function ticks(lo, hi, wanted) {
  const raw = (hi - lo) / Math.max(1, wanted);
  if (!(raw > 0) || !Number.isFinite(raw)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) ?? raw;
  const out = [];
  // + 0 turns −0 into 0.
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9 && out.length < 100; k += 1) out.push(k * step + 0);
  return out;
}
