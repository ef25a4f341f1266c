/** Annotation by a pool of web workers in headless Chromium: the same table from any pool, cancelled, gone on with, refused. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';

import { launch } from './chromium.mjs';
import { program, ROOT, serveFaults, servePagesAnd, SITE } from './site.mjs';

const run = promisify(execFile);
const MEBIBYTE = 1 << 20;
const OPTIONS = { adducts: ['+H', '+Na', '+K'], decoys: 20, analyzer: 'orbitrap', resolvingPower: 140_000, ppm: 3 };

let folder;
let pages;
let faults;
let browser;
let page;
/** The table of one worker: how many rows, and its SHA-256, which all others are held to. */
let lines;
let table;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-pool-'));
  await run(program(), ['demo-data', folder]);
  await run(program(), ['pack', join(folder, 'tissue.imzML'), '-o', join(folder, 'tissue.sectile')]);
  copyFileSync(join(ROOT, 'www/ions/molecules.csv'), join(folder, 'list.csv'));
  pages = await servePagesAnd(folder);
  faults = await serveFaults(folder);
  browser = await launch();
  page = await browser.newPage();
  await page.goto(pages.base);
  const { rows, csv, refused } = await annotated({ workers: 1, shards: 1 });
  assert.equal(refused, undefined, JSON.stringify(refused));
  [lines, table] = [rows.length, csv];
  assert.ok(lines > 40, `${lines} rows`);
  await page.close();
});

after(async () => {
  await browser?.close();
  await pages?.stop();
  await faults?.stop();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  page = await browser.newPage();
  await page.goto(pages.base);
});

afterEach(() => page.close());

/** What is in the page: a pool's options and the request. */
const TOOLS = `
  const { Annotator } = await import('./ions/annotator.js');
  const hash = async (blob) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer()))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const refusal = ({ name, code, message }) => ({ name, code, message });
  const { pool, options } = args;
`;

/** Runs a body with those tools in the page. */
function inPage(body, { pool = {}, options = {} } = {}) {
  const args = {
    pool: { memory: 96 * MEBIBYTE, workers: 2, ...pool },
    options: { store: { url: 'data/tissue.sectile' }, molecules: { url: 'data/list.csv' }, ...OPTIONS, ...options },
  };
  return page.evaluate(`(async (args) => {${TOOLS}${body}})(${JSON.stringify(args)})`);
}

/** One run to its end, or what it was refused for. */
function annotated(pool, options) {
  return inPage(`
    const annotator = new Annotator(pool);
    const told = [];
    try {
      const run = await annotator.annotate(options, { onProgress: (progress) => told.push({ ...progress, info: Boolean(progress.info) }) });
      return { ...run, told, csv: await hash(annotator.csv()), json: JSON.parse(await annotator.json().text()), unfinished: annotator.unfinished };
    } catch (error) {
      return { refused: refusal(error), told };
    } finally {
      annotator.close();
    }`, { pool, options });
}

test('any number of workers and shards, at any budget, finds the same', { timeout: 300_000 }, async () => {
  for (const pool of [{ workers: 3, shards: 7 }, { workers: 3, shards: 1 }, { workers: 1, shards: 7, memory: 32 * MEBIBYTE }, { workers: 2, memory: 256 * MEBIBYTE }]) {
    const found = await annotated(pool);
    assert.equal(found.refused, undefined, JSON.stringify(found.refused));
    assert.equal(found.csv, table, JSON.stringify(pool));
    assert.equal(found.rows.length, lines);
    assert.equal(found.unfinished, null);
    assert.ok(found.peakBytes > 0 && found.peakBytes <= (pool.memory ?? 96 * MEBIBYTE));
    assert.equal(found.workers, pool.workers);
    if (pool.shards) assert.equal(found.shards, pool.shards);
  }
});

