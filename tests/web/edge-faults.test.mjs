/**
 * Files that fail, change or vanish while they are read: what is told, and that the next answer is right again.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { byName, demoObjects, writeDemo } from './edge-demo.mjs';
import { disturb, ENTRY, happened } from './edge-entry.mjs';
import { startOrigin, startWorker } from './edge.mjs';

/** One of the exposures, and another object that stands in for it. */
const FILE = 'exposure_02.fits';
const OTHER = 'other.fits';

let folder;
let objects;
/** PNGs of the first columns and `n` rows of the median: of the files as they are, and with another second one. */
let right;
let replaced;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-edge-faults-'));
  writeDemo(folder, { exposures: 3, size: 120 });
  objects = declared(byName);
  right = await medians(objects);
  replaced = await medians({ ...objects, [FILE]: objects[OTHER] });
  assert.notEqual(right(7), replaced(7));
});

after(() => rmSync(folder, { recursive: true, force: true }));

/** The demo's objects with one more exposure that no dataset has. */
function declared(change) {
  const other = Buffer.from(readFileSync(join(folder, FILE)));
  // Other values in the same headers.
  for (let at = 5760; at < 5760 + 4 * 120 * 120; at += 4) other[at + 1] ^= 0x15;
  return { ...demoObjects(folder, change), [OTHER]: other };
}

const ROWS = Array.from({ length: 40 }, (_, n) => n + 1);
const path = (rows, dataset = 'demo') => `/v1/${dataset}/median.png?bbox=0,0,120,${rows}`;
const digest = async (answer) => createHash('sha256').update(Buffer.from(await answer.arrayBuffer())).digest('hex');

/** Digests by rows, of a Worker that nothing happens to. */
async function medians(held) {
  const worker = await startWorker({ objects: held, queues: false });
  const all = new Map();
  for (const rows of ROWS) all.set(rows, await digest(await worker.ask(path(rows))));
  await worker.stop();
  return (rows) => all.get(rows);
}

/** Runs `work` with a disturbed Worker. Each call of `next` is another cut-out, so that nothing is kept of it. */
async function withWorker(setup, work) {
  const worker = await startWorker({ objects, entry: ENTRY, queues: false, ...setup });
  const rows = [...ROWS];
  const ask = async (dataset) => {
    const n = rows.shift();
    const answer = await worker.ask(path(n, dataset));
    const problem = answer.status === 200 ? undefined : await answer.clone().json();
    return { n, answer, problem, status: answer.status, digest: await digest(answer) };
  };
  try {
    await work(worker, ask);
  } finally {
    await worker.stop();
  }
}

/** That the answer is right: of these files. */
async function assertRight(ask, dataset, expected = right) {
  const { n, digest: got, status, problem } = await ask(dataset);
  assert.equal(status, 200, JSON.stringify(problem));
  assert.equal(got, expected(n), `${n} rows: other bytes`);
}

test('an object of the bucket that is replaced in the middle of a tile: nothing is mixed', () => withWorker({}, async (worker, ask) => {
  await assertRight(ask);
  const { id } = await (await worker.ask('/v1/demo/info')).json();
  await disturb(worker, { key: FILE, fault: 'replace', by: OTHER });
  // Opened anew, it is another version: all of it of the new file.
  await assertRight(ask, 'demo', replaced);
  assert.equal((await happened(worker)).faults, 1);
  assert.notEqual((await (await worker.ask('/v1/demo/info')).json()).id, id);
  assert.equal((await worker.ask(`/v1/${id}/median.png`)).status, 404);
  await worker.bucket.put(FILE, new Uint8Array(objects[FILE]));
  await assertRight(ask);
  assert.equal((await (await worker.ask('/v1/demo/info')).json()).id.split('@')[0], 'demo');
}));

