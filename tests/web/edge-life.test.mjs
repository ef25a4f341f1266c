/**
 * The Worker's isolate: a lost instance, what changes under it, what it may hold, and servers that it asks.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { Gate } from '../../www/edge/gate.js';
import { byName, demoObjects, writeDemo } from './edge-demo.mjs';
import { startOrigin, startWorker } from './edge.mjs';

/** Stands before the Worker and lets a call of the core trap: the next one whose name is in a header. */
const SABOTAGE = `
  import worker from './worker.js';
  const { instantiate } = WebAssembly;
  let armed;
  let started = 0;
  WebAssembly.instantiate = async (module, imports) => {
    started += 1;
    const { exports: real } = await instantiate.call(WebAssembly, module, imports);
    const exports = {};
    for (const [name, one] of Object.entries(real)) {
      exports[name] = typeof one !== 'function' ? one : (...given) => {
        if (armed && name.includes(armed)) {
          armed = undefined;
          throw new WebAssembly.RuntimeError('unreachable');
        }
        return one(...given);
      };
    }
    return { instance: { exports }, module };
  };
  export default {
    fetch(request, env, context) {
      if (request.url.endsWith('/started')) return Response.json(started);
      armed = request.headers.get('x-trap') ?? armed;
      return worker.fetch(request, env, context);
    },
  };
`;

let folder;
let objects;
const TILE = '/v1/demo/median/0/0/0.png';

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-edge-life-'));
  writeDemo(folder, { exposures: 3, size: 200 });
  objects = demoObjects(folder);
});

after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs `work` with a Worker, and with an origin of these files if there are any. */
async function withWorker(setup, work, files) {
  const origin = files && (await startOrigin(files));
  const { objects: told = objects, remote: declared, ...rest } = setup;
  const worker = await startWorker({ ...rest, objects: declared ? declared(origin) : typeof told === 'function' ? told() : told });
  try {
    await work(worker, origin);
  } finally {
    await worker.stop();
    await origin?.stop();
  }
}

/** The demo, and besides a stack of two exposures on the origin. */
function remote(origin) {
  return demoObjects(folder, (catalog) => {
    catalog.origins = [origin.base];
    catalog.datasets.far = { type: 'stack', exposures: [1, 2].map((n) => `${origin.base}/${n}.fits`) };
  });
}

const exposures = () => Object.fromEntries([1, 2].map((n) => [`/${n}.fits`, { bytes: readFileSync(join(folder, `exposure_0${n}.fits`)) }]));
const PRIVATE = { ALLOW_PRIVATE_ORIGINS: 'yes' };
const problem = async (answer) => ({ status: answer.status, ...(await answer.json()) });
const sha = async (answer) => Buffer.from(await crypto.subtle.digest('SHA-256', await answer.arrayBuffer())).toString('hex');

test('a trap loses what was under way and nothing else', () => withWorker({ entry: SABOTAGE, vars: PRIVATE, remote }, async (worker, origin) => {
  const right = await sha(await worker.ask(TILE));
  assert.equal((await worker.ask('/v1/far/info')).status, 200);
  for (const file of Object.values(origin.files)) file.delay = 3000;
  const start = Date.now();
  const slow = worker.ask('/v1/far/median.fits');
  await new Promise((resolve) => setTimeout(resolve, 200));
  const lost = await worker.ask('/v1/demo/count.png', { headers: { 'x-trap': 'answer_feed' } });
  for (const answer of [lost, await slow]) {
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.get('retry-after'), '1');
    assert.equal((await answer.json()).code, 'busy');
  }
  assert.ok(Date.now() - start < 2500, 'who waits is told at once');
  for (const file of Object.values(origin.files)) file.delay = 0;
  assert.equal((await worker.ask('/v1/demo/count.png')).status, 200);
  assert.equal(await sha(await worker.ask('/v1/demo/median/0/0/0.png?alpha=0')), right);
  assert.equal((await worker.ask('/v1/far/median.fits')).status, 200);
  for (const call of ['service_ask', 'opening_need', 'answer_reply', 'service_outer']) {
    const answer = await worker.ask(`/v1/demo/frame-1.fits?bbox=0,0,${call.length},9`, { headers: { 'x-trap': call } });
    assert.ok([200, 503].includes(answer.status), `${call}: ${answer.status}`);
    await answer.arrayBuffer();
    assert.equal((await worker.ask('/v1/demo/frame-2.png')).status, 200, call);
  }
  assert.ok((await (await worker.ask('/started')).json()) >= 3);
}, exposures()));

