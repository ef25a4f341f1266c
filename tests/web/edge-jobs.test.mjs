/**
 * Jobs over the queue in the real runtime: the same bytes as the command line's, whatever happens to messages.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { demoObjects, writeDemo } from './edge-demo.mjs';
import { startWorker } from './edge.mjs';
import { program } from './site.mjs';

const PATIENCE = 120_000;
const MEDIAN = { type: 'median', shards: 12 };
const ANNOTATION = { type: 'annotation', molecules: 'demo', shards: 8 };
/** Nothing waits longer than this before it is tried again. */
const QUICK = { maxBatchSize: 1, maxBatchTimeout: 0, maxRetries: 2, retryDelay: 0 };

let folder;
let objects;
/** What the command line writes of the same files, by the names of the results. */
const written = {};

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-edge-jobs-'));
  writeDemo(folder, { exposures: 12, size: 300 });
  objects = demoObjects(folder);
  const exposures = JSON.parse(objects['sectile.json']).datasets.demo.exposures.map((exposure) => exposure.url ?? exposure);
  const run = (...words) => execFileSync(program(), ['--quiet', ...words], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  run('median', ...exposures, '-o', 'median.fits', '--pyramid', 'pyramid.fits');
  run('annotate', 'tissue.sectile', '--molecules', 'molecules.csv', '--analyzer', 'orbitrap', '--resolving-power', '140000', '-o', 'found');
  for (const name of ['median.fits', 'pyramid.fits']) written[name] = readFileSync(join(folder, name));
  for (const name of ['results.csv', 'annotations.json', 'images.sectile-images']) written[name] = readFileSync(join(folder, 'found', name));
});

after(() => rmSync(folder, { recursive: true, force: true }));

async function withWorker(setup, work) {
  const worker = await startWorker({ objects, consumer: QUICK, ...setup });
  try {
    return await work(worker);
  } finally {
    await worker.stop();
  }
}

/** Asks for a job. */
async function begin(worker, dataset, asked, status = 202) {
  const response = await worker.ask(`/v1/${dataset}/jobs`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(asked) });
  const told = await response.json();
  assert.equal(response.status, status, JSON.stringify(told));
  return { ...told, location: response.headers.get('Location') };
}

async function progress(worker, location) {
  const response = await worker.ask(location);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('Cache-Control'), /no-store|no-cache/);
  return response.json();
}

