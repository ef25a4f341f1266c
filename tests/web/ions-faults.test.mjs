/** Ion images in headless Chromium: pairs dropped and linked, the browser's storage, servers that misbehave. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { makePair, servePair } from '../servers/pair.mjs';
import { launchWithProfile } from './chromium.mjs';
import { readPng } from './png.mjs';
import { ROOT, serveFaults, servePagesAnd, SITE } from './site.mjs';

const MEBIBYTE = 1 << 20;
let folder;
let pages;
let faults;
let context;
let page;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-ions-'));
  for (const end of ['imzML', 'ibd']) cpSync(join(ROOT, `tests/data/ion/synth_processed.${end}`), join(folder, `synth.${end}`));
  const ions = await import(pathToFileURL(join(SITE, 'core/ions.js')).href);
  await ions.init({ module: readFileSync(join(SITE, 'pkg/ions/ions_bg.wasm')), memory: 64 * MEBIBYTE });
  const target = new ions.MemoryFile();
  const blob = (end) => new File([readFileSync(join(folder, `synth.${end}`))], `synth.${end}`);
  await ions.pack(blob('imzML'), blob('ibd'), target);
  writeFileSync(join(folder, 'synth.sectile'), target.read(0, target.size));
  pages = await servePagesAnd(folder);
  faults = await serveFaults(folder);
  context = await launchWithProfile();
  page = await context.newPage();
  await page.goto(pages.base);
});

after(async () => {
  await context?.close();
  await pages?.stop();
  await faults?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What is in the page for each test: `opened(what, options)` and `hash(bytes)`. */
const TOOLS = `
  const { IonCompute } = await import('./ions/client.js');
  const hash = async (bytes) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const files = async () => Object.fromEntries(await Promise.all(['imzML', 'ibd'].map(async (end) =>
    [end.toLowerCase(), { file: new File([await (await fetch('data/synth.' + end)).blob()], 'synth.' + end, { lastModified: 1 }) }])));
`;

/** Runs a body with those tools in the page. */
function inPage(body, args = {}) {
  return page.evaluate(`(async (args) => {${TOOLS}${body}})(${JSON.stringify(args)})`);
}

/** An image of a store, or what it was refused for. */
function imageOf(url, memory = 16 * MEBIBYTE) {
  return inPage(`
    const compute = new IonCompute({ memory: args.memory });
    try {
      const info = await compute.open({ url: args.url });
      const image = await compute.image({ mz: 308.09104323366375, ppm: 3 });
      return { sum: image.values.reduce((sum, value) => sum + (value || 0), 0), requests: image.requests, opening: info.opening };
    } catch (error) {
      return { refused: error.message, code: error.code };
    } finally {
      compute.close();
    }`, { url, memory });
}

const right = (found) => Math.abs(found.sum - 28562.1015625) < 0.3;
const reset = () => fetch(`${faults.base}__reset`);

test('a store on servers that misbehave: right or refused', { timeout: 200_000 }, async () => {
  for (const mode of ['ok', 'norange', 'noexpose', '503-then-ok', 'redirect', 'head-403', '416-last', '429', 'weak-etag', 'short-206', 'reset']) {
    await reset();
    const found = await imageOf(`${faults.base}${mode}/synth.sectile`);
    assert.ok(right(found), `${mode}: ${JSON.stringify(found)}`);
    if (mode === 'ok') assert.deepEqual([found.opening.requests, found.requests], [1, 1]);
  }
  const words = { nocors: 'CORS', truncate: 'bytes', 'wrong-content-range': 'range', 'html-200': 'no segment store', auth: '401' };
  for (const [mode, word] of Object.entries(words)) {
    await reset();
    const found = await imageOf(`${faults.base}${mode}/synth.sectile`);
    assert.ok(found.refused?.includes(word), `${mode}: ${JSON.stringify(found)}`);
  }
});

