/** Annotation by the library in Node: the reference's scores, and the program's table at any budget and in any shards. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, openAsBlob, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { program, ROOT, SITE } from './site.mjs';

const run = promisify(execFile);
const MEBIBYTE = 1 << 20;
const LIST = join(ROOT, 'www/ions/molecules.csv');
/** What is asked of the demo tissue. */
const OPTIONS = { adducts: ['+H', '+Na', '+K'], decoys: 20, scoring: 'metaspace-v3', analyzer: 'orbitrap', resolvingPower: 140_000, ppm: 3 };

let folder;
let tissue;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-annotate-'));
  await run(program(), ['demo-data', folder]);
  tissue = join(folder, 'tissue.sectile');
  await run(program(), ['pack', join(folder, 'tissue.imzML'), '-o', tissue]);
});

after(() => rmSync(folder, { recursive: true, force: true }));

/** A file of the folder with these lines. */
function list(name, lines) {
  const path = join(folder, name);
  writeFileSync(path, lines.join('\n'));
  return path;
}

/** One annotation in a process of its own. */
async function annotated(job) {
  const script = fileURLToPath(new URL('annotate-library.mjs', import.meta.url));
  const all = { site: SITE, memory: 64 * MEBIBYTE, store: tissue, molecules: LIST, ...job, options: { ...OPTIONS, ...job.options } };
  const { stdout } = await run(process.execPath, [script, JSON.stringify(all)], { maxBuffer: 1 << 26 });
  return JSON.parse(stdout);
}

test('scores are those of the reference programs', async () => {
  const golden = JSON.parse(readFileSync(join(ROOT, 'tests/golden/imaging-ms/e2e_metrics.json'), 'utf8'));
  const store = join(folder, 'synth.sectile');
  await run(program(), ['pack', join(ROOT, 'tests/data/ion/synth_processed.imzML'), '-o', store]);
  const molecules = list('ions.txt', golden.map(({ formula }) => formula));
  const found = await annotated({ store, molecules, rows: true, options: { adducts: ['[M]+'], scoring: 'metaspace-v1' } });
  const scored = golden.filter(({ scores }) => scores?.[3] > 0);
  assert.ok(scored.length > 5);
  assert.deepEqual(found.rows.map(({ formula }) => formula).sort(), scored.map(({ formula }) => formula).sort());
  for (const { formula, scores, total } of scored) {
    const row = found.rows.find((row) => row.formula === formula);
    for (const [i, [name, most]] of [['chaos', 1e-9], ['spatial', 2e-6], ['spectral', 1e-7], ['msm', 2e-6]].entries()) {
      assert.ok(Math.abs(row[name] - scores[i]) <= most, `${formula} ${name}: ${row[name]}, not ${scores[i]}`);
    }
    for (const [k, peak] of row.peaks.entries()) assert.ok(Math.abs(peak.total - total[k]) <= total[k] * 1e-6, `${formula}: ${peak.total}, not ${total[k]}`);
  }
});

test('the table is the same at every budget and in any shards, and the program writes it too', { timeout: 600_000 }, async () => {
  const out = join(folder, 'native');
  const { adducts, decoys, scoring, analyzer, resolvingPower, ppm } = OPTIONS;
  await run(program(), ['annotate', tissue, '--molecules', LIST, `--adducts=${adducts}`, '--decoys', String(decoys), '--scoring', scoring, '--analyzer', analyzer, '--resolving-power', String(resolvingPower), '--ppm', String(ppm), '--images', 'none', '-o', out]);
  const native = createHash('sha256').update(readFileSync(join(out, 'results.csv'))).digest('hex');
  for (const [mebibytes, shards] of [[16, 7], [32, 1], [128, 7], [512, 1]]) {
    const found = await annotated({ memory: mebibytes * MEBIBYTE, shards });
    assert.equal(found.refused, undefined);
    assert.ok(found.rows > 40, `${found.rows} rows`);
    assert.equal(found.sha256, native, `${mebibytes} MiB, ${shards} shards`);
    const { plan, cost } = found;
    assert.ok(found.memory_bytes <= mebibytes * MEBIBYTE, `${found.memory_bytes} of ${mebibytes} MiB`);
    assert.ok(plan.peak_bytes <= mebibytes * MEBIBYTE && plan.minimum_bytes <= plan.peak_bytes);
    // Shards are planned apart from each other: together they read a little more.
    if (shards === 1) assert.deepEqual([cost.requests, cost.bytes], [plan.requests, plan.bytes]);
  }
});

test('what was planted is found, and what was not is not', { timeout: 300_000 }, async () => {
  const { rows } = await annotated({ rows: true });
  const truth = readFileSync(join(folder, 'tissue_truth.csv'), 'utf8').trim().split('\n').slice(1).map((line) => line.split(','));
  const listed = readFileSync(LIST, 'utf8');
  const expected = truth.filter(([formula]) => listed.includes(`,${formula}`));
  assert.ok(expected.length > 20, `${expected.length} planted ions are in the list`);
  for (const [formula, adduct] of expected) {
    const row = rows.find((row) => row.formula === formula && row.adduct === adduct);
    assert.ok(row && row.fdr <= 0.1, `${formula} ${adduct}: ${JSON.stringify(row)}`);
  }
  assert.deepEqual(rows.map(({ fdr }) => fdr), rows.map(({ fdr }) => fdr).toSorted((a, b) => a - b));
});

