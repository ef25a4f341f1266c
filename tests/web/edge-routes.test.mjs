/**
 * The Worker in its runtime: every address answers what the core computes natively, with its headers and at its cost.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { byName, demoObjects, writeDemo } from './edge-demo.mjs';
import { startWorker } from './edge.mjs';
import { readPng } from './png.mjs';
import { program, serve } from './site.mjs';

/** One of every kind of address. */
const ROUTES = [
  '/v1/demo/info', '/v1/tissue/info',
  '/v1/demo/median/0/0/0.png', '/v1/demo/median/1/1/0.png', '/v1/demo/median/1/0/1.png?tile=256&alpha=1', '/v1/demo/median/0/0/0.png?tile=512',
  '/v1/demo/count/1/1/1.png', '/v1/demo/rms/1/0/1.png', '/v1/demo/rms/point/3,500', '/v1/demo/frame-07/1/0/0.png',
  '/v1/demo/median.png', '/v1/demo/median.fits', '/v1/demo/median.fits?bbox=17,100,300,131', '/v1/demo/frame-12.fits?bbox=0,0,8,8',
  '/v1/demo/median/point/3,500', '/v1/demo/count/point/3,500', '/v1/demo/spectrum?x=100&y=90',
  '/v1/demo/median/statistics', '/v1/demo/frame-2/statistics?bbox=0,0,64,64', '/v1/demo/median/tilejson.json',
  '/v1/tissue/mz-788.6164/0/0/0.png', '/v1/tissue/mz-788.6164.png?tol=5ppm', '/v1/tissue/mz-788.6164.fits?norm=tic', '/v1/tissue/mz-788.6164.fits?norm=rms',
  '/v1/tissue/C42H82NO8P+K.fits', '/v1/tissue/C42H82NO8P+K/0/0/0.png?isotope=1', '/v1/tissue/mz-788.6164/point/20,10', '/v1/tissue/mz-788.6164/statistics',
  '/v1/tissue/mz-788.6164/tilejson.json', '/v1/tissue/spectrum?x=20&y=10', '/v1/tissue/spectrum', '/openapi.json', '/v1',
];

let folder;
let worker;
let native;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-edge-'));
  writeDemo(folder);
  worker = await startWorker({ objects: demoObjects(folder), persist: join(folder, 'bucket') });
  native = await serve(program(), ['serve', folder, '--port', '0']);
});

