/**
 * Rules behind datasets of a server in the page: addresses, tiles' numbers, limits, what is asked for and when.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';

import { datasetAddress, ionLayer, layerOf, viewOf } from '../../www/app/served/address.js';
import { Asking, Problem } from '../../www/app/served/asking.js';
import { Levels } from '../../www/app/served/levels.js';
import { Loading } from '../../www/app/served/loading.js';
import { ServedPlane } from '../../www/app/served/plane.js';
import { readPng16 } from '../../www/app/served/png16.js';
import { limitsBy, quantile, readStatistics } from '../../www/app/served/statistics.js';
import { formatFragment, initialState, parseFragment } from '../../www/app/state.js';
import { readPng } from './png.mjs';

const BASE = 'https://page.example/';

test('addresses of datasets are told from those of files', () => {
  const m13 = { root: 'https://host/v1/', name: 'm13', version: '', layer: '' };
  for (const text of ['https://host/v1/m13', 'https://host/v1/m13/', 'https://host/v1/m13/info', 'https://host/v1/m13?x=1#y', 'https://host/v1/m13/{layer}/{z}/{x}/{y}.png']) {
    assert.deepEqual(datasetAddress(text, BASE), m13, text);
  }
  assert.deepEqual(datasetAddress('https://host/a/v1/m13@0123abcd/info', BASE), { ...m13, root: 'https://host/a/v1/', version: '0123abcd' });
  assert.deepEqual(datasetAddress('https://host/v1/m13/frame-07/2/1/0.png', BASE), { ...m13, layer: 'frame-07' });
  assert.deepEqual(datasetAddress('https://host/v1/t/C42H82NO8P%2BK/tilejson.json', BASE), { ...m13, name: 't', layer: 'C42H82NO8P+K' });
  assert.deepEqual(datasetAddress('/v1/m13', BASE), { ...m13, root: 'https://page.example/v1/' });
  for (const text of [
    'https://host/v1/one.fits', 'https://host/v1/list.txt', 'https://host/v1/m13/median.fits', 'https://host/v1/m13/one/two.fits', 'https://host/v1/', 'https://host/v1',
    'https://host/v2/m13', 'https://host/v1/M13', 'https://host/v1/m13@1', 'ftp://host/v1/m13', 'https://host/exposures.txt', 'no address', 'https://',
  ]) assert.equal(datasetAddress(text, BASE), null, text);
  assert.equal(datasetAddress('https://user:secret@host/v1/m13', BASE).root, 'https://host/v1/', 'no password is carried along');
  assert.deepEqual(['median', 'rms', 'count', 'exp-12'].map(layerOf), ['median', 'rms', 'count', 'frame-12']);
  assert.deepEqual(['median', 'frame-012'].map(viewOf), ['median', 'exp-12']);
  assert.deepEqual([' 788.6164 ', 'mz-5', 'C42H82NO8P + K', 'C6H12O6−H', 'gold', '-1', 'mz-1e9', ''].map(ionLayer), ['mz-788.6164', 'mz-5', 'C42H82NO8P+K', 'C6H12O6-H', null, null, null, null]);
});

test('a link holds the address and the layer, and nothing else of the server', () => {
  const state = { ...initialState(), src: ['https://host/v1/tissue'], v: 'C42H82NO8P+K' };
  const link = formatFragment(state);
  assert.equal(link, '#src=https://host/v1/tissue&v=C42H82NO8P%2BK');
  assert.equal(parseFragment(link).v, 'C42H82NO8P+K');
  assert.equal(parseFragment('#v=mz-788.6164').v, 'mz-788.6164');
  for (const bad of ['mz-', 'gold', '../x', 'mz-1/2']) assert.equal(parseFragment(`#v=${encodeURIComponent(bad)}`).v, 'median', bad);
});

/** A 16-bit grey PNG, every row by a filter of our choice. */
function png(width, height, codes, { filter = (y) => y % 5, text = { BZERO: '-10.5', BSCALE: '0.25', BUNIT: 'DN' }, form = [16, 0, 0, 0, 0], extra = 0 } = {}) {
  const chunk = (kind, body) => {
    const named = Buffer.concat([Buffer.from(kind, 'latin1'), body]);
    const out = Buffer.alloc(8 + named.length);
    out.writeUInt32BE(body.length);
    named.copy(out, 4);
    out.writeUInt32BE(crc32(named), 4 + named.length);
    return out;
  };
  const stride = 2 * width;
  const raw = Buffer.alloc((stride + 1) * height + extra);
  const at = (x, y) => (x < 0 || y < 0 ? 0 : (codes[y * width + (x >> 1)] >> (x & 1 ? 0 : 8)) & 255);
  for (let y = 0; y < height; y += 1) {
    const kind = filter(y);
    raw[y * (stride + 1)] = kind;
    for (let i = 0; i < stride; i += 1) {
      const [left, up, corner] = [at(i - 2, y), at(i, y - 1), i < 2 ? 0 : at(i - 2, y - 1)];
      const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
      const guess = [0, left, up, (left + up) >> 1, a <= b && a <= c ? left : b <= c ? up : corner][kind] ?? 0;
      raw[y * (stride + 1) + 1 + i] = at(i, y) - guess;
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set(form, 8);
  const data = deflateSync(raw);
  const half = data.length >> 1;
  return new Uint8Array(Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), chunk('IHDR', head),
    ...Object.entries(text).map(([key, value]) => chunk('tEXt', Buffer.from(`${key}\0${value}`, 'latin1'))),
    chunk('IDAT', data.subarray(0, half)), chunk('IDAT', data.subarray(half)), chunk('IEND', Buffer.alloc(0)),
  ]));
}

