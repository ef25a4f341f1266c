/**
 * What the Worker must not be talked into: other files than declared, other people's data, other people's servers.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { demoObjects, writeDemo } from './edge-demo.mjs';
import { startOrigin, startWorker } from './edge.mjs';

const SECRET = 'a-token-of-some-length';
const BEARER = { authorization: `Bearer ${SECRET}` };
const MARK = 'nobody-may-read-this';
const JSON_BODY = { 'Content-Type': 'application/json' };

let folder;
let objects;
let worker;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-edge-security-'));
  writeDemo(folder, { exposures: 2, size: 64 });
  // The same files twice: for everybody, and for who has the token.
  objects = {
    ...demoObjects(folder, ({ datasets }) => {
      datasets.hidden = { ...datasets.demo, title: MARK, token: SECRET };
      datasets.broken = { type: 'stack', exposures: [], title: MARK, token: SECRET };
    }),
    'secret.txt': MARK,
  };
  worker = await startWorker({ objects, queues: false });
});

after(async () => {
  await worker?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What comes back over a connection of its own for a request whose first line goes out byte by byte as it is. */
function wire(target, { method = 'GET', head = [] } = {}) {
  const { hostname, port } = new URL(worker.base);
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: hostname, port: Number(port) });
    let text = '';
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      const [, length] = /\r\nContent-Length: (\d+)\r\n/i.exec(text) ?? [];
      if (length && text.length >= text.indexOf('\r\n\r\n') + 4 + Number(length)) socket.end();
    });
    socket.once('error', reject);
    socket.once('close', () => resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text }));
    socket.write(Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: edge.test\r\n${head.map((line) => `${line}\r\n`).join('')}Connection: close\r\n\r\n`, 'latin1'));
  });
}

test('no spelling of a path leads anywhere but to what is declared', async () => {
  const refused = {
    400: [
      '/v1/demo%2finfo', '/v1/demo%2Finfo', '/v1/demo%5cinfo', '/v1/demo/%00', '/v1/demo/median%00.png', '/v1/demo//info', '//v1/demo/info', '/v1/demo/info/',
      '/v1/demo/%0d%0aX-Injected:%20yes', '/v1/demo/%ff', '/v1/demo/%', '/v1/demo/%2', '/v1/demo/%zz', '/v1/demo/..%2f..%2fsecret.txt', '/v1/..%5c..%5csecret.txt',
      '/v1/demo/jobs/0123456789abcdef/..%2fjob.json', '/v1/demo/jobs/..%2f..%2f..%2fsecret.txt/median.fits',
      '/v1/demo/median.png?bbox=0,0,9,9&bbox=0,0,8,8', '/v1/demo/median.png?bbox=0,0,9,9&%62box=0,0,8,8', '/v1/demo/info?=1', '/v1/demo/info?%', '/v1/demo/info?%00=1',
      '/v1/demo/info?url=http://127.0.0.1/', '/v1/demo/median/0/0/0.png?tile=256&tile=256', '/v1/demo/median/0/0/0.png?tile=%32%35%36%00',
      '/v1/demo/median/0/-1/0.png', '/v1/demo/median/0/0x0/0.png', '/v1/demo/median.png?bbox=0,0,1e3,9',
    ],
    404: [
      '/v1/%252e%252e/secret.txt', '/v1/demo/%252e%252e%252fsecret.txt', '/v1/demo/..%252f', '/secret.txt', '/sectile.json', '/.sectile/jobs', '/v1/.sectile/info', '/v1/DEMO/info',
      '/v1/demo/secret.txt', '/v1/secret.txt', '/v1/demo/exposure_01.fits', '/v1/nothing/info', '/v1/demo/jobs/job.json', '/v1/demo/jobs/0123456789abcdef/job.json',
      '/v1/demo/jobs/0123456789ABCDEF', '/v1/demo@00000000/info', '/v1/constructor/info', '/v1/__proto__/info',
      // What an address parser in front makes of these is a plain path, that of nothing.
      '/v1/../secret.txt', '/v1/demo/../../secret.txt', '/v1/%2e%2e/secret.txt', '/v1/demo/%2E./%2e%2E/secret.txt', '/v1\\..\\secret.txt', '/v1/./nothing',
    ],
    414: [`/${'a'.repeat(1100)}`, `/v1/${'a/'.repeat(600)}`, `/v1/demo/info?${'a'.repeat(1100)}`, `/v1/demo/median.png?bbox=${'1'.repeat(5000)}`],
    401: ['/v1/demo/../hidden/info', '/v1/demo/%2e%2e/hidden/info', '/v1\\hidden\\info', '/v1/hid%64en/info', '/v1/%68idden/median.png', '/v1/./hidden/info', '/v1/hidden@00000000/info'],
  };
  for (const [status, targets] of Object.entries(refused)) {
    for (const target of targets) {
      const answer = await wire(target);
      assert.equal(answer.status, Number(status), `${target}: ${answer.text}`);
      assert.match(answer.text, /application\/problem\+json/, target);
      for (const none of [MARK, SECRET, '\nX-Injected', 'SIMPLE', 'panicked']) assert.ok(!answer.text.includes(none), `${target} tells ${none}`);
    }
  }
  // What no HTTP server takes is refused by the one in front; nothing comes of it either.
  for (const target of ['', 'v1', '*', '/v1/demo/jobs /x', '/v1/\x00', '/v1/demo/\u00ff\u00fe', 'http://elsewhere.test/secret.txt', 'http://elsewhere.test/v1/hidden/info', `/${'a'.repeat(100_000)}`]) {
    const answer = await wire(target);
    assert.ok(!(answer.status < 400) && !answer.text.includes(MARK), `${target.slice(0, 40)}: ${answer.text.slice(0, 200)}`);
  }
  assert.equal((await wire('/v1/demo/info')).status, 200, 'the Worker is well');
});

/** One address of every kind, and the methods that it has. */
function addresses(dataset) {
  const reads = 'GET, HEAD, OPTIONS';
  return [
    ['/v1', reads], ['/openapi.json', reads], ...['', '/info', '/median/0/0/0.png', '/median.png', '/median.fits', '/median/point/1,1', '/spectrum?x=1&y=1', '/median/statistics',
      '/median/tilejson.json', '/jobs/0123456789abcdef/median.fits'].map((rest) => [`/v1/${dataset}${rest}`, reads]),
    [`/v1/${dataset}/jobs`, 'OPTIONS, POST'], [`/v1/${dataset}/jobs/0123456789abcdef`, 'DELETE, GET, HEAD, OPTIONS'],
  ];
}

test('every address has its methods and no others', async () => {
  for (const [path, methods] of addresses('demo')) {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'LOCK']) {
      const answer = await worker.raw(path, { method, headers: method === 'POST' ? JSON_BODY : {} });
      const told = `${method} ${path}: ${answer.status} ${answer.body}`;
      assert.equal(answer.headers['access-control-allow-origin'], '*', told);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff', told);
      if (methods.split(', ').includes(method)) {
        assert.ok(![405, 500].includes(answer.status), told);
        if (method === 'OPTIONS') assert.equal(answer.headers['access-control-allow-methods'].split(', ').sort().join(', '), methods, told);
        if (method === 'HEAD') assert.equal(answer.body.length, 0, told);
      } else {
        assert.equal(answer.status, 405, told);
        assert.equal(answer.headers.allow.split(', ').sort().join(', '), methods, told);
        if (method !== 'HEAD') assert.equal(JSON.parse(answer.body).code, 'method', told);
      }
    }
  }
});

test('without its token nothing of a private dataset is told, by any address and method', async () => {
  const tokens = [undefined, '', 'Bearer', 'Bearer ', `Bearer ${SECRET}x`, `Bearer ${SECRET.slice(1)}`, `Basic ${SECRET}`, `Bearer ${SECRET}, Bearer ${SECRET}`, SECRET, `Bearer ${'x'.repeat(6000)}`];
  for (const [path, methods] of addresses('hidden').slice(2)) {
    for (const method of methods.split(', ').filter((one) => one !== 'OPTIONS')) {
      for (const authorization of path === '/v1/hidden/info' ? tokens : tokens.slice(0, 5)) {
        const answer = await worker.raw(path, { method, headers: { ...JSON_BODY, 'If-None-Match': '*', ...(authorization !== undefined && { authorization }) } });
        const told = `${method} ${path} ${authorization}: ${answer.status} ${answer.body}`;
        assert.equal(answer.status, 401, told);
        assert.match(answer.headers['www-authenticate'], /^Bearer/, told);
        assert.equal(answer.headers['cache-control'], 'no-store', told);
        assert.match(answer.headers.vary, /Authorization/, told);
        assert.ok(!answer.headers.etag && !answer.body.includes(MARK) && !answer.body.includes(SECRET) && !/hidden@/.test(answer.body), told);
      }
    }
  }
  const broken = await worker.ask('/v1/broken/info');
  assert.equal(broken.status, 500);
  const why = await broken.text();
  assert.ok(!why.includes('exposures') && !why.includes(MARK), `what is wrong with it is its owner's: ${why}`);
  for (const path of ['/v1', '/openapi.json']) {
    const text = await (await worker.ask(path)).text();
    assert.ok(!text.includes('hidden') && !text.includes(MARK), path);
  }
  assert.equal((await worker.ask('/v1/hidden/info', { headers: BEARER })).status, 200);
  assert.equal((await worker.ask('/v1/hidden/info', { headers: { authorization: `bearer ${SECRET}` } })).status, 200, 'a scheme has no case (RFC 9110 §11.1)');
});