after(async () => {
  await worker?.stop();
  await native?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const bytesOf = async (answer) => Buffer.from(await answer.arrayBuffer());
const told = (answer, name) => Number(answer.headers.get(`x-upstream-${name}`));
/** Ids carry the versions of files, which every host tells in its own way; what a host may take and is differs too. */
const same = (body) => body.toString('latin1').replaceAll(/@[0-9a-f]{8}/g, '@').replaceAll(/"version":"[0-9a-f]{8}"/g, '""').replaceAll(/"(limits|jobs)":(\{[^}]*\}|true|false),?/g, '');

test('every address answers the bytes that the program answers natively', async () => {
  for (const route of ROUTES) {
    const [edge, here] = [await worker.ask(route), await fetch(`${native.base.replace(/\/$/, '')}${route}`)];
    const [body, expected] = [await bytesOf(edge), await bytesOf(here)];
    assert.equal(edge.status, 200, `${route}: ${body}`);
    assert.equal(here.status, 200, `${route}: ${expected}`);
    assert.ok(body.length > 0, route);
    for (const name of ['content-type', 'x-bzero', 'x-bscale', 'x-blank', 'x-bunit']) assert.equal(edge.headers.get(name), here.headers.get(name), `${route}: ${name}`);
    if (/\.png/.test(route)) assert.ok(body.equals(expected), `${route}: other bytes`);
    else if (/\.fits/.test(route)) assert.equal(same(body) === same(expected), true, `${route}: other bytes`);
    else if (!route.startsWith('/openapi')) assert.equal(same(body), same(expected), route);
  }
});

test('a cut-out has the values that `sectile median` writes, and a tile their codes', async () => {
  const file = join(folder, 'median.fits');
  execFileSync(program(), ['--quiet', 'median', 'exposure_*.fits', '-o', file], { cwd: folder, shell: true });
  const written = readFileSync(file);
  const size = 512;
  // Both put the median into the primary HDU.
  const data = (bytes) => {
    let at = 0;
    while (!bytes.subarray(at, at + 2880).toString('latin1').match(/END {77}/)) at += 2880;
    return bytes.subarray(at + 2880, at + 2880 + 4 * size * size);
  };
  const values = data(written);
  assert.ok(data(await bytesOf(await worker.ask('/v1/demo/median.fits'))).equals(values));
  const tile = await worker.ask('/v1/demo/median/1/1/0.png');
  const [zero, scale] = ['x-bzero', 'x-bscale'].map((name) => Number(tile.headers.get(name)));
  const { codes, width } = readPng(await bytesOf(tile));
  assert.equal(width, 256);
  for (const [x, y] of [[0, 0], [255, 0], [17, 200], [255, 255]]) {
    const value = values.readFloatBE(4 * ((size - 1 - y) * size + 256 + x));
    const code = codes[y * width + x];
    if (Number.isNaN(value)) assert.equal(code, 0);
    else assert.ok(Math.abs(zero + scale * code - value) <= 0.51 * scale, `${x},${y}: ${zero + scale * code} is not ${value}`);
  }
});

test('an ion image has the values that `sectile ion` writes', async () => {
  execFileSync(program(), ['--quiet', 'ion', 'tissue.sectile', '--mz', '788.6164', '--ppm', '3', '-o', 'ion.npy'], { cwd: folder });
  const written = readFileSync(join(folder, 'ion.npy'));
  const [, rows, columns] = /\((\d+), (\d+)\)/.exec(written.toString('latin1', 0, 128)).map(Number);
  const served = await bytesOf(await worker.ask('/v1/tissue/mz-788.6164.fits'));
  const from = written.subarray(10 + written.readUInt16LE(8));
  const data = served.subarray(Math.ceil((served.indexOf('END'.padEnd(80)) + 80) / 2880) * 2880);
  let signal = 0;
  for (let at = 0; at < 4 * rows * columns; at += 4) {
    const [expected, value] = [from.readFloatLE(at), data.readFloatBE(at)];
    assert.ok(Object.is(expected, value) || expected === value, `pixel ${at / 4}: ${value} is not ${expected}`);
    signal += value > 0;
  }
  assert.ok(signal > 0);
});

test('an answer is kept and told by tag; what depends on who asks is put on outside', async () => {
  const { id } = await (await worker.ask('/v1/demo/info')).json();
  const route = `/v1/${id}/median/1/1/1.png`;
  const first = await worker.ask(route, { headers: { Origin: 'https://one.example.org' } });
  const body = await bytesOf(first);
  assert.equal(first.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(first.headers.get('access-control-allow-origin'), '*');
  assert.equal(first.headers.get('x-content-type-options'), 'nosniff');
  assert.match(first.headers.get('server-timing'), /cache;desc=miss/);
  assert.equal(told(first, 'requests'), 12);
  const again = await worker.ask('/v1/demo/median/1/1/1.png?tile=256');
  assert.ok((await bytesOf(again)).equals(body));
  assert.match(again.headers.get('server-timing'), /cache;desc=hit/);
  assert.equal(again.headers.get('cache-control'), 'public, max-age=60');
  assert.equal(told(again, 'requests'), 0);
  for (const name of ['etag', 'content-type', 'x-bzero', 'x-bscale']) assert.equal(again.headers.get(name), first.headers.get(name), name);
  const tag = first.headers.get('etag');
  assert.match(tag, /^"[0-9a-f]{16}"$/);
  const known = await worker.ask(route, { headers: { 'If-None-Match': `"x", W/${tag}` } });
  assert.equal(known.status, 304);
  assert.equal((await bytesOf(known)).length, 0);
  const head = await worker.raw(route, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.body.length, 0);
  assert.equal(head.headers['content-length'], `${body.length}`);
  assert.equal(head.headers.etag, tag);
});

test('methods, refusals and preflights', async () => {
  const cases = [
    ['GET', '/v1/demo/median/1/2/0.png', 204], ['GET', '/v1/demo/median/9/0/0.png', 204],
    ['GET', '/v1/demo/median/x/0/0.png', 400], ['GET', '/v1/demo/median.fits?bbox=0,0,9999,1', 404],
    ['GET', '/v1/demo/median/1/0/0.png?tile=256&tile=512', 400], ['GET', '/v1/demo/median/1/0/0.png?colour=red', 400],
    ['GET', '/v1/demo/mean/1/0/0.png', 404], ['GET', '/v1/nothing/info', 404], ['GET', '/v1/demo@00000000/info', 404],
    ['GET', '/v1/demo%2Finfo', 400], ['GET', '/v1/demo/%00/0/0/0.png', 400], ['GET', `/v1/${'a'.repeat(1100)}`, 414],
    ['PUT', '/v1/demo/info', 405], ['DELETE', '/v1/demo/median.png', 405], ['OPTIONS', '/v1/demo/info', 204],
  ];
  for (const [method, route, status] of cases) {
    const answer = await worker.raw(route, { method });
    assert.equal(answer.status, status, `${method} ${route}: ${answer.body}`);
    assert.equal(answer.headers['access-control-allow-origin'], '*', route);
    if (status >= 400) {
      assert.equal(answer.headers['content-type'], 'application/problem+json', route);
      const problem = JSON.parse(answer.body);
      assert.equal(problem.status, status);
      assert.ok(problem.detail.length > 0 && problem.code.length > 0);
      assert.equal(answer.headers['cache-control'], 'no-store');
    }
    if (status === 405) assert.match(answer.headers.allow, /GET/);
  }
});

test('a private dataset is there only for its token, for all copies that are kept', async (t) => {
  const secret = 'a-token-of-some-length';
  const hidden = await startWorker({ objects: demoObjects(folder, (catalog) => { catalog.datasets.tissue.token = secret; }) });
  t.after(() => hidden.stop());
  try {
    const listed = async (headers) => (await (await hidden.ask('/v1', { headers })).json()).datasets.map(({ name }) => name);
    const asked = (authorization) => hidden.ask('/v1/tissue/mz-788.6164.png', { headers: { Origin: 'https://one.example.org', ...(authorization && { authorization }) } });
    assert.deepEqual(await listed({}), ['demo']);
    assert.deepEqual(await listed({ authorization: `Bearer ${secret}` }), ['demo', 'tissue']);
    for (const wrong of [undefined, 'Bearer no', `Basic ${secret}`]) assert.equal((await asked(wrong)).status, 401, wrong);
    const right = await asked(`Bearer ${secret}`);
    assert.equal(right.status, 200);
    assert.equal(right.headers.get('access-control-allow-origin'), 'https://one.example.org');
    assert.match(right.headers.get('cache-control'), /private/);
    assert.match(right.headers.get('vary'), /Authorization/);
    await right.arrayBuffer();
    assert.equal((await asked()).status, 401, 'the kept copy');
  } finally {
    await hidden.stop();
  }
});

test('what an isolate that has just started reads', async (t) => {
  // The catalog with what headers say: itself and one range an exposure.
  const declared = await startWorker({ persist: join(folder, 'bucket') });
  t.after(() => declared.stop());
  const tile = await declared.ask('/v1/demo/median/1/0/0.png');
  await tile.arrayBuffer();
  assert.equal(told(tile, 'requests'), 13);
  await declared.stop();
  const cold = await startWorker({ persist: join(folder, 'bucket') });
  t.after(() => cold.stop());
  const image = await cold.ask('/v1/tissue/mz-731.6062.png');
  await image.arrayBuffer();
  assert.ok(told(image, 'requests') <= 4, `${told(image, 'requests')}`);
  const next = await cold.ask('/v1/tissue/mz-760.5851.png');
  await next.arrayBuffer();
  assert.ok(told(next, 'requests') <= 1);
  await cold.stop();
});

test('what headers said is kept in the bucket, for the next isolate', async (t) => {
  const persist = join(folder, 'by-name');
  const first = await startWorker({ persist, objects: demoObjects(folder, byName) });
  t.after(() => first.stop());
  const opened = await first.ask('/v1/demo/info');
  const { id } = await opened.json();
  assert.ok(told(opened, 'requests') >= 13);
  // It is written behind the answer.
  for (const until = Date.now() + 10_000; Date.now() < until; ) {
    if ((await first.bucket.list({ prefix: '.sectile/opened/' })).objects.length > 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await first.stop();
  const second = await startWorker({ persist });
  t.after(() => second.stop());
  const { objects } = await second.bucket.list({ prefix: '.sectile/opened/' });
  assert.equal(objects.length, 1);
  const tile = await second.ask('/v1/demo/median/1/0/0.png');
  await tile.arrayBuffer();
  // The catalog, what was kept, and one range an exposure.
  assert.equal(told(tile, 'requests'), 14);
  assert.equal((await (await second.ask('/v1/demo/info')).json()).id, id);
  // Rubbish there does no harm.
  await second.bucket.put(objects[0].key, '{"sectile_opened": 1}');
  await second.stop();
  const third = await startWorker({ persist });
  t.after(() => third.stop());
  assert.equal((await (await third.ask('/v1/demo/info')).json()).id, id);
  await third.stop();
});