test('a pair on servers that misbehave: the same store or none', { timeout: 200_000 }, async () => {
  const expected = readFileSync(join(folder, 'synth.sectile'));
  const packed = (mode) => inPage(`
    const compute = new IonCompute({ memory: 16 << 20 });
    try {
      const { packed } = await compute.open({ pair: { imzml: { url: args.base + 'synth.imzML' }, ibd: { url: args.base + 'synth.ibd' } } });
      const blob = await compute.store();
      return { bytes: blob.size, sha256: await hash(await blob.arrayBuffer()), packed, name: blob.name };
    } catch (error) {
      return { refused: error.message, code: error.code };
    } finally {
      compute.close();
    }`, { base: `${faults.base}${mode}/` });
  const hashes = new Set();
  for (const mode of ['ok', 'noexpose', '503-then-ok', 'short-206', 'reset', 'weak-etag']) {
    await reset();
    const found = await packed(mode);
    assert.equal(found.bytes, expected.length, `${mode}: ${found.refused}`);
    assert.ok(found.packed.peak_bytes <= 16 * MEBIBYTE);
    hashes.add(found.sha256);
  }
  assert.equal(hashes.size, 1);
  for (const mode of ['truncate', 'html-200', '503-always']) {
    await reset();
    const found = await packed(mode);
    assert.ok(found.refused, `${mode} was taken`);
  }
  assert.deepEqual(await inPage('const compute = new IonCompute({ memory: 16 << 20 }); const kept = await compute.kept(); compute.close(); return kept;'), []);
});

test('a dropped pair is packed here, kept, found again, drawn, exported and removed; nothing leaves the page', async () => {
  const requests = [];
  const listen = (request) => requests.push(request.url());
  page.on('request', listen);
  const found = await inPage(`
    const phases = new Set();
    const compute = new IonCompute({ memory: 16 << 20 });
    const info = await compute.open({ pair: await files() }, { keep: true, onProgress: ({ phase }) => phases.add(phase) });
    const image = await compute.image({ mz: 308.09104323366375, ppm: 3 });
    const mean = await compute.meanSpectrum();
    const spectrum = await compute.spectrum({ x: 7, y: 5 });
    const plan = await compute.planSpectrum({ x: 7, y: 5 });
    const region = await compute.region({ rect: [2, 2, 6, 6] });
    const png = await compute.png(image, { alpha: true });
    const csv = await (await compute.csv(image)).text();
    const again = await compute.open({ pair: await files() });
    const other = new IonCompute({ memory: 16 << 20 });
    const kept = await other.kept();
    const busy = await other.remove('synth').catch((error) => error.message);
    compute.close();
    const taken = await other.open({ kept: 'synth' });
    const same = await other.image({ mz: 308.09104323366375, ppm: 3 });
    const store = await hash(await (await other.store()).arrayBuffer());
    const from = (await other.spectrum({ x: 7, y: 5 })).from;
    await other.open({ url: 'data/synth.sectile' });
    await other.remove('synth');
    const left = [await other.kept(), await other.clean()];
    const unknown = await other.open({ kept: 'synth' }).catch((error) => error.code);
    other.close();
    return { phases: [...phases], info, again: again.packed, kept, busy, taken: taken.kept, store, left, unknown, from, plan,
      values: [...image.values], same: [...same.values], hits: image.hits, peaks: spectrum.mz.length, spectrum: spectrum.from, bins: mean.mz.length, pixels: region.pixels,
      png: [...new Uint8Array(await png.arrayBuffer())], csv };
  `);
  page.off('request', listen);
  assert.equal(found.info.packed.peaks, 5570);
  assert.equal(found.info.kept, true);
  assert.equal(found.again, null, 'found where it was packed before');
  assert.deepEqual(found.kept.map(({ name }) => name), ['synth']);
  assert.match(found.busy, /in use/);
  assert.equal(found.taken, true);
  assert.deepEqual(found.same, found.values);
  assert.deepEqual([found.spectrum, found.from, found.plan.from], ['pair', 'store', 'pair']);
  assert.ok(found.peaks > 10 && found.bins > 1000 && found.pixels === 16);
  assert.deepEqual(found.left, [[], { removed: 0, bytes: 0 }]);
  assert.equal(found.unknown, 'parameter');
  const png = readPng(Uint8Array.from(found.png));
  assert.deepEqual([png.width, png.height, png.color], [14, 11, 4]);
  const bscale = Number(png.text.BSCALE);
  for (const [i, value] of found.values.entries()) {
    const no = value === null || Number.isNaN(value);
    assert.equal(png.alpha[i], no ? 0 : 65535);
    if (!no) assert.ok(Math.abs(Number(png.text.BZERO) + bscale * png.codes[i] - value) <= bscale);
  }
  assert.equal(found.csv.split('\n').length, 126 + 2);
  assert.ok(requests.every((url) => url.startsWith(pages.base)), 'only the page itself was fetched');
});