test('an object that is another one at every read is told so, and once it stays it is right', () => withWorker({}, async (worker, ask) => {
  await assertRight(ask);
  const sound = 'sound.fits';
  await worker.bucket.put(sound, new Uint8Array(objects[FILE]));
  await disturb(worker, { key: FILE, fault: 'replace', by: [sound, OTHER], times: 100 });
  const { status, problem, answer } = await ask();
  assert.deepEqual([status, problem?.code], [503, 'changed'], JSON.stringify(problem));
  assert.match(problem.detail, /exposure_02\.fits/);
  assert.notEqual(answer.headers.get('Retry-After'), null);
  await disturb(worker, {});
  await worker.bucket.put(FILE, new Uint8Array(objects[FILE]));
  await assertRight(ask);
}));

test('an object that the catalog states by its tag is no other one, until the catalog says so', () => withWorker({ objects: declared() }, async (worker, ask) => {
  await assertRight(ask);
  await worker.bucket.put(FILE, new Uint8Array(objects[OTHER]));
  for (let n = 0; n < 2; n += 1) {
    const { status, problem } = await ask();
    assert.deepEqual([status, problem?.code], [503, 'changed'], JSON.stringify(problem));
    assert.match(problem.detail, /exposure_02\.fits/);
  }
  await worker.bucket.put(FILE, new Uint8Array(objects[FILE]));
  await assertRight(ask);
}));

test('an object that vanishes or is cut off, before and in the middle', () => withWorker({}, async (worker, ask) => {
  await assertRight(ask);
  const met = async (change, wanted, detail) => {
    await change();
    const { status, problem } = await ask();
    assert.ok(wanted.includes(status), `${status}: ${JSON.stringify(problem)}`);
    assert.match(problem.detail, detail);
    assert.match(problem.detail, /exposure_02\.fits/);
    await disturb(worker, {});
    await worker.bucket.put(FILE, new Uint8Array(objects[FILE]));
    await assertRight(ask);
  };
  await met(() => disturb(worker, { key: FILE, fault: 'replace' }), [502], /no such object/);
  await met(() => worker.bucket.delete(FILE), [502], /no such object/);
  const whole = new Uint8Array(objects[FILE]);
  for (const length of [whole.length - 30_000, 5000, 100]) await met(() => worker.bucket.put(FILE, whole.subarray(0, length)), [500, 502], /byte \d/);
  // An empty one has no range at all: the bucket itself fails by it.
  await met(() => worker.bucket.put(FILE, ''), [500, 502, 503], /byte 0/);
  const rubbish = whole.slice();
  rubbish.fill(0x41, 0, 2880);
  await met(() => worker.bucket.put(FILE, rubbish), [500], /no FITS file/);
}));

test('a bucket that fails for a moment is asked again; one that stays so is told', () => withWorker({}, async (worker, ask) => {
  await assertRight(ask);
  for (const fault of ['error', 'short']) {
    const { faults } = await disturb(worker, { key: FILE, fault, times: 2 });
    await assertRight(ask);
    assert.equal((await happened(worker)).faults, faults + 2, fault);
    await disturb(worker, { key: FILE, fault, times: 100 });
    const { status, problem } = await ask();
    assert.ok([502, 503].includes(status), `${fault}: ${status} ${JSON.stringify(problem)}`);
    assert.match(problem.detail, /exposure_02\.fits/);
    await disturb(worker, {});
    await assertRight(ask);
  }
}));

test('a bucket that is slow: 503 in time, and others are served meanwhile', () => withWorker({ vars: { DEADLINE_MS: 600 } }, async (worker, ask) => {
  await assertRight(ask);
  await disturb(worker, { key: FILE, fault: 'slow', ms: 3000 });
  const start = performance.now();
  const slow = ask();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await assertRight(ask);
  const { status, problem, answer } = await slow;
  assert.deepEqual([status, problem?.code], [503, 'busy'], JSON.stringify(problem));
  assert.equal(answer.headers.get('Retry-After'), '1');
  assert.ok(performance.now() - start < 2500, 'told in time');
  await assertRight(ask);
}));

