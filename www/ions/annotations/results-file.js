/** Results of an earlier run, as annotations.json holds them. */

/** A file of more bytes is not read: it would be parsed in one piece. */
const MOST = 512 * 2 ** 20;

/**
 * @param {File} file
 * @returns {Promise<{rows: import('./rows.js').Row[], warnings: string[], charge: number, wish: {ppm: number, scoring: string, analyzer: string}}>}
 * @throws {TypeError} that names the file and says what is wrong with it
 */
export async function readResults(file) {
  const { name } = file;
  if (file.size > MOST) throw new TypeError(`${name} has ${Math.round(file.size / 2 ** 20)} MiB; results of more than ${MOST / 2 ** 20} MiB are not read here.`);
  let content;
  try {
    content = JSON.parse(await file.text());
  } catch (error) {
    throw new TypeError(`${name} is not JSON (${error.message}). Open the annotations.json of an earlier run.`);
  }
  return resultsOf(content, name);
}

/** @param {any} content parsed JSON @param {string} name of the file */
export function resultsOf(content, name) {
  const rows = content?.rows;
  if (!Array.isArray(rows)) throw new TypeError(`${name} holds no annotations: it has no list “rows”. Open the annotations.json of an earlier run.`);
  const options = content.options ?? {};
  return {
    rows: rows.map((row, i) => rowOf(row, `${name}: annotation ${i + 1}`)),
    warnings: list(content.warnings).map(String),
    charge: options.charge === -1 ? -1 : 1,
    wish: { ppm: options.ppm > 0 ? options.ppm : 3, scoring: String(options.scoring ?? 'metaspace-v3'), analyzer: String(options.analyzer ?? 'orbitrap') },
  };
}

function rowOf(row, where) {
  const { formula, adduct } = row ?? {};
  if (typeof formula !== 'string' || typeof adduct !== 'string') throw new TypeError(`${where}: it has no formula or no adduct.`);
  const peaks = list(row.peaks).map((peak) => ({ mz: number(peak.mz), theory: number(peak.theory), total: number(peak.total), min: number(peak.min), max: number(peak.max) }));
  if (peaks.length === 0 || peaks.some(({ mz }) => !(mz > 0))) throw new TypeError(`${where} (${formula}${adduct}): its peaks have no m/z.`);
  const scores = Object.fromEntries(['msm', 'fdr', 'chaos', 'spatial', 'spectral'].map((key) => [key, number(row[key])]));
  if (!(scores.fdr >= 0 && scores.fdr <= 1)) throw new TypeError(`${where} (${formula}${adduct}): its FDR is not a number from 0 to 1.`);
  return {
    formula, adduct, ion: String(row.ion ?? ''), mz: peaks[0].mz, ...scores, mzErrAbs: row.mzErrAbs ?? null, mzErrRel: row.mzErrRel ?? null,
    peaks, overlap: row.overlap === true, molecules: list(row.molecules).map(({ id, name }) => ({ id: id ? String(id) : '', name: String(name ?? '') })),
  };
}

function list(value) {
  return Array.isArray(value) ? value : [];
}

function number(value) {
  return typeof value === 'number' ? value : NaN;
}
