/** Ion images by the library: the program's stores bit for bit at any budget, from anywhere, in Node. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { makePair, servePair } from '../servers/pair.mjs';
import { readPng } from './png.mjs';
import { program, ROOT, SITE } from './site.mjs';

const run = promisify(execFile);
const MEBIBYTE = 1 << 20;
const GOLDEN = ['processed', 'continuous', 'processed_zlib'].map((kind) => join(ROOT, `tests/data/ion/synth_${kind}`));
/** m/z of isotopes of C10H18N3O6S, and the sums of their images at 3 ppm by the reference programs, in f32. */
const SUMS = [[308.09104323366375, 28562.1015625], [309.09442709058044, 3068.34033203125]];

/** The pairs of a folder, as paths of imzML and ibd. */
function pairsOf(folder) {
  const names = readdirSync(folder);
  return names.filter((name) => /\.imzml$/i.test(name)).map((name) => {
    const ibd = names.find((other) => other.toLowerCase() === name.toLowerCase().replace(/imzml$/, 'ibd'));
    return [name, ibd].map((one) => join(folder, one));
  });
}

const PAIRS = [...GOLDEN.map((stem) => [`${stem}.imzML`, `${stem}.ibd`]), ...pairsOf(join(ROOT, 'tests/data/imzml'))];

/** Pairs packed in a process of their own. */
async function packed(job) {
  const script = fileURLToPath(new URL('ions-library.mjs', import.meta.url));
  const { stdout } = await run(process.execPath, [script, JSON.stringify({ site: SITE, ...job })], { maxBuffer: 1 << 26 });
  return stdout.trim().split('\n').map((line) => JSON.parse(line));
}