test('what is kept of a private dataset is for its token, and for each origin as it asks', async () => {
  const path = '/v1/hidden/median.png?bbox=0,0,64,30';
  const as = (origin, more = BEARER) => worker.ask(path, { headers: { ...more, ...(origin && { Origin: origin }) } });
  const first = await as('https://one.example.org');
  const tag = first.headers.get('ETag');
  assert.equal(first.status, 200);
  for (const origin of ['https://two.example.org', undefined, 'https://one.example.org', 'null']) {
    const next = await as(origin);
    assert.match(next.headers.get('Server-Timing'), /cache;desc=hit/);
    assert.equal(next.headers.get('Access-Control-Allow-Origin'), origin ?? null, 'that of the kept copy is not handed on');
    assert.match(next.headers.get('Vary'), /Origin.*Authorization/);
    assert.match(next.headers.get('Cache-Control'), /^private/);
    const known = await worker.ask(path, { headers: { ...BEARER, 'If-None-Match': tag, ...(origin && { Origin: origin }) } });
    assert.equal(known.status, 304);
    assert.equal(known.headers.get('Access-Control-Allow-Origin'), origin ?? null);
  }
  for (const headers of [{}, { 'If-None-Match': tag }, { 'If-None-Match': '*' }, { authorization: 'Bearer other' }, { Range: 'bytes=0-9' }]) assert.equal((await as('https://one.example.org', headers)).status, 401);
  // The same files for everybody are another dataset: computed, not fetched from the private one's copy.
  const open = await worker.ask('/v1/demo/median.png?bbox=0,0,64,30', { headers: { Origin: 'https://one.example.org' } });
  assert.match(open.headers.get('Server-Timing'), /cache;desc=miss/);
  assert.equal(open.headers.get('Access-Control-Allow-Origin'), '*');
  assert.equal(open.headers.get('Vary'), null);
  assert.notEqual(open.headers.get('ETag'), tag);
});