test('a cancelled packing goes on where it was, is cleaned when it is not wanted, and is nobody else’s meanwhile', { timeout: 120_000 }, async () => {
  const pair = makePair({ width: 64, height: 64, peaks: 1000 });
  const server = await servePair(pair);
  try {
    const found = await inPage(`
      const pair = { imzml: { url: args.base + 'pair.imzML' }, ibd: { url: args.base + 'pair.ibd' } };
      const compute = new IonCompute({ memory: 12 << 20 });
      const cancel = async () => {
        const controller = new AbortController();
        let peak = 0;
        const name = await compute.open({ pair }, { signal: controller.signal, onProgress: ({ phase, done, total, peak_bytes }) => {
          peak = peak_bytes;
          if (phase === 'sort' && done > total / 4) controller.abort();
        } }).then(() => 'finished', (error) => error.name);
        return { name, peak };
      };
      const first = await cancel();
      const asked = await (await fetch(args.base + '__log')).json();
      const finished = await compute.open({ pair });
      const then = await (await fetch(args.base + '__log')).json();
      const image = await compute.image({ mz: args.mz, ppm: 3 });
      await compute.open({ url: 'data/synth.sectile' });
      const nothing = await compute.clean();
      const second = await cancel();
      const left = await compute.leftovers();
      const cleaned = await compute.clean();
      const none = await compute.leftovers();
      const twice = await compute.clean();
      compute.close();
      return { first, asked, then, packed: finished.packed, values: [...image.values.slice(0, 50)], nothing, second, left, cleaned, none, twice };
    `, { base: server.base, mz: pair.mzOf(10) });
    assert.equal(found.first.name, 'AbortError');
    assert.ok(found.first.peak <= 12 * MEBIBYTE);
    assert.equal(found.packed.peaks, 64 * 64 * 1000);
    // Of the .ibd nothing is read again; the XML is.
    assert.ok(found.then.bytes - found.asked.bytes < pair.imzML.length + MEBIBYTE, `${found.then.bytes - found.asked.bytes}`);
    assert.deepEqual(found.values, Array.from({ length: 50 }, (_, p) => pair.intensityOf(p, 10)));
    assert.deepEqual(found.nothing, { removed: 0, bytes: 0 }, 'a store that is not kept goes when another is opened');
    assert.equal(found.second.name, 'AbortError');
    assert.equal(found.cleaned.removed, 1);
    assert.ok(found.cleaned.bytes > MEBIBYTE);
    assert.deepEqual(found.left, { count: 1, bytes: found.cleaned.bytes });
    assert.deepEqual(found.none, { count: 0, bytes: 0 });
    assert.deepEqual(found.twice, { removed: 0, bytes: 0 });
  } finally {
    await server.stop();
  }
});

test('a browser that gives too little room says so, and nothing is left under the name', { timeout: 120_000 }, async () => {
  const pair = makePair({ width: 64, height: 64, peaks: 1000 });
  const server = await servePair(pair);
  const session = await context.newCDPSession(page);
  const origin = new URL(pages.base).origin;
  const quota = (quotaSize) => session.send('Storage.overrideQuotaForOrigin', { origin, ...(quotaSize ? { quotaSize } : {}) });
  const tried = () => inPage(`
    const compute = new IonCompute({ memory: 12 << 20 });
    const pair = { imzml: { url: args.base + 'pair.imzML' }, ibd: { url: args.base + 'pair.ibd' } };
    const found = await compute.open({ pair }, { keep: true }).then(({ packed }) => ({ packed }), ({ code, message }) => ({ code, message }));
    const kept = await compute.kept();
    compute.close();
    return { ...found, kept };`, { base: server.base });
  try {
    await quota(8 * MEBIBYTE);
    const refused = await tried();
    assert.equal(refused.code, 'space', refused.message);
    assert.match(refused.message, /no room/);
    assert.deepEqual(refused.kept, []);
    await quota();
    const done = await tried();
    assert.equal(done.packed?.peaks, 64 * 64 * 1000, done.message);
    assert.deepEqual(done.kept.map(({ name }) => name), ['pair']);
  } finally {
    await session.detach();
    await server.stop();
  }
});
