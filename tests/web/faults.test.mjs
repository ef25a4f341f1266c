/**
 * Servers that misbehave, met by the core in headless Chromium from another origin: each fault has the
 * outcome that the command line gives it, but where a browser cannot do otherwise.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { launch } from './chromium.mjs';
import { program, serve, serveFaults, servePagesAnd, SHARED } from './site.mjs';

let folder;
let pages;
let faults;
let browser;
let page;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-faults-'));
  execFileSync(program(), ['demo-data', folder, '--exposures', '3', '--size', '128']);
  execFileSync(program(), ['demo-data', join(folder, 'large'), '--exposures', '3', '--size', '512']);
  pages = await servePagesAnd(folder);
  faults = await serveFaults(folder);
  browser = await launch();
  page = await browser.newPage();
  await page.goto(pages.base);
});

after(async () => {
  await browser?.close();
  await pages?.stop();
  await faults?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A median of these URLs in a worker of the page; its hash or what it was refused for. */
function median(urls, options = {}) {
  return page.evaluate(async ({ urls, options }) => {
    const { Compute } = await import('./app/client.js');
    const compute = new Compute({ memory: options.memory ?? 16 << 20 });
    try {
      const stack = await compute.open(urls.map((url) => ({ url })), {});
      const bad = stack.exposures.find((exposure) => !exposure.ok);
      if (bad) return { refused: bad.reason };
      const plane = new Float32Array(stack.width * stack.height);
      const tally = await compute.median(options.wish ?? {}, {
        onSection: ({ y0, width, values }) => plane.set(values, y0 * width),
      });
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', plane));
      return { sha256: [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join(''), tally };
    } catch (error) {
      return { refused: error.message, code: error.code };
    } finally {
      compute.close();
    }
  }, { urls, options });
}

const names = ['exposure_01.fits', 'exposure_02.fits', 'exposure_03.fits'];
const reset = (base) => fetch(`${base}__reset`);

/** Modes whose bytes are right in the end. */
const RIGHT = ['ok', 'norange', 'gzip', 'noexpose', '503-then-ok', 'redirect', 'slow', 'head-403', '416-last', '429', 'weak-etag', 'short-206', 'reset'];

/** Modes that must be refused, and words that the reason holds. */
const REFUSED = {
  nocors: ['CORS'],
  truncate: ['bytes'],
  'etag-change': ['changed'],
  '503-always': ['503'],
  'redirect-loop': ['redirect'],
  'wrong-content-range': ['range'],
  auth: ['401', 'credentials'],
  'html-200': ['HTML'],
};

/** Each set of modes against a server: ours, or another one that keeps the same table. */
async function meet(base) {
  const right = (await median(names.map((name) => `${pages.base}data/${name}`))).sha256;
  assert.ok(right);
  for (const mode of RIGHT) {
    await reset(base);
    const found = await median(names.map((name) => `${base}${mode}/${name}`));
    assert.equal(found.sha256, right, `${mode}: ${found.refused}`);
  }
  for (const mode of ['gzip-slice', 'wrong-body']) {
    const found = await median(names.map((name) => `${base}${mode}/${name}`));
    assert.ok(found.sha256 === right || found.refused, `${mode}: wrong pixels`);
  }
  for (const [mode, words] of Object.entries(REFUSED)) {
    await reset(base);
    // A small budget makes several requests a file: the change comes after the third.
    const [where, memory] = mode === 'etag-change' ? ['large/', 4 << 20] : ['', 16 << 20];
    const found = await median(names.map((name) => `${base}${mode}/${where}${name}`), { memory });
    assert.ok(found.refused, `${mode} was taken`);
    for (const word of words) assert.ok(found.refused.toLowerCase().includes(word.toLowerCase()), `${mode}: ${found.refused}`);
  }
}

test('every fault has its outcome', { timeout: 300_000 }, () => meet(faults.base));

test('so it has with a server that is not ours', { timeout: 300_000 }, async (t) => {
  const script = join(SHARED, 'cases/http/bad_server.py');
  if (!existsSync(script)) return t.skip(`skipped: no ${script}`);
  const server = await serve('python3', [script, folder]).catch(() => null);
  if (!server) return t.skip('skipped: no python3');
  try {
    await meet(server.base);
  } finally {
    await server.stop();
  }
});

test('a part of a file of 6 GB is read at its place', async () => {
  const values = await page.evaluate(async (url) => {
    const { Compute } = await import('./app/client.js');
    const compute = new Compute({ memory: 16 << 20 });
    await compute.open([{ url }], {});
    const found = {};
    for (const [x, y] of [[0, 0], [65535, 0], [5, 16384], [65535, 16383], [12345, 20000], [65535, 24575]]) {
      const rect = { x0: x, y0: y, x1: x + 1, y1: y + 1 };
      await compute.median({ rect }, { onSection: (section) => { found[`${x},${y}`] = section.values[0]; } });
    }
    compute.close();
    return found;
  }, `${faults.base}virtual/huge.fits`);
  assert.deepEqual(values, { '0,0': 0, '65535,0': 65535, '5,16384': 197, '65535,16383': 191, '12345,20000': 2109731, '65535,24575': 287 });
});

test('cancel stops every request at once', async () => {
  await reset(faults.base);
  const waited = await page.evaluate(async (urls) => {
    const { Compute } = await import('./app/client.js');
    const compute = new Compute({ memory: 16 << 20 });
    await compute.open(urls.map((url) => ({ url })), {});
    const controller = new AbortController();
    const running = compute.median({}, { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 700));
    const start = performance.now();
    controller.abort();
    const name = await running.then(() => 'finished', (error) => error.name);
    compute.close();
    return { name, milliseconds: performance.now() - start };
  }, names.map((name) => `${faults.base}slow/large/${name}`));
  assert.equal(waited.name, 'AbortError');
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { active } = await (await fetch(`${faults.base}__log`)).json();
  assert.equal(active, 0, 'requests still run');
});

test('a trap retires the instance and says so', async () => {
  const told = await page.evaluate(async () => {
    const { Compute } = await import('./app/client.js');
    let reason;
    const compute = new Compute({ memory: 16 << 20, onRetired: (why) => { reason = why; } });
    await compute.started;
    // What a lost instance sends; nothing in the core is known to trap.
    compute.worker.dispatchEvent(new MessageEvent('message', { data: { retired: 'unreachable' } }));
    const error = await compute.open([{ url: 'data/exposure_01.fits' }], {}).catch((error) => error);
    return { reason, code: error.code, message: error.message };
  });
  assert.match(told.reason, /unreachable/);
  assert.match(told.message, /start a new one/);
});

test('files from disk are read in pieces, and nothing leaves the page', async () => {
  const requests = [];
  const listen = (request) => requests.push(request.url());
  page.on('request', listen);
  const shapes = await page.evaluate(async () => {
    const { Compute } = await import('./app/client.js');
    const names = ['exposure_01.fits', 'exposure_02.fits'];
    const files = await Promise.all(names.map(async (name) => new File([await (await fetch(`data/${name}`)).blob()], name)));
    const list = new File(['exposure_02.fits\nexposure_01.fits\n'], 'list.txt');
    const compute = new Compute({ memory: 16 << 20 });
    const stack = await compute.open([...files, list].map((file) => ({ file })), {});
    let pixels = 0;
    const tally = await compute.median({}, { onSection: (section) => { pixels += section.values.length; } });
    compute.close();
    return { names: stack.exposures.map((exposure) => exposure.name), pixels, tally };
  });
  page.off('request', listen);
  assert.deepEqual(shapes.names, ['exposure_02.fits', 'exposure_01.fits'], 'in the order of the list, each once');
  assert.equal(shapes.pixels, 128 * 128);
  assert.equal(shapes.tally.bytes_payload, 2 * 128 * 128 * 4);
  assert.ok(requests.every((url) => url.startsWith(pages.base)), 'only the page itself was fetched');
});
