/** Results as a table of text, with the columns of the command line's results.csv. */

/** What stands between several molecules of a row. */
const BETWEEN = '; ';

/** Isotope peaks that a list has room for. */
const PEAKS = 4;

const list = (values) => `[${Array.from({ length: PEAKS }, (_, i) => decimal(values[i] ?? 0) || 'null').join(',')}]`;

const COLUMNS = [
  ['formula', (row) => row.formula], ['adduct', (row) => parts(row).adduct], ['mz', (row) => row.mz],
  ['chaos', (row) => row.chaos], ['spatial', (row) => row.spatial], ['spectral', (row) => row.spectral], ['msm', (row) => row.msm], ['fdr', (row) => row.fdr],
  ['neutral_loss', (row) => parts(row).loss], ['ion_formula', (row) => row.ion],
  ['mz_err_abs', (row) => row.mzErrAbs], ['mz_err_rel', (row) => row.mzErrRel], ['overlap', (row) => (row.overlap ? 'true' : 'false')],
  ...[['iso_mz', 'mz'], ['iso_theory', 'theory'], ['total_iso_ints', 'total'], ['min_iso_ints', 'min'], ['max_iso_ints', 'max']].map(([name, key]) => [name, (row) => list(row.peaks.map((peak) => peak[key]))]),
  ['molecule_names', (row) => row.molecules.map(({ name }) => name).filter(Boolean).join(BETWEEN)],
  ['molecule_ids', (row) => row.molecules.map(({ id }) => id).filter(Boolean).join(BETWEEN)],
];

/** Rows of one piece of the file. */
const PIECE = 2000;

/** The last signed part is the adduct, what stands before it the neutral loss. */
function parts({ adduct }) {
  const at = adduct.startsWith('[') ? 0 : Math.max(adduct.lastIndexOf('+'), adduct.lastIndexOf('-'), 0);
  return { loss: adduct.slice(0, at), adduct: adduct.slice(at) };
}

/** The shortest decimal that gives back the same number, written as the core writes it; "" for none. */
function decimal(value) {
  if (!Number.isFinite(value)) return '';
  const size = Math.abs(value);
  return size === 0 || (size >= 1e-4 && size < 1e15) ? String(value) : value.toExponential().replace('e+', 'e');
}

/** A field as RFC 4180 has it. */
function field(value) {
  const text = typeof value === 'string' ? value : decimal(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows of a file that was opened, for which no core has written a table. @param {import('./rows.js').Row[]} rows @returns {Blob} */
export function csvOf(rows) {
  const pieces = [`${COLUMNS.map(([name]) => name).join(',')}\n`];
  for (let from = 0; from < rows.length; from += PIECE) {
    pieces.push(rows.slice(from, from + PIECE).map((row) => `${COLUMNS.map(([, value]) => field(value(row))).join(',')}\n`).join(''));
  }
  return new Blob(pieces, { type: 'text/csv' });
}

/**
 * The header and some lines of a table, as they are.
 * @param {Blob} table @param {number[]} indices of its records, the header not counted, in the order wanted
 * @returns {Promise<Blob>}
 */
export async function linesOf(table, indices) {
  const [head, ...lines] = records(await table.text());
  return new Blob([head, ...indices.map((i) => lines[i] ?? '')], { type: table.type });
}

/** A text cut into records, each with its line end: one inside quotes does not end a record. */
function records(text) {
  const found = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 34) quoted = !quoted;
    else if (code === 10 && !quoted) {
      found.push(text.slice(from, at + 1));
      from = at + 1;
    }
  }
  if (from < text.length) found.push(`${text.slice(from)}\n`);
  return found;
}
