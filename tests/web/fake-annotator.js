/**
 * A stand-in for ions/annotator.js with the same protocol and no core behind it.
 *
 * What it does is said in the query of the store's address: rows (how many), adelay (ms of a step), asteps, afail
 * (worker, store), zero (nothing is found). A list that is a file is read a little: a column named formula, and rows
 * whose formula is not one are left out; a file without that column is refused. `globalThis.fake` records calls.
 */
import { pause } from '../pause.js';
import { CoreError } from './client.js';

const record = globalThis.fake;

/** m/z of the stand-in for ions, with a formula that could be there, its adduct and a name. */
const FOUND = [
  [885.5493, 'C47H83O13P', '-H', 'PI(38:4)'], [888.6239, 'C48H91NO11S', '-H', 'SHexCer(42:1)'], [281.2485, 'C18H34O2', '-H', 'Oleic acid'], [834.5291, 'C44H78NO10P', '+Cl', 'PS(38:4)'],
  [283.2642, 'C18H36O2', '-H', 'Stearic acid'], [747.5182, 'C40H77O10P', '-H', 'PG(34:1)'], [790.5392, 'C45H78NO8P', '-H', 'PE(40:6)'], [303.233, 'C20H32O2', '-H', 'Arachidonic acid'],
  [773.5338, 'C42H79O10P', '-H', 'PG(36:2)'], [327.233, 'C22H32O2', '-H', 'Docosahexaenoic acid'], [906.6344, 'C48H93NO12S', '-H', 'SHexCer(42:1;OH)'], [857.5186, 'C45H79O13P', '-H', 'PI(36:4)'],
  [742.5392, 'C41H78NO8P', '-H', 'PE(36:2)'], [717.5076, 'C39H75O9P', '+Cl', 'PA(36:1)'], [726.5443, 'C41H78NO7P', '-H', 'PE(P-36:2)'], [766.5392, 'C43H78NO8P', '-H', 'PE(38:4)'],
  [701.513, 'C39H75O8P', '-H', 'PA(36:1)'], [480.3096, 'C23H48NO7P', '-H', 'LPE(18:0)'], [437.2675, 'C21H43O7P', '-H', 'LPA(18:0)'], [863.5655, 'C45H85O13P', '-H', 'PI(36:1)'],
  [890.6395, 'C48H93NO11S', '-H', 'SHexCer(42:0)'], [810.5291, 'C44H80NO10P', '-H', 'PS(38:3)'], [599.3202, 'C27H53O12P', '-H', 'LPI(18:0)'], [391.2566, 'C24H38O4', '-H', 'Oxocholanoic acid'],
  [572.4814, 'C34H67NO3', '+Cl', 'Cer(34:1)'], [514.2844, 'C26H45NO7S', '-H', 'Taurocholic acid'], [909.5342, 'C49H83O13P', '-H', 'PI(40:6)'],
];

/** Formulas and molecules of the list that comes with the page, as far as this knows. */
const BUILT_IN = { formulas: 412, molecules: 655 };

export class Annotator {
  constructor({ memory, workers }) {
    Object.assign(this, { memory, workers, ledger: null, run: null });
    record.calls.push(['annotator', memory, workers]);
  }

  get unfinished() {
    return this.ledger;
  }

  async check(options, { signal } = {}) {
    record.calls.push(['check', options.name, options.adducts, options.decoys]);
    record.checking = (record.checking ?? 0) + 1;
    record.mostChecking = Math.max(record.mostChecking ?? 0, record.checking);
    try {
      await pause(record.checkDelay ?? 0, signal);
      return await this.describe(options);
    } finally {
      record.checking -= 1;
    }
  }

  async describe(options) {
    const { molecules } = options;
    const list = molecules instanceof Blob ? await read(molecules) : { ...BUILT_IN, rejected: [], warnings: [] };
    const targets = list.formulas * options.adducts.length;
    return { ...list, rejectedRows: list.rejected.length, targets, decoys: targets * options.decoys, adducts: options.adducts, charge: options.charge, ions: targets * (1 + options.decoys), impossible: 0 };
  }

  async annotate(options, { signal, onProgress } = {}) {
    record.calls.push(['annotate', { ...options, molecules: options.molecules.url ? 'built-in' : options.molecules.name }]);
    signal?.throwIfAborted();
    if (record.checking > 0) record.together = true;
    const query = new URLSearchParams(options.store.url ? new URL(options.store.url).search : '');
    const info = await this.describe(options);
    const delay = Number(query.get('adelay') ?? 0);
    const steps = Number(query.get('asteps') ?? 5);
    onProgress?.({ phase: 'list', done: 10, total: 20, secondsLeft: null, targets: 0, decoys: 0 });
    if (query.get('afail') === 'store') throw new CoreError('format', 'https://example.org/kidney.sectile: this store has format version 9; this program knows versions up to 3. Use a newer Sectile.');
    onProgress?.({ phase: 'plan', done: 0, total: 0, secondsLeft: null, targets: 0, decoys: 0, info });
    const from = this.ledger?.done ?? 0;
    for (let step = Math.round((from / info.ions) * steps); step < steps; step += 1) {
      const done = Math.round((info.ions * step) / steps);
      this.ledger = { done, total: info.ions };
      if (query.get('afail') === 'worker' && step > steps / 2 && from === 0) throw new CoreError('retired', 'a worker was lost twice over the same ions (unreachable); give more memory, or fewer workers');
      onProgress?.({ phase: 'ions', done, total: info.ions, secondsLeft: ((steps - step) * delay) / 1000, targets: step * 20, decoys: step * 200, info });
      await pause(delay, signal);
    }
    onProgress?.({ phase: 'fdr', done: 0, total: 0, secondsLeft: null, targets: 120, decoys: 900, info });
    this.ledger = null;
    const rows = query.has('zero') ? [] : rowsOf(Number(query.get('rows') ?? 120));
    this.run = { info, rows, warnings: options.decoys < 20 ? [`FDR from ${options.decoys} decoys is coarse`] : [], seconds: 2.5, requests: 12, bytes: 4e6, peakBytes: 9e6, workers: 2, shards: 8 };
    return this.run;
  }