const noise = (count) => Uint16Array.from({ length: count }, (_, k) => Math.imul(k + 1, 2654435761) >>> 16);

test('every code of a tile arrives, by all five filters, as another reader has it', async () => {
  for (const [width, height] of [[1, 1], [37, 23], [256, 256]]) {
    const codes = noise(width * height);
    for (const filter of [0, 1, 2, 3, 4, null]) {
      const bytes = png(width, height, codes, filter === null ? {} : { filter: () => filter });
      const read = await readPng16(bytes);
      assert.deepEqual(read.codes, codes, `${width} x ${height}, filter ${filter}`);
      assert.deepEqual(read.codes, readPng(bytes).codes);
      assert.deepEqual([read.width, read.height, read.bzero, read.bscale, read.unit], [width, height, -10.5, 0.25, 'DN']);
    }
  }
});

test('what is no such tile is refused with what is wrong', async () => {
  const codes = noise(12);
  const good = png(4, 3, codes);
  const cases = [
    [new TextEncoder().encode('<!doctype html>'), /no PNG/],
    [good.subarray(0, good.length - 20), /cut short/],
    [png(4, 3, codes, { form: [8, 0, 0, 0, 0] }), /not 16-bit grey/],
    [png(4, 3, codes, { form: [16, 4, 0, 0, 0] }), /not 16-bit grey/],
    [png(4, 3, codes, { form: [16, 0, 0, 0, 1] }), /not 16-bit grey/],
    [png(4, 3, codes, { text: { BZERO: '1' } }), /scale/],
    [png(4, 3, codes, { text: { BZERO: '1', BSCALE: '0' } }), /scale/],
    [png(4, 3, codes, { extra: 1 }), /more than its pixels/],
    [png(4, 3, codes, { filter: () => 5 }), /filter of number 5/],
  ];
  for (const [bytes, why] of cases) await assert.rejects(readPng16(bytes), (error) => error instanceof TypeError && why.test(error.message), String(why));
  const broken = good.slice();
  broken[broken.length - 30] ^= 255;
  await assert.rejects(readPng16(broken), TypeError);
});