/** Waits until a job is in one of these states. */
async function until(worker, location, ...states) {
  const late = Date.now() + PATIENCE;
  for (;;) {
    const told = await progress(worker, location);
    if (states.includes(told.state)) return told;
    assert.ok(Date.now() < late, `still ${JSON.stringify(told)}`);
    assert.notEqual(told.state, 'failed', JSON.stringify(told.failures));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function keys(worker, prefix = '.sectile/jobs/') {
  const { objects: listed } = await worker.bucket.list({ prefix });
  return listed.map(({ key }) => key.replace(/^\.sectile\/jobs\/[0-9a-f]{16}\//, '')).sort();
}

/** Every result of a finished job, compared with what the command line wrote. */
async function compare(worker, told) {
  assert.ok(told.results.length >= 2);
  for (const { name, bytes, href } of told.results) {
    const response = await worker.ask(href);
    assert.equal(response.status, 200, name);
    const body = Buffer.from(await response.arrayBuffer());
    assert.equal(body.length, bytes, name);
    assert.ok(body.equals(written[name]), `${name} is not what the command line writes`);
  }
}

/** Messages of a job by hand, and dealt with in this order. */
async function deliver(worker, told, ...tasks) {
  const messages = tasks.map((task) => ({ v: 1, dataset: told.dataset, job: told.id, ...(task === 'assemble' ? { assemble: true } : { shard: task }) }));
  const outcomes = [];
  for (const message of messages) outcomes.push(await worker.deliver('sectile-shards', [message]));
  return outcomes;
}

const DONE = ['done.json', 'job.json', 'median.fits', 'pyramid.fits', 'sent'];

test('a median in 12 shards is what the command line writes', () => withWorker({}, async (worker) => {
  const began = await begin(worker, 'demo', MEDIAN);
  assert.equal(began.shards.total, 12);
  assert.equal(began.state, 'queued');
  const told = await until(worker, began.location, 'done');
  assert.deepEqual(told.shards, { total: 12, done: 12, failed: 0, retrying: 0 });
  await compare(worker, told);
  assert.deepEqual(await keys(worker), DONE);
  const again = await begin(worker, 'demo', MEDIAN, 200);
  assert.equal(again.state, 'done');
  assert.equal(again.id, told.id);
}));

test('an annotation in 8 shards is what the command line writes', () => withWorker({}, async (worker) => {
  const began = await begin(worker, 'tissue', ANNOTATION);
  assert.equal(began.shards.total, 8);
  const told = await until(worker, began.location, 'done');
  assert.equal(told.results.length, 3);
  await compare(worker, told);
}));

test('ranges, tags and heads of results', () => withWorker({}, async (worker) => {
  const began = await begin(worker, 'demo', { type: 'median' });
  const early = await worker.ask(`${began.location}/median.fits`);
  assert.ok([200, 409].includes(early.status));
  await early.arrayBuffer();
  await until(worker, began.location, 'done');
  const file = `${began.location}/median.fits`;
  const whole = written['median.fits'];
  const part = await worker.ask(file, { headers: { Range: 'bytes=100-199' } });
  assert.equal(part.status, 206);
  assert.equal(part.headers.get('Content-Range'), `bytes 100-199/${whole.length}`);
  assert.ok(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(100, 200)));
  const tag = part.headers.get('ETag');
  assert.equal((await worker.ask(file, { headers: { 'If-None-Match': tag } })).status, 304);
  const head = await worker.ask(file, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.headers.get('Content-Length'), `${whole.length}`);
  const outside = await worker.ask(file, { headers: { Range: `bytes=${whole.length}-` } });
  assert.equal(outside.status, 416);
  assert.equal(outside.headers.get('Content-Range'), `bytes */${whole.length}`);
  await outside.arrayBuffer();
  for (const none of ['results.csv', 'job.json', '..%2Fjob.json']) {
    const response = await worker.ask(`${began.location}/${none}`);
    assert.ok([400, 404].includes(response.status), none);
    await response.arrayBuffer();
  }
}));

test('twice, out of order, and after it is done: the same', () => withWorker({ queues: false }, async (worker) => {
  const began = await begin(worker, 'demo', MEDIAN);
  await deliver(worker, began, 7, 7, 'assemble', 12, 3, 2, 1, 12, 11, 10);
  const running = await progress(worker, began.location);
  assert.equal(running.state, 'running');
  assert.equal(running.shards.done, 7);
  assert.ok(running.tally.requests >= 7 * 12, JSON.stringify(running.tally));
  assert.ok(running.tally.bytes_fetched > 0);
  await deliver(worker, began, 9, 8, 6, 5, 4);
  assert.equal((await progress(worker, began.location)).state, 'assembling');
  await Promise.all([deliver(worker, began, 'assemble'), deliver(worker, began, 'assemble'), deliver(worker, began, 5)]);
  await deliver(worker, began, 5, 'assemble');
  const told = await until(worker, began.location, 'done');
  await compare(worker, told);
  assert.deepEqual(await keys(worker), DONE);
}));

test('an isolate that is started anew goes on where the last one was', async () => {
  const persist = join(folder, 'bucket');
  const began = await withWorker({ persist, queues: false }, async (worker) => {
    const job = await begin(worker, 'demo', MEDIAN);
    await deliver(worker, job, 1, 2, 3, 4, 5);
    return job;
  });
  await withWorker({ persist, objects: {}, queues: false }, async (worker) => {
    assert.equal((await progress(worker, began.location)).shards.done, 5);
    await deliver(worker, began, 6, 7, 8, 9, 10, 11, 12, 'assemble');
    await compare(worker, await until(worker, began.location, 'done'));
  });
});

test('messages that nobody can read are let go', () => withWorker({ queues: false }, async (worker) => {
  const began = await begin(worker, 'demo', MEDIAN);
  const good = { v: 1, dataset: began.dataset, job: began.id, shard: 1 };
  for (const poison of ['hello', 7, null, {}, { ...good, v: 2 }, { ...good, shard: 13 }, { ...good, dataset: 'tissue@00000000' }, { ...good, job: '../../x' }]) {
    const { outcome, ackAll, retryBatch, explicitAcks } = await worker.deliver('sectile-shards', [poison]);
    assert.equal(outcome, 'ok');
    assert.ok(ackAll || explicitAcks.length === 1, JSON.stringify(poison));
    assert.equal(retryBatch.retry, false);
  }
  assert.deepEqual(await keys(worker), ['job.json', 'sent']);
}));

test('what is removed in the middle stays removed', () => withWorker({ queues: false }, async (worker) => {
  const began = await begin(worker, 'demo', MEDIAN);
  await deliver(worker, began, 1, 2);
  const late = deliver(worker, began, 3, 4, 5);
  assert.equal((await worker.ask(began.location, { method: 'DELETE' })).status, 204);
  await late;
  await deliver(worker, began, 6, 'assemble');
  assert.deepEqual(await keys(worker), []);
  assert.equal((await worker.ask(began.location)).status, 404);
  assert.equal((await worker.ask(began.location, { method: 'DELETE' })).status, 404);
  assert.equal((await begin(worker, 'demo', MEDIAN)).state, 'queued');
}));

test('what cannot be read is given up with its reason, and tried again when asked for again', () => withWorker({ queues: false }, async (worker) => {
  const began = await begin(worker, 'demo', MEDIAN);
  const sound = Buffer.from(objects['exposure_03.fits']);
  await worker.bucket.delete('exposure_03.fits');
  await deliver(worker, began, 1);
  const dead = { v: 1, dataset: began.dataset, job: began.id, shard: 1 };
  await worker.deliver('sectile-dead', [dead, dead]);
  const told = await progress(worker, began.location);
  assert.equal(told.state, 'failed');
  assert.equal(told.failures.length, 1);
  assert.equal(told.failures[0].shard, 1);
  assert.match(told.failures[0].reason, /exposure_03\.fits/);
  assert.deepEqual(await keys(worker), ['failed/00001.json', 'job.json', 'sent']);
  await worker.bucket.put('exposure_03.fits', new Uint8Array(sound));
  assert.equal((await begin(worker, 'demo', MEDIAN)).state, 'queued');
}));

test('a damaged part is named, and the job is made anew when asked for again', () => withWorker({ queues: false }, async (worker) => {
  const began = await begin(worker, 'demo', MEDIAN);
  const all = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
  await deliver(worker, began, ...all);
  const key = `.sectile/jobs/${began.id}/parts/00004`;
  const bytes = new Uint8Array(await (await worker.bucket.get(key)).arrayBuffer());
  bytes[bytes.length - 1] ^= 1;
  await worker.bucket.put(key, bytes);
  await deliver(worker, began, 'assemble');
  const told = await progress(worker, began.location);
  assert.equal(told.state, 'failed');
  assert.equal(told.failures[0].assembly, true);
  assert.match(told.failures[0].reason, /parts\/00004/);
  assert.ok(!(await keys(worker)).includes('done.json'));
  await begin(worker, 'demo', MEDIAN);
  await deliver(worker, began, ...all, 'assemble');
  await compare(worker, await until(worker, began.location, 'done'));
}));

test('tiles that take too much have a job begun, and come from its pyramid when it is done', () => withWorker({ vars: { LIMIT_CPU_MS: 8 } }, async (worker) => {
  const tile = '/v1/demo/median/0/0/0.png';
  const wanted = await withWorker({ queues: false }, async (plain) => Buffer.from(await (await plain.ask(tile)).arrayBuffer()));
  const response = await worker.ask(tile);
  const told = await response.json();
  assert.equal(response.status, 202, JSON.stringify(told));
  const location = response.headers.get('Location');
  assert.ok(told.shards.total > 1);
  await until(worker, location, 'done');
  const served = await worker.ask(tile);
  assert.equal(served.status, 200);
  assert.equal(served.headers.get('Content-Type'), 'image/png');
  assert.ok(Buffer.from(await served.arrayBuffer()).equals(wanted), 'another tile');
  const next = await worker.ask('/v1/demo/count/0/0/0.png');
  assert.equal(next.status, 200);
  assert.equal(next.headers.get('X-Upstream-Requests'), '1', 'one range a tile');
  await next.arrayBuffer();
}));

test('jobs that no number of shards makes possible, and descriptions that are none, are refused', () => withWorker({ vars: { LIMIT_REQUESTS: 20 }, queues: false }, async (worker) => {
  const ask = async (dataset, body, headers = { 'Content-Type': 'application/json' }) => {
    const response = await worker.ask(`/v1/${dataset}/jobs`, { method: 'POST', headers, body });
    return [response.status, await response.json()];
  };
  const [status, problem] = await ask('demo', '{"type":"median"}');
  assert.equal(status, 413);
  assert.equal(problem.code, 'budget');
  assert.equal(problem.limits.requests, 20);
  for (const [dataset, body, wanted] of [
    ['demo', 'x', 400], ['demo', '{"type":"median","rect":1}', 400], ['demo', '{"type":"annotation","molecules":"core"}', 404],
    ['tissue', '{"type":"median"}', 404], ['tissue', '{"type":"annotation","molecules":"none"}', 404], ['none', '{}', 404],
    ['demo', ' '.repeat(20_000), 413],
  ]) {
    const [got, told] = await ask(dataset, body);
    assert.equal(got, wanted, `${body}: ${JSON.stringify(told)}`);
  }
  assert.deepEqual(await keys(worker), []);
}));