/** The same by the program: the store's hash, or that it was refused. */
async function native([imzml, ibd]) {
  const folder = mkdtempSync(join(tmpdir(), 'sectile-'));
  try {
    const out = join(folder, 'out.sectile');
    try {
      await run(program(), ['pack', imzml, '--ibd', ibd, '-o', out]);
    } catch (error) {
      return { refused: error.stderr };
    }
    return { sha256: createHash('sha256').update(readFileSync(out)).digest('hex') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The library in this process, for what needs no budget of its own. */
let ions;
before(async () => {
  ions = await import(pathToFileURL(join(SITE, 'core/ions.js')).href);
  await ions.init({ module: readFileSync(join(SITE, 'pkg/ions/ions_bg.wasm')), memory: 64 * MEBIBYTE });
});

/** A pair of the generator as sources in this process. */
function inProcess(pair) {
  const source = (key, size, piece) => ({
    key,
    size,
    async read(start, end) {
      const bytes = new Uint8Array(end - start);
      for (let at = start; at < end; ) {
        const found = piece(at, end);
        bytes.set(found, at - start);
        at += found.length;
      }
      return bytes;
    },
  });
  return [source('pair.imzML', pair.imzML.length, (at, end) => pair.imzML.subarray(at, end)), source('pair.ibd', pair.size, pair.piece)];
}

/** Files of a packing that is cancelled once so many checkpoints have been saved. */
function stopping(saves, halves = [new ions.MemoryFile(), new ions.MemoryFile()]) {
  const controller = new AbortController();
  const state = new ions.Checkpoint(...halves);
  const { save } = state;
  let count = 0;
  state.save = async (content) => {
    await save.call(state, content);
    count += 1;
    if (count === saves) controller.abort();
  };
  return { spill: new ions.MemoryFile(), state, signal: controller.signal };
}

async function sha256(blob) {
  return createHash('sha256').update(Buffer.from(await blob.arrayBuffer())).digest('hex');
}

test('every pair packs to the same bits at every budget, and to the bits of the program', async () => {
  const images = SUMS.map(([mz]) => ({ mz, ppm: 3 }));
  const all = [];
  for (const mebibytes of [16, 64, 256]) {
    const found = await packed({ memory: mebibytes * MEBIBYTE, pairs: PAIRS, images });
    assert.equal(found.length, PAIRS.length);
    for (const { report, memory_bytes } of found.filter(({ sha256 }) => sha256)) {
      assert.ok(memory_bytes <= mebibytes * MEBIBYTE && report.peak_bytes <= mebibytes * MEBIBYTE);
    }
    all.push(found);
  }
  for (const [i, pair] of PAIRS.entries()) {
    const same = await native(pair);
    for (const found of all) {
      assert.equal(found[i].sha256, same.sha256, `${pair[0]}: ${found[i].refused} ${same.refused}`);
      // The program names its option; what is wrong is said in the same words.
      if (same.refused) assert.ok(same.refused.includes(found[i].refused.split(': ').at(-1).split(';')[0]), `${found[i].refused}\n${same.refused}`);
    }
  }
  for (const golden of all[0].filter(({ name }) => /synth_processed\./.test(name))) {
    for (const [k, [, sum]] of SUMS.entries()) {
      const got = golden.images[k].values.reduce((a, b) => a + (b ?? 0), 0);
      assert.ok(Math.abs(got - sum) < 1e-5 * sum, `${golden.name}: ${got} for ${sum}`);
      assert.equal(golden.images[k].values.filter((value) => value === null).length, 14 * 11 - 126);
    }
  }
});

test('the same bits from sources that hide their size, from URLs, and with other numbers of requests in flight', async () => {
  const pair = makePair({ width: 20, height: 15, peaks: 700, intensity: 4 });
  const server = await servePair(pair);
  try {
    const urls = [[`${server.base}pair.imzML`, `${server.base}pair.ibd`]];
    const [one] = await packed({ memory: 16 * MEBIBYTE, pairs: urls });
    const [other] = await packed({ memory: 64 * MEBIBYTE, pairs: urls, inFlight: 1 });
    assert.equal(one.sha256, other.sha256, one.refused);
    assert.equal(one.report.peaks, 20 * 15 * 700);
    assert.equal(one.plan.payload_bytes, pair.size - 16);
    const own = new ions.MemoryFile();
    await ions.pack(...inProcess(pair), own);
    const name = async (blob) => (await ions.IonStore.open(blob)).info.source;
    assert.equal(await name(own.blob()), one.info.source);
    assert.equal(await sha256(own.blob()), one.sha256);
  } finally {
    await server.stop();
  }
  for (const how of ['bare', 'sized']) {
    const [blob, bare] = await Promise.all(['blob', how].map((how) => packed({ memory: 64 * MEBIBYTE, pairs: PAIRS.slice(0, 3), how })));
    assert.deepEqual(bare.map(({ sha256 }) => sha256), blob.map(({ sha256 }) => sha256));
  }
});

test('an image is one request once the store is open, several share theirs, and they hold what they must', async () => {
  const pair = makePair({ width: 40, height: 30, peaks: 1500, intensity: 4 });
  const target = new ions.MemoryFile();
  await ions.pack(...inProcess(pair), target);
  const reads = [];
  const source = {
    key: 'store',
    size: target.size,
    read: async (start, end) => {
      reads.push([start, end]);
      return target.read(start, end);
    },
  };
  const store = await ions.IonStore.open(source);
  assert.equal(reads.length, 1);
  for (const j of [0, 1, 700, 1499]) {
    reads.length = 0;
    const image = await store.image(pair.mzOf(j), { ppm: 3 });
    assert.ok(reads.length <= 1);
    assert.equal(image.requests, reads.length);
    assert.equal(image.bytes, reads.reduce((sum, [start, end]) => sum + end - start, 0));
    assert.deepEqual([image.width, image.height, image.hits], [40, 30, 1200]);
    assert.ok(image.values.every((value, p) => value === pair.intensityOf(p, j)));
    assert.equal(image.max, Math.max(...image.values));
  }
  reads.length = 0;
  const wanted = [900, 300, 301, 902].map((j) => ({ mz: pair.mzOf(j), ppm: 3 }));
  const plan = store.plan(wanted);
  const images = await store.images(wanted);
  assert.ok(reads.length <= 4 && reads.length === plan.requests, `${reads.length} of ${plan.requests}`);
  assert.deepEqual(images.map(({ mz }) => mz), wanted.map(({ mz }) => mz));
  assert.ok(images.every(({ values }, k) => values[77] === pair.intensityOf(77, [900, 300, 301, 902][k])));
  const none = await store.image(50, { ppm: 3 });
  assert.deepEqual([none.hits, none.max, none.requests, none.values[5]], [0, 0, 0, 0]);
  await assert.rejects(store.image(500, { ppm: 3, da: 1 }), /either ppm or da/);
  await assert.rejects(store.image(-1, { ppm: 3 }), { code: 'parameter' });
  await assert.rejects(store.image(500, { ppm: 3 }, { slice: 1 }), { code: 'parameter' });
  store.free();
});

test('normalised images, the mean spectrum, and spectra of pixels and regions', async () => {
  const pair = makePair({ width: 12, height: 9, peaks: 400 });
  const target = new ions.MemoryFile();
  const sources = inProcess(pair);
  await ions.pack(...sources, target);
  const store = await ions.IonStore.open(target.blob());
  const withPair = await ions.IonStore.open(target.blob(), { pair: { imzml: sources[0], ibd: sources[1] } });
  const pixels = [...Array(108).keys()];
  const peaks = [...Array(400).keys()];
  const tic = pixels.map((p) => Math.fround(peaks.reduce((sum, j) => sum + pair.intensityOf(p, j), 0)));
  const mean = tic.reduce((a, b) => a + b) / 108;
  const raw = await store.image(pair.mzOf(33), { ppm: 3 });
  const divided = await store.image(pair.mzOf(33), { ppm: 3 }, { normalise: 'tic' });
  for (const p of pixels) assert.equal(divided.values[p], Math.fround((raw.values[p] / tic[p]) * mean));
  await assert.rejects(store.image(300, { ppm: 3 }, { normalise: 'median' }), { code: 'parameter' });
  const spectrum = await store.meanSpectrum();
  const at = spectrum.mz.findIndex((mz) => Math.abs(mz / pair.mzOf(33) - 1) < 1e-5);
  assert.ok(at >= 0);
  const found = await Promise.all([store.spectrum(3, 2), withPair.spectrum(3, 2)]);
  assert.deepEqual(found.map(({ from }) => from), ['store', 'pair']);
  for (const { mz, intensity } of found) {
    assert.deepEqual([...intensity], peaks.map((j) => pair.intensityOf(2 * 12 + 3, j)));
    assert.ok(mz.every((value, j) => Math.abs(value / pair.mzOf(j) - 1) < 1.1e-6));
  }
  assert.deepEqual(found[0].mz, found[1].mz);
  const rect = await Promise.all([store, withPair].map((one) => one.region({ rect: [1, 1, 5, 4] })));
  const polygon = await store.region({ polygon: [[1, 1], [5, 1], [5, 4], [1, 4]] });
  assert.deepEqual(rect.map(({ pixels }) => pixels), [12, 12]);
  assert.deepEqual(polygon.mean, rect[0].mean);
  const sum = rect[0].mean.reduce((a, b) => a + b, 0);
  const inside = pixels.filter((p) => p % 12 >= 1 && p % 12 < 5 && p >= 12 && p < 48);
  const expected = inside.reduce((all, p) => all + tic[p], 0) / 12;
  assert.ok(Math.abs(sum - expected) < 1e-9 * expected, `${sum} for ${expected}`);
  assert.equal(store.planSpectrum({ pixel: [3, 2] }).from, 'store');
  assert.ok(withPair.planSpectrum({ pixel: [3, 2] }).bytes < 8192);
  await assert.rejects(store.spectrum(12, 0), { code: 'parameter' });
  await assert.rejects(store.spectrum(0.5, 0), { code: 'parameter' });
  store.free();
  withPair.free();
});

test('a packing that was cancelled goes on where it was, and gives the same store', async () => {
  const pair = makePair({ width: 64, height: 64, peaks: 400 });
  const whole = new ions.MemoryFile();
  const memory = 16 * MEBIBYTE;
  await ions.pack(...inProcess(pair), whole, { memory });
  for (const saves of [1, 4, 20]) {
    const files = stopping(saves);
    const target = new ions.MemoryFile();
    await assert.rejects(ions.pack(...inProcess(pair), target, { memory, ...files }), { name: 'AbortError' });
    // A store that is not finished is none.
    await assert.rejects(ions.IonStore.open(target.blob()), { code: 'format' });
    const sorting = target.size > 0;
    const [imzml, ibd] = inProcess(pair);
    let bytes = 0;
    const { read } = ibd;
    ibd.read = (start, end) => {
      bytes += end - start;
      return read(start, end);
    };
    await ions.pack(imzml, ibd, target, { memory, ...files, signal: undefined });
    assert.equal(await sha256(target.blob()), await sha256(whole.blob()), `after ${saves}`);
    assert.equal(sorting, saves === 20);
    assert.ok(bytes < (sorting ? 1024 : pair.size), `${bytes} bytes read again`);
  }
});

test('a checkpoint of another pair, of another budget or damaged is not used', async () => {
  const [one, other] = [300, 301].map((peaks) => makePair({ width: 64, height: 64, peaks }));
  const memory = 16 * MEBIBYTE;
  const expected = new ions.MemoryFile();
  await ions.pack(...inProcess(other), expected, { memory });
  const halves = [new ions.MemoryFile(), new ions.MemoryFile()];
  let files;
  const target = new ions.MemoryFile();
  const stopped = async (pair, memory) => {
    files = stopping(3, halves);
    await assert.rejects(ions.pack(...inProcess(pair), target, { memory, ...files }), { name: 'AbortError' });
  };
  const same = async () => {
    await ions.pack(...inProcess(other), target, { memory, ...files, signal: undefined });
    assert.equal(await sha256(target.blob()), await sha256(expected.blob()));
  };
  await stopped(one, memory);
  await same();
  await stopped(other, 24 * MEBIBYTE);
  await same();
  await stopped(other, memory);
  for (const half of halves) half.write(20, Uint8Array.of(255, 255));
  await same();
});

test('a full disk is an error of its own, and making room is enough', async () => {
  const pair = makePair({ width: 64, height: 64, peaks: 400 });
  const memory = 16 * MEBIBYTE;
  const spill = new ions.MemoryFile(10 * MEBIBYTE);
  const files = { spill, state: new ions.Checkpoint(new ions.MemoryFile(), new ions.MemoryFile()) };
  const target = new ions.MemoryFile();
  await assert.rejects(ions.pack(...inProcess(pair), target, { memory, ...files }), { code: 'space', message: /no room/ });
  await assert.rejects(ions.IonStore.open(target.blob()), { code: 'format' });
  spill.limit = Infinity;
  await ions.pack(...inProcess(pair), target, { memory, ...files });
  assert.equal((await ions.IonStore.open(target.blob())).info.peaks, 64 * 64 * 400);
});

test('a budget that is too small is refused with the smallest that works', async () => {
  const pair = makePair({ width: 64, height: 64, peaks: 400 });
  const refused = await ions.planPack(...inProcess(pair), { memory: 3 * MEBIBYTE }).then(() => null, (error) => error);
  assert.equal(refused.code, 'budget');
  const least = Number(/at least --memory (\d+)KiB/.exec(refused.message)[1]) * 1024;
  const plan = await ions.planPack(...inProcess(pair), { memory: least });
  assert.ok(plan.peak_bytes <= least && plan.minimum_bytes <= least);
});

test('pictures and tables of an image', async () => {
  const image = { width: 3, height: 2, values: Float32Array.of(NaN, 0, 7, 1000, 65534, 2.5) };
  for (const alpha of [false, true]) {
    const png = readPng(new Uint8Array(await ions.ionPng(image, { alpha }).arrayBuffer()));
    assert.deepEqual([png.width, png.height, png.depth, png.color], [3, 2, 16, alpha ? 4 : 0]);
    const [bzero, bscale] = [Number(png.text.BZERO), Number(png.text.BSCALE)];
    for (const [i, value] of image.values.entries()) {
      if (Number.isNaN(value)) assert.equal(png.codes[i], 0);
      else assert.ok(Math.abs(bzero + bscale * png.codes[i] - value) <= bscale / 2 + 1e-9);
      if (alpha) assert.equal(png.alpha[i], Number.isNaN(value) ? 0 : 65535);
    }
  }
  const text = await ions.ionCsv({ width: 2, height: 2, values: Float32Array.of(NaN, 0.1, 0, 3.4028234663852886e38) }).text();
  assert.equal(text, 'x,y,intensity\n1,0,0.1\n0,1,0\n1,1,3.4028235e+38\n');
  assert.equal(await ions.ionCsv({ mz: 885.5493, width: 1, height: 1, values: Float32Array.of(2), origin: [5, 3] }).text(), 'x,y,mz_885.5493\n5,3,2\n');
});

test('stacks and ion images live side by side in one realm', async () => {
  const stacks = await import(pathToFileURL(join(SITE, 'core/index.js')).href);
  await stacks.init({ module: readFileSync(join(SITE, 'pkg/sectile_bg.wasm')), memory: 8 * MEBIBYTE });
  assert.ok(stacks.memoryBytes() <= 8 * MEBIBYTE);
  const refused = await stacks.Stack.open([new Blob(['SIMPLE  =                    T'.padEnd(2880)])]).catch((error) => error);
  assert.equal(refused.code, 'format');
  assert.notEqual(stacks.memoryBytes(), ions.memoryBytes());
});