test('lists that hold rows of something else, and options that make no sense', { timeout: 120_000 }, async () => {
  const mixed = list('mixed.csv', ['id,name,formula', '1,water,H2O', '2,nothing,', '3,odd,C6Xx2', '4,glucose,C6H12O6']);
  const { info } = await annotated({ molecules: mixed });
  assert.equal(info.formulas, 2);
  assert.deepEqual(info.rejected.map(({ line }) => line), [3, 4]);
  assert.match(info.rejected[1].what, /Xx/);
  const refused = async (job, code, words) => {
    const found = await annotated(job);
    assert.equal(found.code, code, JSON.stringify(found));
    assert.match(found.refused, words);
  };
  await refused({ molecules: list('columns.csv', ['id,name', '1,water', '2,glucose']) }, 'format', /columns\.csv.*formula/s);
  await refused({ molecules: list('empty.csv', ['']) }, 'format', /empty\.csv/);
  await refused({ options: { adducts: ['+H', '+Xx'] } }, 'parameter', /adducts: "\+Xx"/);
  await refused({ options: { adducts: [] } }, 'parameter', /adducts/);
  await refused({ options: { adducts: ['+H', '+H'] } }, 'parameter', /twice/);
  await refused({ options: { adducts: 'H' } }, 'parameter', /array/);
  await refused({ options: { adducts: ['[M-H]-'], charge: 1 } }, 'parameter', /charge/);
  await refused({ options: { decoys: 200 } }, 'parameter', /decoys/);
  await refused({ options: { ppm: 0 } }, 'parameter', /ppm/);
  await refused({ options: { scoring: 'mine' } }, 'parameter', /metaspace-v3/);
  await refused({ options: { analyzer: 'quadrupole' } }, 'parameter', /orbitrap/);
  await refused({ options: { slice: 3 } }, 'parameter', /slice/);
  await refused({ store: LIST }, 'format', /molecules\.csv/);
  const newer = join(folder, 'newer.sectile');
  const bytes = readFileSync(tissue);
  bytes[8] += 1;
  writeFileSync(newer, bytes);
  await refused({ store: newer }, 'unsupported', /newer/);
});

test('a budget that is too small is refused with the smallest that works', { timeout: 120_000 }, async () => {
  const found = await annotated({ memory: 4 * MEBIBYTE });
  assert.equal(found.code, 'budget');
  assert.match(found.refused, /at least --memory \d+KiB/);
});

test('a run is halted where it can be gone on with, or aborted at once', { timeout: 300_000 }, async () => {
  const { Annotation, init, readMolecules } = await import(pathToFileURL(join(SITE, 'core/annotations.js')).href);
  await init({ module: readFileSync(join(SITE, 'pkg/annotate/annotate_bg.wasm')), memory: 64 * MEBIBYTE });
  const store = await openAsBlob(tissue);
  const molecules = await readMolecules(await openAsBlob(LIST), { name: 'list.csv' });
  const whole = await Annotation.open(store, { molecules, ...OPTIONS });
  await whole.run();
  const expected = await whole.csv().text();

  const halted = await Annotation.open(store, { molecules, ...OPTIONS });
  let from = 0;
  let runs = 0;
  for (; from < halted.info.ions; runs += 1) {
    const halt = new AbortController();
    const { position } = await halted.run({ from, halt: halt.signal, saveEvery: 0, onProgress: ({ ions }) => ions > 900 && halt.abort() });
    assert.ok(position > from && position <= halted.info.ions, `${from} to ${position}`);
    from = position;
  }
  assert.ok(runs > 2, `${runs} runs`);
  assert.equal(await halted.csv().text(), expected);

  const aborted = await Annotation.open(store, { molecules, ...OPTIONS });
  const ending = new AbortController();
  const saves = [];
  await assert.rejects(aborted.run({ signal: ending.signal, onSave: (saved) => saves.push(saved), onProgress: ({ ions }) => ions > 3000 && ending.abort() }), { name: 'AbortError' });
  // What it had finished was handed out all the same.
  const { position } = saves.at(-1);
  assert.ok(position > 0 && saves.some(({ found }) => found > 0));
  await aborted.run({ from: position, onSave: (saved) => saves.push(saved) });
  for (const saved of saves.reverse()) aborted.take(saved);
  assert.equal(await aborted.csv().text(), expected);

  assert.throws(() => (aborted.take({ targets: new Uint8Array(7), decoys: new Uint8Array(0) }), aborted.results()), { code: 'parameter', message: /scores/ });
  await assert.rejects(whole.run({ from: whole.info.ions + 1 }), { code: 'parameter' });
  await assert.rejects(whole.run({ shard: [0, whole.info.ions + 1] }), { code: 'parameter' });
  for (const annotation of [whole, halted, aborted]) annotation.free();
  molecules.free();
});