test('a token that is taken back is of no use any more', async (t) => {
  const changing = await startWorker({ objects, queues: false, vars: { MANIFEST_SECONDS: 0 } });
  t.after(() => changing.stop());
  try {
    const ask = (token) => changing.ask('/v1/hidden/median.png', { headers: { authorization: `Bearer ${token}` } });
    assert.equal((await ask(SECRET)).status, 200);
    const catalog = JSON.parse(objects['sectile.json']);
    catalog.datasets.hidden.token = 'another-token-of-some-length';
    await changing.bucket.put('sectile.json', JSON.stringify(catalog));
    assert.equal((await ask(SECRET)).status, 401);
    assert.equal((await ask('another-token-of-some-length')).status, 200);
  } finally {
    await changing.stop();
  }
});

test("a private dataset's job is there only by its own address and for its token", async () => {
  const post = (dataset, headers) => worker.ask(`/v1/${dataset}/jobs`, { method: 'POST', headers: { ...JSON_BODY, ...headers }, body: '{"type":"median","shards":2}' });
  assert.equal((await post('hidden', {})).status, 401);
  const begun = await post('hidden', BEARER);
  assert.equal(begun.status, 202);
  const { id, dataset } = await begun.json();
  assert.match(begun.headers.get('Cache-Control'), /no-store/);
  const own = `/v1/hidden/jobs/${id}`;
  const strange = `/v1/demo/jobs/${id}`;
  // A message that names another dataset than the job's moves nothing.
  const { dataset: open } = await (await post('demo', {})).json();
  for (const task of [{ shard: 1 }, { shard: 2 }, { assemble: true }]) await worker.deliver('sectile-shards', [{ v: 1, dataset: open, job: id, ...task }]);
  assert.equal((await (await worker.ask(own, { headers: BEARER })).json()).shards.done, 0);
  for (const task of [{ shard: 1 }, { shard: 2 }, { assemble: true }]) await worker.deliver('sectile-shards', [{ v: 1, dataset, job: id, ...task }]);
  const told = await worker.ask(own, { headers: { ...BEARER, Origin: 'https://one.example.org' } });
  assert.equal((await told.json()).state, 'done');
  assert.equal(told.headers.get('Access-Control-Allow-Origin'), 'https://one.example.org');
  for (const file of ['', '/median.fits', '/pyramid.fits']) {
    for (const headers of [{}, BEARER, { Range: 'bytes=0-9' }, { 'If-None-Match': '*' }]) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await worker.ask(strange + file, { method, headers });
        assert.equal(answer.status, 404, `${method} ${strange}${file} ${JSON.stringify(headers)}: ${await answer.text()}`);
        assert.equal(answer.headers.get('ETag'), null);
      }
    }
    assert.equal((await worker.ask(own + file)).status, 401);
    const mine = await worker.ask(own + file, { headers: BEARER });
    assert.equal(mine.status, 200);
    assert.match(mine.headers.get('Cache-Control'), file ? /^private/ : /no-store/);
    assert.match(mine.headers.get('Vary'), /Authorization/);
  }
  assert.equal((await worker.ask(strange, { method: 'DELETE' })).status, 404);
  assert.equal((await worker.ask(own, { method: 'DELETE' })).status, 401);
  assert.equal((await worker.ask(`${own}/median.fits`, { headers: BEARER })).status, 200, 'still there');
  assert.equal((await worker.ask(own, { method: 'DELETE', headers: BEARER })).status, 204);
  const { objects: left } = await worker.bucket.list({ prefix: `.sectile/jobs/${id}/` });
  assert.deepEqual(left, []);
});