test('rows, progress and files say what was found', { timeout: 120_000 }, async () => {
  const { rows, info, told, json, requests, bytes, seconds } = await annotated({ workers: 2 });
  assert.ok(info.formulas > 20 && info.targets > info.formulas && info.ions === info.targets + info.decoys);
  assert.ok(requests > 2 && bytes > 10_000 && seconds > 0);
  const phases = told.map(({ phase }) => phase);
  assert.deepEqual([...new Set(phases)], ['list', 'plan', 'ions', 'fdr']);
  const ions = told.filter(({ phase }) => phase === 'ions');
  assert.deepEqual(ions.map(({ done }) => done), ions.map(({ done }) => done).toSorted((a, b) => a - b), 'progress does not go back');
  assert.ok(ions.every(({ total, info }) => total > 0 && info) && ions.at(-1).done === ions.at(-1).total);
  const best = rows[0];
  assert.ok(best.msm > 0.5 && best.fdr <= 0.05 && best.molecules.length > 0);
  assert.ok(best.peaks.length === 4 && best.peaks[0].theory === 100 && best.peaks[0].mz === best.mz && best.peaks[0].total > 0);
  assert.ok(Math.abs(best.mzErrAbs) < best.mz * 3e-6);
  assert.ok(json && typeof json === 'object');
});

test('a file on the disk is as good as a server', { timeout: 120_000 }, async () => {
  await page.evaluate(() => document.body.insertAdjacentHTML('beforeend', '<input type="file" id="store"><input type="file" id="list">'));
  await page.setInputFiles('#store', join(folder, 'tissue.sectile'));
  await page.setInputFiles('#list', join(folder, 'list.csv'));
  const csv = await inPage(`
    const [store, molecules] = ['#store', '#list'].map((id) => document.querySelector(id).files[0]);
    const annotator = new Annotator(pool);
    await annotator.annotate({ ...options, store: { file: store }, molecules });
    return hash(annotator.csv());`);
  assert.equal(csv, table);
});

test('a cancelled run ends within a second and is gone on with', { timeout: 120_000 }, async () => {
  const found = await inPage(`
    const annotator = new Annotator(pool);
    const ending = new AbortController();
    let at = 0;
    const cancelled = await annotator.annotate(options, {
      signal: ending.signal,
      onProgress: ({ phase, done, total }) => {
        if (phase !== 'ions' || done < total / 3 || at) return;
        at = performance.now();
        ending.abort();
      },
    }).then(() => null, refusal);
    const took = performance.now() - at;
    const { unfinished } = annotator;
    const first = [];
    const run = await annotator.annotate(options, { onProgress: ({ phase, done }) => phase === 'ions' && first.push(done) });
    return { cancelled, took, unfinished, first: first[0], csv: await hash(annotator.csv()), left: annotator.unfinished };`, { pool: { shards: 12 } });
  assert.equal(found.cancelled?.name, 'AbortError', 'it was cancelled before it ended');
  assert.ok(found.took < 1000, `${found.took} ms`);
  assert.ok(found.unfinished.done > 0 && found.unfinished.done < found.unfinished.total);
  assert.ok(found.first >= found.unfinished.done, 'it went on from there');
  assert.equal(found.csv, table);
  assert.equal(found.left, null);
});

test('other options begin anew after a cancelled run', { timeout: 120_000 }, async () => {
  const found = await inPage(`
    const annotator = new Annotator(pool);
    const ending = new AbortController();
    await annotator.annotate({ ...options, ppm: 5 }, { signal: ending.signal, onProgress: ({ phase, done }) => phase === 'ions' && done > 0 && ending.abort() }).catch(() => {});
    await annotator.annotate(options);
    return hash(annotator.csv());`);
  assert.equal(found, table);
});

test('what was finished before a server fails is kept, and it is gone on with once the server is back', { timeout: 180_000 }, async () => {
  let [count, left] = [0, Infinity];
  await page.route('**/data/tissue.sectile', (route) => {
    count += 1;
    left -= 1;
    return left < 0 ? route.abort() : route.continue();
  });
  await page.exposeFunction('allow', (requests) => {
    left = requests;
  });
  const found = await inPage(`
    const annotator = new Annotator(pool);
    await allow(6);
    const refused = await annotator.annotate(options).then(() => null, refusal);
    const { unfinished } = annotator;
    await allow(Infinity);
    const run = await annotator.annotate(options);
    return { refused, unfinished, csv: await hash(annotator.csv()) };`, { pool: { workers: 1, shards: 1, memory: 16 * MEBIBYTE } });
  assert.ok(count > 6, `${count} requests`);
  assert.equal(found.refused?.code, 'network', 'it failed before it ended');
  assert.ok(found.unfinished.done > 0 && found.unfinished.done < found.unfinished.total, JSON.stringify(found.unfinished));
  assert.equal(found.csv, table);
});

