/** Results as a table of text, with METASPACE's columns. */

const COLUMNS = [
  ['formula', (row) => row.formula], ['adduct', (row) => row.adduct], ['ion', (row) => row.ion], ['mz', (row) => row.mz],
  ['chaos', (row) => row.chaos], ['spatial', (row) => row.spatial], ['spectral', (row) => row.spectral], ['msm', (row) => row.msm], ['fdr', (row) => row.fdr],
  ['mz_err_abs', (row) => row.mzErrAbs], ['mz_err_rel', (row) => row.mzErrRel], ['overlap', (row) => (row.overlap ? 'true' : 'false')],
  ['theor_peak_intensity', (row) => row.peaks.map(({ theory }) => theory).join(' ')],
  ['total_iso_ints', (row) => row.peaks.map(({ total }) => total).join(' ')],
  ['molecule_names', (row) => row.molecules.map(({ name }) => name).join('; ')], ['molecule_ids', (row) => row.molecules.map(({ id }) => id ?? '').join('; ')],
];

/** Rows of one piece of the file. */
const PIECE = 2000;

/** A field as RFC 4180 has it. */
function field(value) {
  const text = value === null || value !== value ? '' : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {import('./rows.js').Row[]} rows @returns {Blob} */
export function csvOf(rows) {
  const pieces = [`${COLUMNS.map(([name]) => name).join(',')}\n`];
  for (let from = 0; from < rows.length; from += PIECE) {
    pieces.push(rows.slice(from, from + PIECE).map((row) => `${COLUMNS.map(([, value]) => field(value(row))).join(',')}\n`).join(''));
  }
  return new Blob(pieces, { type: 'text/csv' });
}