test('what an isolate holds stays below what it has', () => withWorker({}, async (worker) => {
  const asked = Array.from({ length: 60 }, (_, n) => `/v1/demo/median.fits?bbox=0,${n},200,${n + 100}`);
  const answers = await Promise.all(asked.map((path) => worker.ask(path)));
  let last = '';
  for (const answer of answers) {
    assert.equal(answer.status, 200);
    await answer.arrayBuffer();
  }
  last = (await worker.ask('/v1')).headers.get('server-timing');
  const [core, script] = ['core', 'script'].map((name) => Number(new RegExp(`${name};desc=(\\d+)`).exec(last)[1]));
  assert.ok(core > 1 << 20 && core <= 64 << 20, `linear memory: ${core}`);
  assert.ok(script > 0 && core + script < 128e6, `${core} and ${script}`);
}));

test('the gate lets in what fits, in turn, and turns away what waits too long', async () => {
  const gate = new Gate(100, { most: 2, wait: 50 });
  const one = await gate.enter(60);
  const order = [];
  const two = gate.enter(60).then((leave) => (order.push(2), leave));
  const three = gate.enter(10).then((leave) => (order.push(3), leave));
  await assert.rejects(gate.enter(1), { code: 'busy' }, 'two wait already');
  assert.equal(gate.held, 60, 'who came later does not go first');
  one();
  one();
  const leave = await two;
  (await three)();
  assert.deepEqual(order, [2, 3]);
  await assert.rejects(gate.enter(101), { code: 'busy' });
  await assert.rejects(gate.enter(50), { code: 'busy' });
  leave();
  assert.equal(gate.held, 0);
  (await gate.enter(100))();
  assert.ok(gate.peak <= 100);
});

test('beyond what fits, requests are told 503 and when to ask again', () => withWorker({ vars: { QUEUE_LENGTH: 1, QUEUE_MS: 200, LIMIT_MEMORY: 3 << 20 } }, async (worker) => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => worker.ask(`/v1/demo/median.fits?bbox=0,0,200,${50 + n}`)));
  const found = await Promise.all(answers.map(async (answer) => [answer.status, answer.headers.get('retry-after'), (await answer.arrayBuffer()).byteLength]));
  assert.ok(found.every(([status, after]) => status === 200 || (status === 503 && after === '1')), JSON.stringify(found));
  assert.ok(found.some(([status]) => status === 200) && found.some(([status]) => status === 503), JSON.stringify(found.map(([status]) => status)));
}));

test('what many ask for at the same time is computed once', () => withWorker({}, async (worker) => {
  await worker.ask('/v1/demo/info');
  const answers = await Promise.all(Array.from({ length: 12 }, () => worker.ask(TILE)));
  const requests = answers.map((answer) => Number(answer.headers.get('x-upstream-requests')));
  assert.equal(requests.reduce((sum, count) => sum + count), 3);
  const all = await Promise.all(answers.map(sha));
  assert.equal(new Set(all).size, 1);
}));

test('an object that is replaced is another version', () => withWorker({ objects: () => demoObjects(folder, byName), vars: { MANIFEST_SECONDS: 0 } }, async (worker) => {
  const { id } = await (await worker.ask('/v1/demo/info')).json();
  const before = await sha(await worker.ask(TILE));
  await worker.bucket.put('exposure_01.fits', new Uint8Array(objects['exposure_02.fits']));
  const point = await worker.ask('/v1/demo/frame-1/point/5,5');
  assert.equal(point.status, 200, await point.text());
  const now = await (await worker.ask('/v1/demo/info')).json();
  assert.notEqual(now.id, id);
  assert.notEqual(await sha(await worker.ask(TILE)), before);
  assert.equal((await worker.ask(`/v1/${id}/median/0/0/0.png`)).status, 404, 'its address named the version');
  await worker.bucket.delete('exposure_01.fits');
  const gone = await problem(await worker.ask('/v1/demo/median/statistics'));
  assert.equal(gone.status, 502, JSON.stringify(gone));
  assert.match(gone.detail, /exposure_01\.fits/);
}));