test('a polarity that contradicts the store is warned of', { timeout: 60_000 }, async () => {
  const { info, rows } = await annotated({}, { adducts: ['-H'], decoys: 5 });
  assert.equal(info.charge, -1);
  assert.ok(info.warnings.some((text) => /polarity is positive/.test(text)), info.warnings.join());
  assert.ok(info.warnings.some((text) => /5 decoys/.test(text)), info.warnings.join());
  assert.ok(rows.every(({ adduct }) => adduct === '-H'));
});

/** Serves the worker's script so that some of the workers are lost while they work. */
async function losing(which) {
  const script = readFileSync(join(SITE, 'ions/annotate.js'), 'utf8');
  assert.ok(script.includes('answer(calls);'));
  let count = 0;
  await page.route('**/ions/annotate.js', (route) => {
    count += 1;
    const lost = which(count) ? `const { run } = calls;
      calls.run = async (shard, context) => {
        await run({ ...shard, to: shard.from + Math.floor((shard.to - shard.from) / 2) }, context);
        throw new WebAssembly.RuntimeError('unreachable');
      };
      ` : '';
    return route.fulfill({ contentType: 'text/javascript', body: script.replace('answer(calls);', `${lost}answer(calls);`) });
  });
  return () => count;
}

test('a worker that is lost is replaced once, and what it had finished counts', { timeout: 120_000 }, async () => {
  const started = await losing((count) => count === 1);
  const found = await annotated({ workers: 2, shards: 4 });
  assert.equal(found.csv, table, JSON.stringify(found.refused));
  assert.equal(started(), 3);
});

test('two lost workers in a row are an error that says what to do', { timeout: 120_000 }, async () => {
  await losing(() => true);
  const { refused } = await annotated({ workers: 2, shards: 4 });
  assert.equal(refused.code, 'retired');
  assert.match(refused.message, /ions \d+ to \d+.*lost.*unreachable.*more memory or fewer workers/s);
});

test('fewer workers where the budget does not go round', { timeout: 120_000 }, async () => {
  const found = await annotated({ workers: 8, memory: 40 * MEBIBYTE });
  assert.equal(found.csv, table, JSON.stringify(found.refused));
  assert.ok(found.workers < 8 && found.peakBytes <= 40 * MEBIBYTE);
  const { refused } = await annotated({ workers: 2, memory: 3 * MEBIBYTE });
  assert.equal(refused.code, 'budget');
});

test('a list is checked before anything is run', { timeout: 60_000 }, async () => {
  const { info, refused } = await inPage(`
    const annotator = new Annotator(pool);
    const { store, ...rest } = options;
    const info = await annotator.check({ ...rest, molecules: new Blob(['formula\\nH2O\\nC6Xx\\n']), name: 'mine' });
    const refused = await annotator.check({ ...rest, adducts: ['H+'] }).then(() => null, refusal);
    return { info, refused };`);
  assert.deepEqual([info.formulas, info.targets, info.rejectedRows], [1, 3, 1]);
  assert.deepEqual(info.rejected.map(({ line, text }) => [line, text]), [[3, 'C6Xx']]);
  assert.equal(refused.code, 'parameter');
});

test('servers that misbehave: the same table, or a refusal that says why', { timeout: 300_000 }, async () => {
  const at = (mode) => ({ store: { url: `${faults.base}${mode}/tissue.sectile` } });
  for (const mode of ['ok', '503-then-ok', 'reset', '429']) {
    await fetch(`${faults.base}__reset`);
    const found = await annotated({}, at(mode));
    assert.equal(found.csv, table, `${mode}: ${JSON.stringify(found.refused)}`);
  }
  const words = { nocors: 'CORS', truncate: 'bytes', 'wrong-content-range': 'range', 'html-200': 'no segment store', auth: '401' };
  for (const [mode, word] of Object.entries(words)) {
    await fetch(`${faults.base}__reset`);
    const { refused } = await annotated({}, at(mode));
    assert.ok(refused?.message.includes(word), `${mode}: ${JSON.stringify(refused)}`);
  }
  const { refused } = await annotated({}, { molecules: { url: 'data/nothing.csv' } });
  assert.equal(refused.code, 'http');
});
