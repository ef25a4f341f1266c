/**
 * Many at the same time: no wrong byte, no more memory than there is, and a clean refusal beyond that.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { Gate } from '../../www/edge/gate.js';
import { demoObjects, writeDemo } from './edge-demo.mjs';
import { startWorker } from './edge.mjs';

/** What the platform gives an isolate. */
const ISOLATE = 128e6;
const CORE = 64 << 20;

let folder;
let objects;
/** Digests of right answers, by path: from a Worker that was asked for one thing at a time. */
const right = new Map();

/** Tiles of every kind, all of them different. */
const TILES = [
  ...['median', 'rms', 'count', 'frame-1', 'frame-2', 'frame-5', 'frame-12'].flatMap((layer) => [`${layer}/0/0/0`, ...[0, 1].flatMap((x) => [0, 1].map((y) => `${layer}/1/${x}/${y}`))].map((tile) => `/v1/demo/${tile}.png`)),
  ...['788.6164', '731.6062', '760.5851', '734.5694', '782.5694'].map((mz) => `/v1/tissue/mz-${mz}/0/0/0.png`),
  '/v1/tissue/C42H82NO8P+K/0/0/0.png', '/v1/tissue/C42H82NO8P+K/0/0/0.png?isotope=1', '/v1/demo/median/1/0/0.png?alpha=1', '/v1/demo/median/0/0/0.png?tile=512', '/v1/demo/median/1/1/1.png?alpha=1',
];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-edge-load-'));
  writeDemo(folder);
  objects = demoObjects(folder);
  const calm = await startWorker({ objects, queues: false });
  for (const path of TILES) {
    const answer = await calm.ask(path);
    assert.equal(answer.status, 200, path);
    right.set(path, digest(Buffer.from(await answer.arrayBuffer())));
  }
  await calm.stop();
});

after(() => rmSync(folder, { recursive: true, force: true }));

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Most bytes that the isolate has held, by its own account. */
function held(headers) {
  const [core, script] = ['core', 'script'].map((name) => Number(new RegExp(`${name};desc=(\\d+)`).exec(headers['server-timing'])[1]));
  return { core, script };
}

/** Asks for all at once; what came, with the milliseconds it took. */
function all(worker, paths) {
  const start = performance.now();
  return Promise.all(paths.map(async (path) => ({ path, ...(await worker.raw(path)), ms: performance.now() - start })));
}

async function withWorker(setup, work) {
  const worker = await startWorker({ objects, queues: false, ...setup });
  try {
    return await work(worker);
  } finally {
    await worker.stop();
  }
}

test('200 tiles at once of an isolate that has just started: no wrong byte, within its memory', (t) => withWorker({}, async (worker) => {
  const paths = Array.from({ length: 200 }, (_, n) => TILES[(7 * n) % TILES.length]);
  assert.equal(new Set(paths).size, TILES.length);
  const answers = await all(worker, paths);
  for (const { path, status, headers, body } of answers) {
    assert.equal(status, 200, `${path}: ${body}`);
    assert.equal(digest(body), right.get(path), `${path}: other bytes`);
    assert.equal(headers['content-length'], `${body.length}`);
    const { core, script } = held(headers);
    assert.ok(core <= CORE && core + script < ISOLATE, `linear memory ${core}, JavaScript ${script}`);
  }
  const last = held((await worker.raw('/v1')).headers);
  assert.ok(last.core > 1 << 20 && last.script > 0, 'something was held');
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  t.diagnostic(`200 tiles: p50 ${times[100].toFixed(0)} ms, p95 ${times[190].toFixed(0)} ms, ${(200_000 / times[199]).toFixed(0)} a second; linear memory ${(last.core / 1e6).toFixed(1)} MB, JavaScript ${(last.script / 1e6).toFixed(1)} MB`);
  // Each was computed once.
  const computed = answers.filter(({ headers }) => /cache;desc=miss/.test(headers['server-timing']) && Number(headers['x-upstream-requests']) > 0);
  assert.ok(computed.length <= TILES.length + 3, `${computed.length} were computed`);
}));

test('the memory of an isolate does not grow with what it has answered', () => withWorker({}, async (worker) => {
  const round = async (n) => {
    const answers = await all(worker, Array.from({ length: 40 }, (_, at) => `/v1/demo/median.fits?bbox=${n},${at},${300 + n},${at + 200}`));
    for (const { status, body } of answers) assert.equal(status, 200, `${body.subarray(0, 300)}`);
    return held((await worker.raw('/v1')).headers);
  };
  const first = await round(0);
  for (let n = 1; n < 4; n += 1) await round(n);
  const last = await round(4);
  assert.ok(last.core <= 1.25 * first.core + (2 << 20), `linear memory: ${first.core}, then ${last.core}`);
  assert.ok(last.core + last.script < ISOLATE);
}));

test('beyond the gate: 503 that says when to ask again, and then it is there', () => withWorker({ vars: { QUEUE_LENGTH: 4, QUEUE_MS: 300, LIMIT_MEMORY: 8 << 20 } }, async (worker) => {
  const paths = Array.from({ length: 200 }, (_, n) => TILES[(7 * n) % TILES.length]);
  const answers = await all(worker, paths);
  const refused = answers.filter(({ status }) => status !== 200);
  for (const { path, status, headers, body } of answers) {
    if (status === 200) {
      assert.equal(digest(body), right.get(path), `${path}: other bytes`);
      continue;
    }
    assert.equal(status, 503, `${path}: ${body}`);
    assert.equal(headers['retry-after'], '1');
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['content-type'], 'application/problem+json');
    assert.equal(JSON.parse(body).code, 'busy');
  }
  assert.ok(refused.length > 0 && refused.length < answers.length, `${refused.length} of ${answers.length} were refused`);
  // Nothing is left of the crowd: each tile is there for who asks alone.
  for (const path of TILES.slice(0, 12)) {
    const answer = await worker.raw(path);
    assert.equal(answer.status, 200, `${path}: ${answer.body}`);
    assert.equal(digest(answer.body), right.get(path), path);
  }
}));

test('clients that go away keep no place', () => withWorker({ vars: { LIMIT_MEMORY: 8 << 20 } }, async (worker) => {
  await worker.raw('/v1/demo/info');
  const gone = Array.from({ length: 40 }, (_, n) => {
    const stop = new AbortController();
    const asked = fetch(`${worker.base}/v1/demo/median.fits?bbox=0,${n},512,${n + 200}`, { signal: stop.signal }).catch(() => {});
    setTimeout(() => stop.abort(), 5 + n);
    return asked;
  });
  await Promise.all(gone);
  const answers = await all(worker, TILES.slice(0, 12));
  for (const { path, status, body } of answers) {
    assert.equal(status, 200, `${path}: ${body}`);
    assert.equal(digest(body), right.get(path), path);
  }
}));

test('the gate never lets in more than fits, whoever leaves at the same moment', async () => {
  const gate = new Gate(100, { most: 10, wait: 1000 });
  const inside = await Promise.all([gate.enter(50), gate.enter(50)]);
  const waiting = [50, 50, 50].map((bytes) => gate.enter(bytes));
  // Both leave before anybody who waited has been told.
  for (const leave of inside) leave();
  const early = gate.enter(40);
  for (const next of waiting) {
    const leave = await next;
    assert.ok(gate.held <= 100, `${gate.held} of 100`);
    leave();
  }
  (await early)();
  assert.equal(gate.held, 0);
  assert.ok(gate.peak <= 100, `${gate.peak} of 100 at most`);
});
