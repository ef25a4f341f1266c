/** Rows of results: what a filter lets through, and in which order. */

/**
 * @typedef {import('../annotator.js').Peak} Peak
 * @typedef {import('../annotator.js').Row} Row
 */

/** Molecules that the list calls anything. @param {Row} row */
export function named({ molecules }) {
  return molecules.filter(({ name, id }) => name || id);
}

/** The name that stands in the table: the first. @param {Row} row */
export function nameOf(row) {
  const [first] = named(row);
  return first ? first.name || first.id : '';
}

const order = new Intl.Collator('en', { numeric: true });

/** How two rows compare by a column, ascending. */
const COMPARE = {
  formula: (a, b) => order.compare(a.formula, b.formula),
  adduct: (a, b) => order.compare(a.adduct, b.adduct),
  name: (a, b) => order.compare(nameOf(a), nameOf(b)),
};

/** Columns of which more is better: the first press sorts them downwards. */
export const DOWNWARDS = new Set(['msm', 'chaos', 'spatial', 'spectral']);

/** A text without case in which the filter looks. @type {WeakMap<Row, string>} */
const texts = new WeakMap();

function textOf(row) {
  let text = texts.get(row);
  if (text === undefined) {
    text = [row.formula, ...row.molecules.flatMap(({ name, id }) => [name, id ?? ''])].join('\n').toLowerCase();
    texts.set(row, text);
  }
  return text;
}

/**
 * The rows that pass, in their order.
 * @param {Row[]} rows
 * @param {{fdr: number, adduct: string, text: string}} filter `fdr` 0 to 1; "" for any adduct; every word of `text` has to occur
 */
export function filtered(rows, { fdr, adduct, text }) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => (
    // Levels are written with few digits; a rounding does not push a row out of its level.
    row.fdr <= fdr + 1e-9 && (adduct === '' || row.adduct === adduct) && (words.length === 0 || words.every((word) => textOf(row).includes(word)))
  ));
}

/**
 * Sorted by a column; equal ones, and those without a value at the end, keep their order.
 * @param {Row[]} rows @param {string} by a column, "" for the order of the results @param {boolean} down
 */
export function sorted(rows, by, down) {
  if (by === '') return rows;
  const compare = COMPARE[by];
  const sign = down ? -1 : 1;
  if (compare) return rows.toSorted((a, b) => sign * compare(a, b));
  const last = (value) => (value === value ? value : down ? -Infinity : Infinity);
  return rows.toSorted((a, b) => sign * (last(a[by]) - last(b[by])) || 0);
}

/** Adducts that occur, the most frequent first. @param {Row[]} rows */
export function adductsOf(rows) {
  const counts = new Map();
  for (const { adduct } of rows) counts.set(adduct, (counts.get(adduct) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([adduct]) => adduct);
}

/** The level of a chip: 5, 10, 20, 50, or 100 beyond. */
export function levelOf(fdr) {
  return [5, 10, 20, 50].find((level) => fdr <= level / 100 + 1e-9) ?? 100;
}