test('levels: rectangles of tiles cover the image from its top, and the level fits the screen', () => {
  const up = new Levels(700, 500, 256, 3, false);
  assert.deepEqual(up.rect(0, 0, 0), { x0: 0, y0: 0, x1: 700, y1: 500 });
  assert.deepEqual(up.rect(2, 2, 1), { x0: 512, y0: 0, x1: 700, y1: 244 });
  assert.deepEqual(up.rect(2, 0, 0), { x0: 0, y0: 244, x1: 256, y1: 500 });
  assert.deepEqual(new Levels(700, 500, 256, 3, true).rect(2, 0, 1), { x0: 0, y0: 256, x1: 256, y1: 500 });
  assert.deepEqual([0.1, 1, 1.9, 2, 3.99, 4, 99].map((pitch) => up.levelFor(pitch)), [2, 2, 2, 1, 1, 0, 0]);
  for (const z of [0, 1, 2]) {
    let area = 0;
    for (const [x, y] of up.over(z, { x0: 0, y0: 0, x1: 700, y1: 500 })) {
      const r = up.rect(z, x, y);
      area += (r.x1 - r.x0) * (r.y1 - r.y0);
    }
    assert.equal(area, 700 * 500);
  }
  assert.deepEqual(up.over(2, { x0: 300, y0: 10, x1: 310, y1: 20 }), [[1, 1]]);
  assert.deepEqual(up.over(2, { x0: 0, y0: 0, x1: 700, y1: 500 })[0], [1, 0]);
});

test('limits: exact where the server says them, and between those never beyond them', () => {
  assert.equal(readStatistics({ min: null, max: null }), null);
  assert.equal(readStatistics({ min: 2, max: 1 }), null);
  const said = { min: 0, max: 1000, zscale: { low: 8, high: 30 }, percentiles: { 1: 5, 50: 10, 99: 40 }, histogram: { bins: [990, 0, 0, 10], low: 0, high: 1000 } };
  const statistics = readStatistics(said);
  assert.deepEqual(limitsBy(statistics, 'minmax'), { lo: 0, hi: 1000 });
  assert.deepEqual(limitsBy(statistics, 'zscale'), { lo: 8, hi: 30 });
  assert.deepEqual(limitsBy(statistics, 'p98'), { lo: 5, hi: 40 });
  assert.deepEqual([0, 1, 50, 99, 100].map((p) => quantile(statistics, p)), [0, 5, 10, 40, 1000]);
  const { lo, hi } = limitsBy(statistics, 'p99.5');
  assert.ok(lo >= 0 && lo <= 5 && hi >= 750 && hi <= 1000, `${lo} ${hi}`);
  let before = -Infinity;
  for (let p = 0; p <= 100; p += 0.25) {
    const value = quantile(statistics, p);
    assert.ok(value >= before, `percentile ${p}`);
    before = value;
  }
  assert.equal(limitsBy(readStatistics({ min: 1, max: 2, zscale: { low: null, high: null } }), 'zscale'), null);
});

test('a plane draws its tiles on one scale, and what stands in for them, but reads only the finest', () => {
  const levels = new Levels(5, 3, 2, 3, false);
  const kept = new Map();
  const plane = new ServedPlane('median', 'median', levels, (key) => kept.get(key), { unit: 'DN' });
  const tile = (codes, bzero, bscale) => ({ width: 2, height: 2, codes: Uint16Array.from(codes), bzero, bscale });
  plane.z = 2;
  plane.scale = { bzero: 0, bscale: 1 };
  const read = () => {
    const out = new Uint16Array(15);
    plane.read(0, 0, 5, 3, out);
    return [...out];
  };
  assert.deepEqual(read(), Array(15).fill(0));
  assert.equal(plane.valueAt(0, 2), undefined);
  // The coarsest: one tile of 2 x 1 cells of 4 pixels.
  kept.set('median|0/0/0', tile([10, 20, 0, 0], 0, 1));
  assert.deepEqual(read(), [10, 10, 10, 10, 20, 10, 10, 10, 10, 20, 10, 10, 10, 10, 20]);
  assert.equal(plane.valueAt(0, 2), undefined, 'what stands in is no value');
  // The finest, top left, of another scale: 100 + 2 code.
  kept.set('median|2/0/0', tile([1, 2, 0, 4], 100, 2));
  // Row 0 is the lowest; the image's top row is row 2.
  assert.deepEqual(read(), [10, 10, 10, 10, 20, 0, 108, 10, 10, 20, 102, 104, 10, 10, 20]);
  assert.equal(plane.valueAt(0, 2), 102);
  assert.equal(plane.valueAt(1, 1), 108);
  assert.ok(Number.isNaN(plane.valueAt(0, 1)), 'code 0 is no data');
  plane.points.set('4,0', { value: 7.25 });
  plane.points.set('3,0', { value: null });
  assert.equal(plane.valueAt(4, 0), 7.25);
  assert.ok(Number.isNaN(plane.valueAt(3, 0)));
  // A level of 3 x 2 cells: the finer tile stands in, sampled, over the coarser one.
  plane.z = 1;
  assert.equal(plane.cell, 2);
  const out = new Uint16Array(6);
  plane.read(0, 0, 3, 2, out);
  assert.deepEqual([...out], [10, 10, 20, 102, 10, 20]);
});

