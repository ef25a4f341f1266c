/** Limits from what a server says of all values of a layer: exact where it says so, else bounded by what it says. */

/**
 * A checked copy of a statistics document, as far as limits need it.
 * @param {any} said
 * @returns {{min: number, max: number, zscale: {lo: number, hi: number} | null, anchors: [number, number][], bins: {lo: number, hi: number, counts: number[]} | null} | null}
 *   null where there are no values; `anchors` are pairs of per cent and value, rising
 */
export function readStatistics(said) {
  const { min, max, zscale, percentiles, histogram } = said ?? {};
  if (!finite(min, max) || min > max) return null;
  const known = Object.entries(percentiles ?? {}).map(([percent, value]) => [Number(percent), value]);
  const anchors = [[0, min], ...known.filter(([percent, value]) => percent > 0 && percent < 100 && finite(value)), [100, max]];
  anchors.sort((a, b) => a[0] - b[0]);
  const { bins: counts, low, high } = histogram ?? {};
  return {
    min,
    max,
    zscale: finite(zscale?.low, zscale?.high) ? { lo: zscale.low, hi: zscale.high } : null,
    anchors,
    bins: Array.isArray(counts) && counts.every((count) => count >= 0) && finite(low, high) && high > low ? { lo: low, hi: high, counts } : null,
  };
}

const finite = (...numbers) => numbers.every((number) => typeof number === 'number' && Number.isFinite(number));

/** The p-th percentile: exact where it was told, between those as the histogram has it, which is never beyond them. */
export function quantile(statistics, p) {
  const { anchors } = statistics;
  const above = Math.max(1, anchors.findIndex(([percent]) => percent >= p));
  const [[p0, low], [p1, high]] = [anchors[above - 1], anchors[above]];
  if (p === p1) return high;
  if (p <= p0) return low;
  const between = statistics.bins ? binned(statistics.bins, p) : low + ((p - p0) / (p1 - p0)) * (high - low);
  return Math.min(high, Math.max(low, between));
}

function binned({ lo, hi, counts }, p) {
  const wanted = (p / 100) * counts.reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (let bin = 0; bin < counts.length; bin += 1) {
    if (below + counts[bin] >= wanted && counts[bin] > 0) {
      return lo + ((bin + (wanted - below) / counts[bin]) / counts.length) * (hi - lo);
    }
    below += counts[bin];
  }
  return hi;
}

/** The limits by a rule of the page; null where these statistics do not tell. @param {string} rule */
export function limitsBy(statistics, rule) {
  if (rule === 'minmax') return { lo: statistics.min, hi: statistics.max };
  if (rule === 'zscale') return statistics.zscale;
  const tail = (100 - Number(rule.slice(1))) / 2;
  return tail >= 0 ? { lo: quantile(statistics, tail), hi: quantile(statistics, 100 - tail) } : null;
}