/** A private, loopback or link-local address in every spelling that some parser takes, and what is no address at all. */
const LITERALS = [
  '127.0.0.1', '127.1', '127.0.1', '0x7f.0.0.1', '0x7f.1', '0X7F000001', '0177.0.0.1', '017700000001', '2130706433', '127.0.0.01', '127.0.0.1.', '0.0.0.0', '0', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fe80::1]', '[fe80::1%25lo]', '[fd00::1]', '[fec0::1]', 'localhost', 'LOCALHOST', 'localhost.', 'a.localhost',
  'ip6-localhost', 'printer.local', 'metadata.google.internal', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254', '100.64.0.1', '198.18.0.1', '224.0.0.1', '255.255.255.255',
  '\u2460\u2461\u2466.0.0.1', '127\u30020\u30020\u30021', '%31%32%37.0.0.1', 'user@127.0.0.1', 'archive.example.org@127.0.0.1', 'archive.example.org\\@127.0.0.1', '',
];

test('no spelling of a private address is asked', async (t) => {
  const origin = await startOrigin({ '/1.fits': { bytes: readFileSync(join(folder, 'exposure_01.fits')) } });
  const careful = await startWorker({ objects, vars: { MANIFEST_SECONDS: 0 }, queues: false });
  t.after(() => careful.stop());
  try {
    const { port } = new URL(origin.base);
    for (const host of LITERALS) {
      for (const scheme of ['http', 'https']) {
        const catalog = JSON.parse(objects['sectile.json']);
        catalog.origins = [`${scheme}://${host}:${port}`];
        catalog.datasets.far = { type: 'stack', exposures: [`${scheme}://${host}:${port}/1.fits`] };
        await careful.bucket.put('sectile.json', JSON.stringify(catalog));
        const answer = await careful.ask('/v1/far/info');
        const problem = await answer.json();
        assert.deepEqual([answer.status, problem.code], [500, 'catalog'], `${scheme}://${host}: ${JSON.stringify(problem)}`);
      }
    }
    assert.equal(origin.log.length, 0);
  } finally {
    await careful.stop();
    await origin.stop();
  }
});