test('a catalog that is replaced while requests wait: nothing is mixed, nobody is lost', () => withWorker({ vars: { MANIFEST_SECONDS: 0, DEADLINE_MS: 5000, LIMIT_MEMORY: 1_300_000 } }, async (worker, ask) => {
  await assertRight(ask);
  const catalog = JSON.parse(objects['sectile.json']);
  for (let round = 0; round < 4; round += 1) {
    // While one is held up by a file and another waits until it has gone, the catalog becomes another one.
    await disturb(worker, { key: 'exposure_01.fits', fault: 'slow', ms: 400 });
    const slow = [ask(), ask()];
    await new Promise((resolve) => setTimeout(resolve, 40));
    catalog.datasets.demo.exposures = round % 2 ? [1, 2, 3].map((n) => `exposure_0${n}.fits`) : ['exposure_01.fits', OTHER, 'exposure_03.fits'];
    catalog.datasets.demo.title = `round ${round}`;
    await worker.bucket.put('sectile.json', JSON.stringify(catalog));
    await assertRight(ask, 'demo', round % 2 ? right : replaced);
    for (const { n, status, digest: got, problem } of await Promise.all(slow)) {
      assert.ok(status === 200 || problem.code === 'busy', JSON.stringify(problem));
      if (status === 200) assert.ok([right(n), replaced(n)].includes(got), `${n} rows: neither of one catalog nor of the other`);
    }
  }
  assert.equal((await happened(worker)).started, 1, 'no instance was given up for it');
}));

/** The demo, and besides the same stack on a server. */
function remote(origin) {
  return {
    ...declared((catalog) => {
      byName(catalog);
      catalog.origins = [origin.base];
      catalog.datasets.far = { type: 'stack', exposures: [1, 2, 3].map((n) => `${origin.base}/${n}.fits`) };
    }),
  };
}

test('a server that answers wrongly, late or not at all; the next answer is right', async () => {
  const file = () => ({ bytes: readFileSync(join(folder, FILE)) });
  const origin = await startOrigin({ '/1.fits': { bytes: readFileSync(join(folder, 'exposure_01.fits')) }, '/2.fits': file(), '/3.fits': { bytes: readFileSync(join(folder, 'exposure_03.fits')) } });
  try {
    await withWorker({ objects: remote(origin), vars: { ALLOW_PRIVATE_ORIGINS: 'yes', DEADLINE_MS: 1500 } }, async (worker, ask) => {
      await assertRight(ask, 'far');
      const size = file().bytes.length;
      for (const [what, change, wanted] of [
        ['all of it in place of a range', { ranges: false }, [502]], ['503', { status: 503 }, [503]], ['429', { status: 429 }, [503]], ['500', { status: 500 }, [502, 503]], ['404', { status: 404 }, [502]],
        ['403', { status: 403 }, [502]], ['too late', { delay: 4000 }, [503]], ['a connection that is reset', { reset: true }, [502, 503]], ['a body that is cut off', { cut: 100 }, [502, 503]],
        ['another range', { span: `bytes 0-99/${size}` }, [502]], ['a range of a larger file', { span: `bytes 5760-6000/${size + 2880}` }, [502, 503]], ['a range that is none', { span: 'bytes x-y/z' }, [502]],
        ['a range without a size', { span: 'bytes 5760-5761/*' }, [502, 503]],
      ]) {
        origin.files['/2.fits'] = { ...file(), ...change };
        const { status, problem, n } = await ask('far');
        assert.ok(wanted.includes(status), `${what}: ${status} ${n} ${JSON.stringify(problem)}`);
        assert.match(problem.detail, what === 'too late' ? /./ : /\/2\.fits/, what);
        origin.files['/2.fits'] = file();
        await assertRight(ask, 'far');
      }
      // Another file in the middle, by its tag: opened anew, and all of it of the new one.
      origin.files['/2.fits'] = { bytes: objects[OTHER], etag: '"2"' };
      await assertRight(ask, 'far', replaced);
      assert.equal((await happened(worker)).started, 1);
    });
  } finally {
    await origin.stop();
  }
});
