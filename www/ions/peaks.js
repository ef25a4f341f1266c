/** Peaks of a spectrum that is a list of m/z in ascending order with an intensity each. */

/** Bins that belong to one peak lie at most this far apart, as a part of m/z: an empty bin ends it. */
const APART = 30e-6;

/** Bins at either side of the highest that a peak can span. */
const REACH = 12;

/** Index of the first m/z that is at least `value`. */
export function lowerBound(mz, value) {
  let from = 0;
  let to = mz.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (mz[middle] < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Index of the highest value with lo ≤ m/z ≤ hi, the first of equals; −1 when there is none above 0. */
export function highest(mz, values, lo, hi) {
  let best = -1;
  for (let i = lowerBound(mz, lo); i < mz.length && mz[i] <= hi; i += 1) {
    if (values[i] > (best < 0 ? 0 : values[best])) best = i;
  }
  return best;
}

/** From an index uphill to the nearest local maximum. */
export function climb(values, from) {
  let at = from;
  for (;;) {
    const left = at > 0 ? values[at - 1] : -Infinity;
    const right = at + 1 < values.length ? values[at + 1] : -Infinity;
    if (left <= values[at] && right <= values[at]) return at;
    at += right > left ? 1 : -1;
  }
}

/**
 * The centre of the peak around a local maximum: the mean of the m/z weighted by intensity, over the neighbours that
 * fall off on both sides down to half its height. For centroids that is the m/z itself.
 */
export function centre(mz, values, top) {
  const half = values[top] / 2;
  let [weight, sum] = [values[top], values[top] * mz[top]];
  for (const step of [-1, 1]) {
    let last = top;
    for (let i = top + step, n = 0; n < REACH && i >= 0 && i < mz.length; i += step, n += 1) {
      const falls = values[i] <= values[last] && values[i] >= half;
      if (!falls || Math.abs(mz[i] - mz[last]) > APART * mz[top]) break;
      weight += values[i];
      sum += values[i] * mz[i];
      last = i;
    }
  }
  return weight > 0 ? sum / weight : mz[top];
}

/**
 * The peak that a click at `at` means: the highest one within ± `slack`, else the nearest value above 0.
 * @returns {{index: number, mz: number, height: number} | null} null for an empty spectrum
 */
export function peakAt(mz, values, at, slack) {
  let index = highest(mz, values, at - slack, at + slack);
  if (index < 0) index = nearest(mz, values, at);
  if (index < 0) return null;
  // Within the slack the highest may lie on the flank of something outside: that one's top is not what was meant.
  const top = Math.abs(mz[climb(values, index)] - at) <= slack ? climb(values, index) : index;
  return { index: top, mz: centre(mz, values, top), height: values[top] };
}

function nearest(mz, values, at) {
  const from = lowerBound(mz, at);
  let [left, right] = [from - 1, from];
  while (left >= 0 && !(values[left] > 0)) left -= 1;
  while (right < mz.length && !(values[right] > 0)) right += 1;
  if (left < 0) return right < mz.length ? right : -1;
  if (right >= mz.length) return left;
  return at - mz[left] <= mz[right] - at ? left : right;
}

/**
 * The next peak in a direction from `at`, among the local maxima that reach `floor`; null when there is none.
 * @param {number} step −1 or 1
 */
export function neighbour(mz, values, at, step, floor) {
  const start = lowerBound(mz, at);
  for (let i = step > 0 ? start : start - 1; i >= 0 && i < mz.length; i += step) {
    const top = values[i] > 0 && values[i] >= floor && climb(values, i) === i;
    if (!top) continue;
    const found = centre(mz, values, i);
    if (step > 0 ? found > at * (1 + 1e-9) : found < at * (1 - 1e-9)) return { index: i, mz: found, height: values[i] };
  }
  return null;
}