test('the catalog is read again', () => withWorker({ vars: { MANIFEST_SECONDS: 0 } }, async (worker) => {
  assert.equal((await worker.ask('/v1/demo/info')).status, 200);
  const catalog = JSON.parse(objects['sectile.json']);
  catalog.datasets.other = catalog.datasets.demo;
  catalog.datasets.broken = { type: 'stack', exposures: [] };
  delete catalog.datasets.demo;
  await worker.bucket.put('sectile.json', JSON.stringify(catalog));
  assert.equal((await worker.ask('/v1/demo/info')).status, 404);
  assert.equal((await worker.ask('/v1/other/info')).status, 200);
  assert.equal((await problem(await worker.ask('/v1/broken/info'))).code, 'catalog');
  await worker.bucket.put('sectile.json', 'not JSON');
  const wrong = await problem(await worker.ask('/v1/other/info'));
  assert.deepEqual([wrong.status, wrong.code], [500, 'catalog']);
  await worker.bucket.delete('sectile.json');
  assert.equal((await problem(await worker.ask('/v1'))).code, 'catalog');
}));

test('files of another server: by ranges, never by a redirect, and only where the catalog allows it', () => withWorker({ vars: PRIVATE, remote }, async (worker, origin) => {
  const right = await worker.ask('/v1/far/median.fits');
  assert.equal(right.status, 200, 'two exposures of the origin');
  await right.arrayBuffer();
  assert.ok(origin.log.every(({ range }) => range), 'every request has a range');
  const met = async (change, route) => {
    Object.assign(origin.files['/1.fits'], change);
    const answer = await problem(await worker.ask(route));
    for (const name of Object.keys(change)) delete origin.files['/1.fits'][name];
    origin.files['/1.fits'].bytes = readFileSync(join(folder, 'exposure_01.fits'));
    return answer;
  };
  const asked = origin.log.length;
  assert.equal((await met({ status: 302, location: `${origin.base}/2.fits` }, '/v1/far/median.fits?bbox=0,0,9,1')).status, 502);
  assert.ok(origin.log.slice(asked).filter(({ path }) => path === '/2.fits').length <= 1, 'the redirect was not followed');
  assert.equal((await met({ ranges: false }, '/v1/far/median.fits?bbox=0,0,9,2')).status, 502);
  assert.equal((await met({ status: 404 }, '/v1/far/median.fits?bbox=0,0,9,3')).status, 502);
  assert.equal((await met({ status: 503 }, '/v1/far/median.fits?bbox=0,0,9,4')).status, 503);
  const changed = await met({ etag: '"2"' }, '/v1/far/median.fits?bbox=0,0,9,5').catch((error) => error);
  assert.ok(changed instanceof SyntaxError || changed.status === 503, 'opened anew, or told so');
}, exposures()));

test('who goes away takes nothing from those who wait for the same', () => withWorker({ vars: { ...PRIVATE, DEADLINE_MS: 8000 }, remote }, async (worker, origin) => {
  assert.equal((await worker.ask('/v1/far/info')).status, 200);
  for (const file of Object.values(origin.files)) file.delay = 700;
  const path = '/v1/far/median.fits?bbox=0,0,9,9';
  const leaver = new AbortController();
  const left = assert.rejects(worker.raw(path, { signal: leaver.signal }));
  await new Promise((resolve) => setTimeout(resolve, 200));
  const waiting = worker.raw(path);
  await new Promise((resolve) => setTimeout(resolve, 100));
  leaver.abort();
  await left;
  assert.equal((await waiting).status, 200);
  assert.equal((await worker.raw(path)).status, 200);
}, exposures()));

test('a private address is refused where nobody has allowed it', () => withWorker({ remote }, async (worker, origin) => {
  const answer = await problem(await worker.ask('/v1/far/info'));
  assert.equal(answer.status, 500);
  assert.equal(answer.code, 'catalog');
  assert.equal(origin.log.length, 0);
}, exposures()));

test('an answer that takes too long is told so', () => withWorker({ vars: { ...PRIVATE, DEADLINE_MS: 400 }, remote }, async (worker, origin) => {
  assert.equal((await worker.ask('/v1/far/info')).status, 200);
  for (const file of Object.values(origin.files)) file.delay = 2000;
  const start = Date.now();
  const late = await problem(await worker.ask('/v1/far/median.fits'));
  assert.deepEqual([late.status, late.code], [503, 'busy']);
  assert.ok(Date.now() - start < 1500);
  assert.equal((await worker.ask(TILE)).status, 200);
}, exposures()));