test('it is no open proxy: only listed origins, no redirects, and nothing of the request is passed on', async (t) => {
  const served = () => ({ '/1.fits': { bytes: readFileSync(join(folder, 'exposure_01.fits')) }, '/2.fits': { bytes: readFileSync(join(folder, 'exposure_02.fits')) } });
  const [origin, other] = [await startOrigin(served()), await startOrigin(served())];
  const careful = await startWorker({ objects, vars: { MANIFEST_SECONDS: 0, ALLOW_PRIVATE_ORIGINS: 'yes' }, queues: false });
  t.after(() => careful.stop());
  const declare = async (...exposures) => {
    const catalog = JSON.parse(objects['sectile.json']);
    catalog.origins = [origin.base];
    catalog.datasets.far = { type: 'stack', exposures };
    await careful.bucket.put('sectile.json', JSON.stringify(catalog));
    return careful.ask('/v1/far/info');
  };
  try {
    const { port } = new URL(origin.base);
    for (const url of [
      `${other.base}/1.fits`, `https://127.0.0.1:${port}/1.fits`, `http://127.0.0.1/1.fits`, `http://localhost:${port}/1.fits`, `${origin.base}@${new URL(other.base).host}/1.fits`,
      `${origin.base}.example.org/1.fits`, `${origin.base}\\@example.org/1.fits`, `//127.0.0.1:${port}/1.fits`, `file:///etc/hostname`, 'data:,x', `ftp://127.0.0.1:${port}/1.fits`, '../secret.txt', '/secret.txt', 'a//b', 'a/./b', 'a\\b',
    ]) {
      const answer = await declare(url);
      assert.equal(answer.status, 500, `${url}: ${await answer.text()}`);
    }
    assert.deepEqual([origin.log.length, other.log.length], [0, 0]);
    for (const status of [301, 302, 303, 307, 308]) {
      Object.assign(origin.files['/1.fits'], { status, location: `${other.base}/1.fits` });
      const answer = await declare(`${origin.base}/1.fits?${status}`, `${origin.base}/2.fits`);
      assert.equal(answer.status, 502, `${status}: ${await answer.text()}`);
    }
    // A path that is served, then redirected in the middle of its use.
    origin.files['/1.fits'] = served()['/1.fits'];
    assert.equal((await declare(`${origin.base}/1.fits`, `${origin.base}/2.fits`)).status, 200);
    Object.assign(origin.files['/1.fits'], { status: 302, location: `${other.base}/1.fits` });
    assert.equal((await careful.ask('/v1/far/median.png')).status, 502);
    assert.equal(other.log.length, 0);
    origin.files['/1.fits'] = served()['/1.fits'];
    const headers = { authorization: 'Bearer x', cookie: 'a=b', 'x-forwarded-for': '10.0.0.1', 'x-forwarded-host': new URL(other.base).host, referer: 'https://one.example.org/', host: new URL(other.base).host };
    assert.equal((await careful.ask('/v1/far/median.png?alpha=1', { headers })).status, 400);
    assert.equal((await careful.ask('/v1/far/median.png', { headers })).status, 200);
    for (const { headers: sent } of origin.log) for (const name of Object.keys(headers).filter((one) => one !== 'host')) assert.equal(sent[name], undefined, `${name} was passed on`);
    assert.equal(other.log.length, 0);
  } finally {
    await careful.stop();
    await Promise.all([origin.stop(), other.stop()]);
  }
});
