/**
 * Jobs over the runtime's own queue, and what goes wrong on their way: the same results, or the reason why there are none.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { demoObjects, writeDemo } from './edge-demo.mjs';
import { disturb, ENTRY, happened } from './edge-entry.mjs';
import { startWorker } from './edge.mjs';
import { program, ROOT } from './site.mjs';

const PATIENCE = 60_000;
const SHARDS = 6;
const MEDIAN = { type: 'median', shards: SHARDS };
const ALL = Array.from({ length: SHARDS }, (_, n) => n + 1);
const QUICK = { maxBatchSize: 1, maxBatchTimeout: 0, maxRetries: 1, retryDelay: 0 };
const SECRET = 'a-token-of-some-length';
const DONE = ['done.json', 'job.json', 'median.fits', 'pyramid.fits', 'sent'];
const MASK = ['--mask', 'MASK', '--mask-bits', '1'];

let folder;
let objects;
/** What the command line writes, by a name for the run and those of the results. */
const written = {};

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-edge-jobs-faults-'));
  writeDemo(folder, { exposures: 4, size: 200 });
  const names = [1, 2, 3, 4].map((n) => `exposure_0${n}.fits`);
  objects = demoObjects(folder, ({ datasets }) => {
    datasets.hidden = { ...datasets.demo, token: SECRET };
    datasets.masked = { type: 'stack', exposures: names.map((name) => `masked_${name}`), mask: { hdu: 'MASK', bits: 1 }, jobs: true };
  });
  const run = (...words) => execFileSync(program(), ['--quiet', ...words], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const median = (name, files, ...more) => {
    run('median', ...files, ...more, '-o', `${name}.fits`, '--pyramid', `${name}-pyramid.fits`);
    written[name] = { 'median.fits': readFileSync(join(folder, `${name}.fits`)), 'pyramid.fits': readFileSync(join(folder, `${name}-pyramid.fits`)) };
  };
  median('demo', names);
  for (const [at, name] of names.entries()) objects[`masked_${name}`] = masked(readFileSync(join(folder, name)), 200, at);
  const under = names.map((name) => `masked_${name}`);
  for (const name of under) writeFileSync(join(folder, name), objects[name]);
  median('masked', under, ...MASK);
  run('annotate', 'tissue.sectile', '--molecules', join(ROOT, 'www/ions/molecules.csv'), '--analyzer', 'orbitrap', '--resolving-power', '140000', '--images', 'first', '-o', 'core');
  written.core = Object.fromEntries(['results.csv', 'annotations.json', 'images.sectile-images'].map((name) => [name, readFileSync(join(folder, 'core', name))]));
});

/** A file with one more HDU, in which other pixels of each exposure are to be left out. */
function masked(file, size, exposure) {
  const cards = ["XTENSION= 'IMAGE   '", 'BITPIX  =                    8', 'NAXIS   =                    2', `NAXIS1  = ${`${size}`.padStart(20)}`, `NAXIS2  = ${`${size}`.padStart(20)}`,
    'PCOUNT  =                    0', 'GCOUNT  =                    1', "EXTNAME = 'MASK    '", 'END'];
  const data = Buffer.alloc(Math.ceil((size * size) / 2880) * 2880);
  for (let at = 0; at < size * size; at += 1) data[at] = at % (5 + exposure) === 0 ? 1 : 2;
  return Buffer.concat([file, Buffer.from(cards.map((card) => card.padEnd(80)).join('').padEnd(2880)), data]);
}

