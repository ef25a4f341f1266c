/** Results of an earlier run, as annotations.json holds them. */
import { list, number, text } from './json.js';

/** A file of more bytes is not read: it would be parsed in one piece. */
const MOST = 512 * 2 ** 20;

/** The version of the format that is known here. */
const VERSION = 1;

/**
 * @typedef {object} Results
 * @property {import('./rows.js').Row[]} rows
 * @property {string[]} warnings
 * @property {1 | -1} charge of the ions
 * @property {{ppm: number, scoring: string, analyzer: string}} settings by which the windows of the images are known
 * @property {{source: string, width: number, height: number}} of which dataset
 * @property {string} list of molecules, by its name
 */

/**
 * @param {File} file
 * @returns {Promise<Results>}
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

/** @param {any} content parsed JSON @param {string} name of the file @returns {Results} */
export function resultsOf(content, name) {
  if (!Array.isArray(content?.rows)) throw new TypeError(`${name} holds no annotations: it has no list “rows”. Open the annotations.json of an earlier run.`);
  if (content.version > VERSION) throw new TypeError(`${name} is of version ${content.version} of the format; this page knows version ${VERSION}. Use a newer Sectile.`);
  const { options = {}, store = {} } = content;
  return {
    rows: content.rows.map((row, i) => rowOf(row, `${name}: annotation ${i + 1}`)),
    warnings: list(content.warnings).map(text),
    charge: options.charge === -1 ? -1 : 1,
    settings: { ppm: options.ppm > 0 ? options.ppm : 3, scoring: text(options.scoring), analyzer: text(options.analyzer) },
    of: { source: text(store.source), width: number(store.width), height: number(store.height) },
    list: text(content.list?.file),
  };
}

function rowOf(row, where) {
  const { formula, modifier } = row ?? {};
  if (typeof formula !== 'string' || typeof modifier !== 'string') throw new TypeError(`${where}: it has no formula or no modifier.`);
  const whose = `${where} (${formula}${modifier})`;
  const peaks = list(row.peaks).map((peak) => Object.fromEntries(['mz', 'theory', 'total', 'min', 'max'].map((key) => [key, number(peak?.[key])])));
  if (peaks.length === 0 || peaks.some(({ mz }) => !(mz > 0))) throw new TypeError(`${whose}: its peaks have no m/z.`);
  const scores = Object.fromEntries(['msm', 'fdr', 'chaos', 'spatial', 'spectral'].map((key) => [key, number(row[key])]));
  if (!(scores.fdr >= 0 && scores.fdr <= 1)) throw new TypeError(`${whose}: its FDR is not a number from 0 to 1.`);
  const error = (value) => (typeof value === 'number' ? value : null);
  return {
    formula, adduct: modifier, ion: text(row.ion), mz: peaks[0].mz, ...scores, mzErrAbs: error(row.mz_err_abs), mzErrRel: error(row.mz_err_rel),
    peaks, overlap: row.overlap === true, molecules: list(row.molecules).map((molecule) => ({ id: text(molecule?.id), name: text(molecule?.name) })),
  };
}