  csv() {
    record.calls.push(['csv']);
    return new Blob(['formula,adduct,mz,chaos,spatial,spectral,msm,fdr\n', ...this.run.rows.map(({ formula, adduct, molecules }) => `${formula},${adduct},"${molecules[0].name}\nin two lines"\n`)], { type: 'text/csv' });
  }

  json() {
    return new Blob([JSON.stringify(jsonOf(this.run))], { type: 'application/json' });
  }

  close() {
    record.calls.push(['annotator closed']);
    this.ledger = null;
  }
}

/** annotations.json of a run. */
function jsonOf({ rows, warnings }) {
  return {
    version: 1, program: 'sectile', store: { file: 'kidney.sectile', source: 'kidney.imzML', width: 60, height: 45 }, list: { file: 'molecules.csv' },
    options: { ppm: 3, scoring: 'metaspace-v3', analyzer: 'orbitrap', charge: -1 }, warnings,
    rows: rows.map(({ adduct, mzErrAbs, mzErrRel, ...row }) => ({ ...row, modifier: adduct, mz_err_abs: mzErrAbs, mz_err_rel: mzErrRel })),
  };
}

async function read(file) {
  const [head, ...lines] = (await file.text()).split(/\r?\n/);
  const apart = head.includes('\t') ? '\t' : ',';
  const column = head.toLowerCase().split(apart).indexOf('formula');
  if (column < 0) throw new CoreError('format', `${file.name}: line 1: no column is named formula or sf (found: ${head.split(apart).join(', ')}); name the column of formulas so`);
  const rejected = [];
  const good = new Set();
  for (const [i, text] of lines.entries()) {
    if (text.trim() === '') continue;
    const formula = text.split(apart)[column] ?? '';
    if (/^([A-Z][a-z]?\d*)+$/.test(formula) && !/Xx/.test(formula)) good.add(formula);
    else rejected.push({ line: i + 2, text, what: formula === '' ? 'the formula is empty' : `“${formula}” is not a formula` });
  }
  return { formulas: good.size, molecules: good.size, rejected, warnings: [] };
}

function rowsOf(n) {
  return Array.from({ length: n }, (_, i) => row(i, n));
}

function row(i, n) {
  const known = FOUND[i];
  const carbon = 12 + ((i * 7) % 38);
  const [mz, formula, adduct, name] = known ?? [200 + ((i * 17.731) % 700), `C${carbon}H${2 * carbon - (i % 9)}${i % 3 === 0 ? 'N' : ''}O${2 + (i % 9)}${i % 4 === 0 ? 'P' : ''}`, i % 5 === 0 ? '+Cl' : '-H', `Compound ${i + 1}`];
  const part = i / Math.max(1, n);
  const msm = Math.max(0.001, 0.97 * (1 - part) ** 1.5);
  const fdr = known ? (i < 20 ? 0.05 : 0.1) : part < 0.4 ? 0.1 : part < 0.6 ? 0.2 : part < 0.8 ? 0.5 : 1;
  const [theory, measured] = [[100, 48, 14, 3], [100, 48 + ((i * 5) % 9) - 4, 14 + ((i * 3) % 5) - 2, 3]];
  const sum = 1e6 / (1 + i);
  return {
    formula, adduct, ion: `${formula}${adduct}-`, mz, msm, fdr, chaos: Math.min(1, msm ** 0.2), spatial: Math.min(1, msm ** 0.5), spectral: Math.min(1, msm ** 0.3),
    mzErrAbs: i === 5 ? null : mz * 1e-6 * (((i * 13) % 20) / 10 - 1), mzErrRel: i === 5 ? null : 0.0004, overlap: i === 2,
    peaks: theory.map((height, k) => ({ mz: mz + k * 1.00335, theory: height, total: sum * measured[k], min: 1, max: sum })),
    molecules: Array.from({ length: i === 0 ? 4 : 1 + (i % 3) }, (__, k) => ({ id: `HMDB${String(1000 + i * 4 + k).padStart(7, '0')}`, name: k === 0 ? name : `${name} isomer ${k + 1}` })),
  };
}