/** Stands in for `fetch`: hands out what `answers` give, in turn, and counts. */
async function fetching(answers, run) {
  const real = globalThis.fetch;
  const log = [];
  let now = 0;
  const record = { log, most: 0 };
  globalThis.fetch = async (url, init) => {
    log.push({ url: String(url), token: init.headers.authorization });
    now += 1;
    record.most = Math.max(record.most, now);
    try {
      return await answers(String(url), init, log.length);
    } finally {
      now -= 1;
    }
  };
  try {
    await run(record);
  } finally {
    globalThis.fetch = real;
  }
}

const problem = (status, code, headers = {}) => new Response(JSON.stringify({ status, code, detail: `because of ${code}` }), { status, headers });
const asking = (more = {}) => new Asking({ scope: `https://host/v1/${Math.random()}`, most: () => 6, waiting: () => {}, permit: async () => null, ...more });

test('a busy server is left alone as long as it wants, and then asked again', async () => {
  const told = [];
  await fetching((_, __, n) => (n === 1 ? problem(503, 'busy', { 'retry-after': '1' }) : new Response('{"a":1}')), async ({ log }) => {
    const began = performance.now();
    const it = asking({ waiting: (text) => told.push(text) });
    const [first, second] = await Promise.all([it.json('https://host/1'), new Promise((resolve) => setTimeout(resolve, 50)).then(() => it.json('https://host/2'))]);
    assert.deepEqual([first, second], [{ a: 1 }, { a: 1 }]);
    assert.ok(performance.now() - began >= 950, 'both waited');
    assert.equal(log.length, 3);
    assert.match(told[0], /^Because of busy\. Trying again in 1 s\.$/);
    assert.equal(told.at(-1), '');
  });
});

test('what a server refuses for good is told as it says it, once', async () => {
  await fetching(() => problem(413, 'budget'), async ({ log }) => {
    await assert.rejects(asking().get('https://host/1'), (error) => error instanceof Problem && error.status === 413 && error.code === 'budget' && error.message === 'Because of budget.');
    assert.equal(log.length, 1);
  });
  await fetching(() => new Response('<html>', { status: 500 }), async () => {
    await assert.rejects(asking().get('https://host/1'), /The server answered with status 500\./);
  });
});

test('a token is asked for once for all who need it, and again where it is wrong', async () => {
  const details = [];
  const typed = ['wrong', 'right'];
  const permit = async (detail) => {
    details.push(detail);
    return typed.shift() ?? null;
  };
  await fetching((_, init) => (init.headers.authorization === 'Bearer right' ? new Response('{}') : problem(401, 'token')), async ({ log }) => {
    const it = asking({ permit });
    await Promise.all([1, 2, 3].map((k) => it.json(`https://host/${k}`)));
    assert.deepEqual(details, ['', 'Because of token.']);
    assert.equal(log.filter(({ token }) => token === undefined).length, 3);
    await it.json('https://host/4');
    assert.equal(log.at(-1).token, 'Bearer right');
    await assert.rejects(asking({ permit: async () => null }).json('https://host/5'), (error) => error.status === 401);
  });
});