/** Two exposures whose median has more bytes than one part of an upload; what the command line writes is kept besides. */
function large() {
  const [width, height] = [1500, 1000];
  const cards = ['SIMPLE  =                    T', 'BITPIX  =                  -32', 'NAXIS   =                    2', `NAXIS1  = ${`${width}`.padStart(20)}`, `NAXIS2  = ${`${height}`.padStart(20)}`, 'END'];
  const head = Buffer.from(cards.map((card) => card.padEnd(80)).join('').padEnd(2880));
  const names = ['large_1.fits', 'large_2.fits'];
  const files = names.map((name, exposure) => {
    const data = Buffer.alloc(Math.ceil((4 * width * height) / 2880) * 2880);
    for (let at = 0; at < width * height; at += 1) data.writeFloatBE(((at * 7919) % 1009) + exposure, 4 * at);
    writeFileSync(join(folder, name), Buffer.concat([head, data]));
    return readFileSync(join(folder, name));
  });
  execFileSync(program(), ['--quiet', 'median', ...names, '-o', 'large.fits', '--pyramid', 'large-pyramid.fits'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  written.large = { 'median.fits': readFileSync(join(folder, 'large.fits')), 'pyramid.fits': readFileSync(join(folder, 'large-pyramid.fits')) };
  return { [names[0]]: files[0], [names[1]]: files[1], 'sectile.json': JSON.stringify({ sectile: 1, datasets: { large: { type: 'stack', exposures: names, jobs: true } } }) };
}

after(() => rmSync(folder, { recursive: true, force: true }));

async function withWorker(setup, work) {
  const worker = await startWorker({ objects, entry: ENTRY, consumer: QUICK, dead: { maxBatchTimeout: 0 }, queues: false, ...setup });
  try {
    return await work(worker);
  } finally {
    await worker.stop();
  }
}

/** Not before its turn: it writes what it compares with. */
const withLarge = (work) => withWorker({ objects: large() }, work);

async function begin(worker, dataset, asked, { status = 202, headers = {} } = {}) {
  const response = await worker.ask(`/v1/${dataset}/jobs`, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(asked) });
  const told = await response.json();
  assert.equal(response.status, status, JSON.stringify(told));
  return { ...told, location: response.headers.get('Location') };
}

const progress = async (worker, location, headers = {}) => (await worker.ask(location, { headers })).json();

/** Waits until a job is in this state; any other end of it is a failure. */
async function until(worker, location, state, headers) {
  const late = Date.now() + PATIENCE;
  for (;;) {
    const told = await progress(worker, location, headers);
    if (told.state === state) return told;
    assert.ok(Date.now() < late && !['done', 'failed'].includes(told.state), `wanted ${state}: ${JSON.stringify(told)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function keys(worker) {
  const all = [];
  for (let page; !page || page.truncated; ) {
    page = await worker.bucket.list({ prefix: '.sectile/jobs/', cursor: page?.cursor });
    all.push(...page.objects.map(({ key }) => key.replace(/^\.sectile\/jobs\/[0-9a-f]{16}\//, '')));
  }
  return all.sort();
}

async function compare(worker, told, expected, headers = {}) {
  assert.deepEqual(told.results.map(({ name }) => name).sort(), Object.keys(expected).sort());
  for (const { name, href } of told.results) {
    const response = await worker.ask(href, { headers });
    assert.equal(response.status, 200, name);
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(expected[name]), `${name} is not what the command line writes`);
  }
}

const message = (told, task) => ({ v: 1, dataset: told.dataset, job: told.id, ...(task === 'assemble' ? { assemble: true } : { shard: task }) });

/** Deals with one message by hand; whether it comes again. */
async function deliver(worker, told, task, queue = 'sectile-shards') {
  const { outcome, ackAll, retryMessages, explicitAcks } = await worker.deliver(queue, [message(told, task)]);
  assert.equal(outcome, 'ok');
  assert.ok(ackAll || retryMessages.length + explicitAcks.length === 1);
  return retryMessages.length === 1;
}

async function deliverAll(worker, told, ...tasks) {
  for (const task of tasks) assert.equal(await deliver(worker, told, task), false, `${task} comes again`);
}

test('what the bucket refuses for a while is tried again by the queue', () => withWorker({ queues: true }, async (worker) => {
  // Three reads of one file: all tries of one delivery.
  await disturb(worker, { key: 'exposure_03.fits', fault: 'error', times: 3 });
  const began = await begin(worker, 'demo', MEDIAN);
  const told = await until(worker, began.location, 'done');
  assert.equal((await happened(worker)).faults, 3);
  await compare(worker, told, written.demo);
  assert.deepEqual(await keys(worker), DONE);
}));

test('what stays refused goes to the dead letters, and its reason is told by shard', () => withWorker({ queues: true }, async (worker) => {
  await disturb(worker, { key: 'exposure_03.fits', fault: 'error', times: 1e9 });
  const began = await begin(worker, 'demo', { type: 'median', shards: 2 });
  const late = Date.now() + PATIENCE;
  let told = await until(worker, began.location, 'failed');
  while (told.shards.failed < 2 && Date.now() < late) told = await progress(worker, began.location);
  assert.deepEqual(told.shards, { total: 2, done: 0, failed: 2, retrying: 0 }, JSON.stringify(told));
  assert.deepEqual(told.failures.map(({ shard }) => shard), [1, 2]);
  for (const { code, reason } of told.failures) {
    assert.equal(code, 'network');
    assert.match(reason, /given up after several tries.*exposure_03\.fits.*internal error/);
  }
  assert.deepEqual(await keys(worker), ['failed/00001.json', 'failed/00002.json', 'job.json', 'sent']);
  // Asked for again once the bucket is well: all of it, by the queue.
  await disturb(worker, {});
  await begin(worker, 'demo', { type: 'median', shards: 2 });
  await compare(worker, await until(worker, began.location, 'done'), written.demo);
  assert.deepEqual(await keys(worker), DONE);
}));

test('messages twice, in any order and all at once: the same bytes', () => withWorker({}, async (worker) => {
  const began = await begin(worker, 'demo', MEDIAN);
  const tasks = [...ALL, ...ALL, 'assemble'];
  // Every third first, and three at a time.
  for (let at = 0; at < 3; at += 1) await Promise.all(tasks.filter((_, n) => n % 3 === at).map((task) => deliver(worker, began, task)));
  await deliverAll(worker, began, ...ALL);
  await Promise.all([deliver(worker, began, 'assemble'), deliver(worker, began, 'assemble'), deliver(worker, began, 3)]);
  const told = await progress(worker, began.location);
  assert.equal(told.state, 'done', JSON.stringify(told));
  await compare(worker, told, written.demo);
  await deliverAll(worker, began, 'assemble', 2, 2);
  assert.deepEqual(await keys(worker), DONE);
}));

test('messages that nobody can read are let go by the queue, and stop nothing', () => withWorker({ queues: true }, async (worker) => {
  const began = await begin(worker, 'demo', MEDIAN);
  for (const poison of ['{', '', 7, [], { v: 1 }, { ...message(began, 1), shard: 0 }, { ...message(began, 1), shard: 1e9 }, { ...message(began, 1), assemble: true }, { ...message(began, 1), more: 1 }]) {
    const { outcome, ackAll, explicitAcks } = await worker.deliver('sectile-shards', [poison]);
    assert.equal(outcome, 'ok');
    assert.ok(ackAll || explicitAcks.length === 1, JSON.stringify(poison));
    await worker.deliver('sectile-dead', [poison]);
  }
  // One that is about a job that never was.
  assert.equal(await deliver(worker, { ...began, id: '0123456789abcdef' }, 1), false);
  await compare(worker, await until(worker, began.location, 'done'), written.demo);
}));

test('a trap in a shard or in the assembly loses the instance and nothing of the job', () => withWorker({}, async (worker) => {
  const began = await begin(worker, 'demo', MEDIAN);
  await deliverAll(worker, began, 1);
  for (const [trap, task] of [['shard_feed', 2], ['shard_ready', 2], ['shard_part', 2], ['part_copy', 2], ['desk_decide', 2], ['desk_shard', 2], ['opening_finish', 2], ['desk_take', 3]]) {
    const before = (await disturb(worker, { trap })).traps;
    const again = await deliver(worker, began, task);
    const { traps } = await happened(worker);
    await disturb(worker, {});
    if (traps === before) continue;
    assert.equal(again, true, `${trap}: the message comes again`);
    assert.ok(!(await keys(worker)).includes('failed/00002.json'));
  }
  assert.ok((await happened(worker)).traps >= 6);
  await deliverAll(worker, began, ...ALL);
  for (const [trap, skip] of [['assembly_turn', 0], ['assembly_turn', 9], ['assembly_feed', 5]]) {
    await disturb(worker, { trap, skip });
    assert.equal(await deliver(worker, began, 'assemble'), true, trap);
    const { state, results } = await progress(worker, began.location);
    assert.deepEqual([state, results], ['assembling', []], trap);
    for (const name of ['median.fits', 'pyramid.fits']) assert.ok((await worker.ask(`${began.location}/${name}`)).status >= 400, 'nothing is seen of it');
  }
  await deliverAll(worker, began, 'assemble');
  await compare(worker, await progress(worker, began.location), written.demo);
  assert.deepEqual(await keys(worker), DONE);
  const { started, traps } = await happened(worker);
  assert.equal(started, traps + 1, 'one new instance a trap');
}));

test('an isolate that is lost in the middle of the assembly', async () => {
  const persist = join(folder, 'bucket');
  const began = await withWorker({ persist }, async (worker) => {
    const job = await begin(worker, 'demo', MEDIAN);
    await deliverAll(worker, job, 1, 2, 3);
    return job;
  });
  await withWorker({ persist, objects: {} }, async (worker) => {
    await deliverAll(worker, began, 4, 5, 6);
    await disturb(worker, { key: `.sectile/jobs/${began.id}/parts/00004`, fault: 'slow', ms: 60_000 });
    deliver(worker, began, 'assemble').catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 400));
  });
  await withWorker({ persist, objects: {} }, async (worker) => {
    assert.equal((await progress(worker, began.location)).state, 'assembling');
    await deliverAll(worker, began, 'assemble');
    await compare(worker, await progress(worker, began.location), written.demo);
    assert.deepEqual(await keys(worker), DONE);
  });
});

test('results above 8 MiB go up in parts: whole, or not at all', () => withLarge(async (worker) => {
  const began = await begin(worker, 'large', { type: 'median', shards: 4 });
  await deliverAll(worker, began, 1, 2, 3, 4);
  await disturb(worker, { part: 2 });
  assert.equal(await deliver(worker, began, 'assemble'), true, 'comes again');
  const failing = await happened(worker);
  assert.deepEqual([failing.begun, failing.completed, failing.aborted], [1, 0, 1]);
  const { state, results, retries } = await progress(worker, began.location);
  assert.deepEqual([state, results], ['assembling', []]);
  assert.match(retries[0].reason, /internal error/);
  assert.ok(!(await keys(worker)).includes('median.fits'));
  assert.ok((await worker.ask(`${began.location}/median.fits`)).status >= 400);
  await deliverAll(worker, began, 'assemble');
  const { begun, completed, aborted } = await happened(worker);
  assert.equal(begun - aborted, completed);
  assert.equal(completed, 2, 'median.fits and pyramid.fits');
  const told = await progress(worker, began.location);
  assert.ok(told.results[0].bytes > 8 << 20, `${told.results[0].bytes}`);
  await compare(worker, told, written.large);
}));

test('a prefix of more than 1,000 keys is listed and removed whole', () => withWorker({}, async (worker) => {
  const began = await begin(worker, 'demo', MEDIAN);
  const at = `.sectile/jobs/${began.id}/`;
  // Before all others in the order of a listing, so that the job's own come on its second page.
  for (let n = 0; n < 1100; n += 50) await Promise.all(Array.from({ length: 50 }, (_, m) => worker.bucket.put(`${at}a${n + m}`, '')));
  await deliverAll(worker, began, ...ALL, 'assemble');
  await compare(worker, await progress(worker, began.location), written.demo);
  assert.equal((await worker.ask(began.location, { method: 'DELETE' })).status, 204);
  assert.deepEqual(await keys(worker), []);
}));

test('a job with masks is what the command line writes with them', () => withWorker({ queues: true }, async (worker) => {
  const began = await begin(worker, 'masked', MEDIAN);
  await compare(worker, await until(worker, began.location, 'done'), written.masked);
  assert.ok(!written.masked['median.fits'].equals(written.demo['median.fits']));
}));

test("a private dataset's job, by the queue", () => withWorker({ queues: true }, async (worker) => {
  const headers = { authorization: `Bearer ${SECRET}` };
  const began = await begin(worker, 'hidden', MEDIAN, { headers });
  const told = await until(worker, began.location, 'done', headers);
  await compare(worker, told, written.demo, headers);
  for (const { href } of told.results) assert.equal((await worker.ask(href)).status, 401);
}));

test('the list that is built in', () => withWorker({ queues: true }, async (worker) => {
  const began = await begin(worker, 'tissue', { type: 'annotation', molecules: 'core', images: 'first', shards: 3 });
  assert.ok(began.shards.total >= 3);
  await compare(worker, await until(worker, began.location, 'done'), written.core);
}));

test('a job that is removed while it runs leaves nothing, and can be asked for again', () => withWorker({ queues: true }, async (worker) => {
  const began = await begin(worker, 'demo', { type: 'median', shards: 40 });
  await until(worker, began.location, 'running');
  assert.equal((await worker.ask(began.location, { method: 'DELETE' })).status, 204);
  assert.equal((await worker.ask(began.location)).status, 404);
  // What is still in the queue finds no job, and removes what it has just written.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.deepEqual(await keys(worker), []);
  const again = await begin(worker, 'demo', { type: 'median', shards: 40 });
  assert.equal(again.id, began.id);
  await compare(worker, await until(worker, began.location, 'done'), written.demo);
  assert.deepEqual(await keys(worker), DONE);
}));

test('a description that is damaged can be removed, and is made anew', () => withWorker({}, async (worker) => {
  for (const damage of ['', 'x', '{"sectile":2}', '{"sectile":1,"id":"0123456789abcdef","dataset":"demo@0","program":"","asked":{"type":"median"},"estimate":{},"work":""}']) {
    const began = await begin(worker, 'demo', MEDIAN);
    await deliverAll(worker, began, 1, 2);
    await worker.bucket.put(`.sectile/jobs/${began.id}/job.json`, damage);
    const told = await worker.ask(began.location);
    assert.ok(told.status >= 400, 'it says so');
    assert.match((await told.json()).detail, /DELETE/);
    // Where it still says whose it is, it is nobody else's.
    if (damage.includes('demo@')) assert.equal((await worker.ask(began.location.replace('/demo/', '/masked/'), { method: 'DELETE' })).status, 404);
    // Its messages find nothing to do; they may come again, and do no harm.
    await deliver(worker, began, 3);
    assert.equal((await worker.ask(began.location, { method: 'DELETE' })).status, 204, damage);
    assert.deepEqual(await keys(worker), []);
  }
  const began = await begin(worker, 'demo', MEDIAN);
  await deliverAll(worker, began, ...ALL, 'assemble');
  await compare(worker, await progress(worker, began.location), written.demo);
}));