test('no more requests at a time than allowed; what left the view is aborted and never kept', async () => {
  const codes = noise(4);
  const answer = async (url, { signal }) => {
    await new Promise((resolve, reject) => {
      setTimeout(resolve, 20);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    return url.endsWith('/none') ? new Response(null, { status: 204 }) : new Response(png(2, 2, codes));
  };
  await fetching(answer, async (record) => {
    const came = [];
    const loading = new Loading({ asking: asking({ most: () => 3 }), edge: 2, budget: () => 1e6, came: (key) => came.push(key), failed: (error) => assert.fail(error), moved: () => {} });
    const wish = (key) => ({ key, url: `https://host/${key}` });
    loading.want(Array.from({ length: 7 }, (_, k) => wish(`a${k}`)));
    assert.equal(loading.missing, 7);
    loading.want([wish('b'), wish('none')]);
    while (loading.missing > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.deepEqual(came.sort(), ['b', 'none']);
    assert.equal(loading.tile('none'), null);
    assert.equal(loading.tile('a0'), undefined);
    assert.deepEqual(loading.tile('b').codes, codes);
    assert.ok(record.most <= 3, `${record.most} at a time`);
    loading.close();
    assert.equal(loading.bytes, 0);
  });
});

test('a tile that is being computed as a job is asked for again as long as it is wanted', async () => {
  const codes = noise(4);
  await fetching((_, __, n) => (n < 3 ? new Response('{}', { status: 202, headers: { 'retry-after': '0.05' } }) : new Response(png(2, 2, codes))), async ({ log }) => {
    const told = [];
    const came = [];
    const loading = new Loading({ asking: asking(), edge: 2, budget: () => 1e6, came: (key) => came.push(key), failed: (error) => told.push(error.status), moved: () => {} });
    loading.want([{ key: 'a', url: 'https://host/a' }]);
    const until = performance.now() + 5000;
    while (came.length === 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.deepEqual([came, told, log.length], [['a'], [202, 202], 3]);
    loading.close();
  });
});

test('a tile of another size than was promised is refused', async () => {
  await fetching(async () => new Response(png(3, 2, noise(6))), async () => {
    const told = await new Promise((resolve) => {
      const loading = new Loading({ asking: asking(), edge: 2, budget: () => 1e6, came: () => resolve('it came'), failed: (error) => resolve(error.message), moved: () => {} });
      loading.want([{ key: 'a', url: 'https://host/a' }]);
    });
    assert.equal(told, 'A tile has 3 × 2 pixels and not 2 × 2.');
  });
});

test('a server that nobody can reach is asked a few times, and then named', async () => {
  await fetching(async () => {
    throw new TypeError('Failed to fetch');
  }, async ({ log }) => {
    const told = [];
    const it = asking({ waiting: (text) => told.push(text) });
    await assert.rejects(it.get('https://nowhere.example/v1/a'), /nowhere\.example cannot be reached/);
    assert.equal(log.length, 4);
    assert.match(told[0], /^The server cannot be reached\. Trying again in 1 s\.$/);
  });
});

test('tiles are kept within the budget, the latest used ones', async () => {
  await fetching(async () => new Response(png(256, 256, noise(65536))), async ({ log }) => {
    const most = 3 * (2 * 65536 + 128);
    const loading = new Loading({ asking: asking(), edge: 256, budget: () => most, came: () => {}, failed: (error) => assert.fail(error), moved: () => {} });
    const wishes = (...names) => names.map((key) => ({ key, url: `https://host/${key}` }));
    const settled = async () => {
      while (loading.missing > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    };
    loading.want(wishes('a', 'b', 'c'));
    await settled();
    // They come in any order; this is the one of their use.
    for (const key of ['b', 'c']) loading.tile(key);
    loading.want(wishes('a', 'd'));
    await settled();
    assert.ok(loading.bytes <= most);
    assert.equal(loading.tile('b'), undefined, 'the least recently used one went');
    assert.ok(loading.tile('a') && loading.tile('c') && loading.tile('d'));
    loading.want(wishes('1', '2', '3', '4', '5', '6', '7', '8', '9'));
    await settled();
    assert.ok(loading.bytes <= most);
    assert.equal(log.length, 4 + 3, 'no more is asked for than can be kept');
  });
});
