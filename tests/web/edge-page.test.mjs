/**
 * The stack page on datasets of a server, in Chromium: of the Worker in its runtime, and of `sectile serve`. What is on
 * screen and in the readout is what the interface says, pixel by pixel.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { launch } from './chromium.mjs';
import { demoObjects, writeDemo } from './edge-demo.mjs';
import { startWorker } from './edge.mjs';
import { illegible } from './legible.mjs';
import { readPng } from './png.mjs';
import { servePages } from './serve.mjs';
import { program, serve } from './site.mjs';

const TOKEN = 'a-token-of-this-test';
/** Odd, so that cells of coarser levels reach beyond the image. */
const SIZE = 703;

describe('the page on datasets of a server', { timeout: 300_000 }, () => {
  let folder;
  let worker;
  let native;
  let pages;
  let browser;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sectile-served-'));
    writeDemo(folder, { exposures: 5, size: SIZE });
    const objects = demoObjects(folder, ({ datasets }) => {
      datasets.secret = { ...datasets.demo, token: TOKEN };
    });
    [worker, native, pages, browser] = await Promise.all([
      startWorker({ objects }), serve(program(), ['serve', folder, '--port', '0']), servePages(), launch(),
    ]);
  });

  after(async () => {
    await browser?.close();
    await Promise.allSettled([worker?.stop(), native?.stop(), pages?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** A page, on a link where a fragment is given; `complaints` gathers errors, `asked` the addresses of the interface. */
  async function open(fragment = '', options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.complaints = [];
    page.asked = [];
    page.on('pageerror', (error) => page.complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && page.complaints.push(message.text()));
    page.on('request', (request) => /\/v1\//.test(request.url()) && page.asked.push(new URL(request.url()).pathname));
    await page.goto(`${pages.base}${fragment}`);
    return page;
  }

  async function close(page, expected = []) {
    const left = page.complaints.filter((text) => !expected.some((pattern) => pattern.test(text)));
    assert.deepEqual(left, []);
    await page.context().close();
  }

  const text = (page, selector) => page.locator(selector).textContent();
  const source = (base, name) => `${base.replace(/\/$/, '')}/v1/${name}`;
  /** Until all tiles of the view are there, and limits have settled. */
  const drawn = async (page) => {
    await page.waitForFunction(() => sectile.session.served?.shown && document.querySelector('#served-state').textContent === 'All of the view is here.');
    await page.waitForTimeout(400);
    await page.waitForFunction(() => document.querySelector('#served-state').textContent === 'All of the view is here.');
  };
  /** A tile as the interface gives it. */
  const tileOf = async (base, name, layer, z, x, y) => readPng(new Uint8Array(await (await fetch(`${source(base, name)}/${layer}/${z}/${x}/${y}.png`)).arrayBuffer()));
  const valueOf = ({ codes, width, text: { BZERO, BSCALE } }, x, y) => Number(BZERO) + Number(BSCALE) * codes[y * width + x];

  /** The level on show, against its tiles: every code on the graphics card, back as a value. */
  async function compare(page, base, name, layer, k = 300) {
    const { z, levels, width, height, down, scale, seen } = await page.evaluate(() => {
      const { plane } = sectile.display;
      const { levels } = plane;
      return { z: plane.z, levels: levels.levels, width: levels.width, height: levels.height, down: levels.down, scale: plane.scale, seen: sectile.view.camera.visible() };
    });
    const step = 2 ** (levels - 1 - z);
    const tiles = new Map();
    const points = Array.from({ length: k }, (_, i) => [
      seen.x0 + ((i * 7919) % (seen.x1 - seen.x0)), seen.y0 + ((i * 104729) % (seen.y1 - seen.y0)),
    ]);
    const codes = await page.evaluate((list) => list.map(([x, y]) => sectile.view.codeAt(x, y)), points);
    let [checked, worst] = [0, 0];
    for (const [i, [x, y]] of points.entries()) {
      const [cx, cy] = [Math.floor(x / step), Math.floor((down ? y : height - 1 - y) / step)];
      const key = `${cx >> 8}/${cy >> 8}`;
      if (!tiles.has(key)) tiles.set(key, await tileOf(base, name, layer, z, cx >> 8, cy >> 8));
      const tile = tiles.get(key);
      const code = tile.codes[(cy & 255) * tile.width + (cx & 255)];
      assert.equal(codes[i] === 0, code === 0, `no data at ${x},${y}`);
      // A code of 1 or 65535 may stand for what lies beyond the limits.
      if (code === 0 || codes[i] === 1 || codes[i] === 65535) continue;
      checked += 1;
      worst = Math.max(worst, Math.abs(scale.bzero + scale.bscale * codes[i] - valueOf(tile, cx & 255, cy & 255)) / scale.bscale);
    }
    assert.ok(checked > k / 3, `${checked} of ${k} compared`);
    assert.ok(worst <= 0.5001, `off by ${worst} steps`);
    return { z, step, width };
  }

  for (const [host, baseOf] of [['the Worker', () => worker.base], ['sectile serve', () => native.base]]) {
    test(`opens by address, pans and zooms: ${host}`, async () => {
      const base = baseOf();
      const page = await open();
      await page.fill('#urls', source(base, 'demo'));
      await page.click('#open');
      await drawn(page);
      assert.match(await text(page, '#title'), /demo/);
      assert.equal(await text(page, '#exposures-count'), '5');
      assert.ok(await page.locator('#run').isHidden(), 'the server computes');
      // 703 pixels fit into the view, so the level of whole pixels is on show.
      const whole = await compare(page, base, 'demo', 'median');
      assert.equal(whole.step, 1);
      // Far out: a coarser level.
      for (let k = 0; k < 4; k += 1) await page.evaluate(() => sectile.view.zoomBy(0.6));
      await drawn(page);
      assert.ok((await compare(page, base, 'demo', 'median')).step > 1);
      // Close up and moved: only what is seen is there.
      await page.evaluate(() => sectile.view.actual());
      await page.mouse.move(640, 300);
      await page.mouse.down();
      await page.mouse.move(540, 420, { steps: 5 });
      await page.mouse.up();
      await drawn(page);
      assert.equal((await compare(page, base, 'demo', 'median')).step, 1);

      // The readout says what the interface says of a pixel.
      await page.evaluate(() => sectile.readout.pin(123, 456));
      const point = await (await fetch(`${source(base, 'demo')}/median/point/123,456`)).json();
      await page.waitForFunction(() => sectile.display.plane.points.has('123,456') && document.querySelector('#read-sky').textContent !== '');
      assert.equal(await page.evaluate(() => sectile.display.plane.valueAt(123, 456)), point.value);
      assert.match(await text(page, '#read-value'), new RegExp(`^${String(Number(point.value.toPrecision(6))).replace('-', '−').replace('.', '\\.')}0* ${point.unit}$`));
      assert.equal(await text(page, '#read-count'), `N ${point.count}`);
      assert.match(await text(page, '#read-degrees'), new RegExp(`^${point.sky[0].toFixed(6)}°, ${point.sky[1].toFixed(6).replace('-', '-')}°$`));

      // Limits are those of all values.
      const statistics = await (await fetch(`${source(base, 'demo')}/median/statistics`)).json();
      await page.selectOption('#limits', 'zscale');
      await page.waitForFunction(([lo, hi]) => sectile.display.limits.lo === lo && sectile.display.limits.hi === hi, [statistics.zscale.low, statistics.zscale.high]);
      await page.selectOption('#limits', 'minmax');
      await page.waitForFunction(([lo, hi]) => sectile.display.limits.lo === lo && sectile.display.limits.hi === hi, [statistics.min, statistics.max]);

      // Layers.
      await page.click('input[name="layer"][value="count"] + span', { force: true });
      await drawn(page);
      await compare(page, base, 'demo', 'count');
      await page.click('input[name="layer"][value="rms"] + span', { force: true });
      await drawn(page);
      assert.equal(await text(page, '#layer-name'), 'Scatter of all (RMS)');
      await compare(page, base, 'demo', 'rms');
      await page.waitForFunction(() => location.hash.includes('v=rms'));
      await page.click('#next');
      await page.waitForFunction(() => location.hash.includes('v=count'));
      await page.click('#exposures li:nth-child(3) button');
      await drawn(page);
      await compare(page, base, 'demo', 'frame-3');
      assert.match(await text(page, '#layer-name'), /^3 · exposure_03\.fits$/);
      await page.waitForFunction(() => location.hash.includes('v=exp-3'));

      // The link opens the same view again.
      const link = await page.evaluate(() => location.href);
      assert.ok(link.includes(`#src=${source(base, 'demo')}`), link);
      const camera = await page.evaluate(() => [sectile.view.camera.x, sectile.view.camera.y, sectile.view.camera.zoom].map((v) => v.toFixed(2)));
      const again = await open(new URL(link).hash);
      await drawn(again);
      assert.deepEqual(await again.evaluate(() => [sectile.view.camera.x, sectile.view.camera.y, sectile.view.camera.zoom].map((v) => v.toFixed(2))), camera);
      assert.equal(await again.evaluate(() => sectile.display.plane.layer), 'frame-3');
      await compare(again, base, 'demo', 'frame-3');
      await close(again);
      await close(page);
    });
  }

  test('at most six tiles are under way, and those that left the view are aborted', async () => {
    const page = await open();
    let [now, most] = [0, 0];
    const held = [];
    await page.route(/\/median\/\d+\/\d+\/\d+\.png/, async (route) => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => held.push(resolve));
      now -= 1;
      await route.continue().catch(() => {});
    });
    const aborted = [];
    page.on('requestfailed', (request) => aborted.push(new URL(request.url()).pathname));
    await page.fill('#urls', source(worker.base, 'demo'));
    await page.click('#open');
    await page.waitForFunction(() => sectile.session.served?.loading.under.size === 6);
    await page.waitForTimeout(300);
    assert.equal(most, 6);
    // To one corner, close up: most of what was under way is of no use any more.
    await page.evaluate(() => sectile.view.move((camera) => {
      camera.zoomTo(30);
      camera.centre(690, 10);
    }));
    await page.waitForFunction(() => sectile.session.served.loading.under.size === 2);
    await page.waitForTimeout(100);
    assert.ok(aborted.length >= 4, `${aborted.length} aborted`);
    const release = setInterval(() => held.splice(0).forEach((resolve) => resolve()), 20);
    await drawn(page);
    clearInterval(release);
    assert.deepEqual(await page.evaluate(() => [...sectile.session.served.loading.kept.keys()].sort()), ['median|0/0/0', 'median|2/2/2']);
    await close(page);
  });

  test('a private dataset: the token is asked for, kept in memory, and part of no link', async () => {
    const page = await open(`#src=${source(worker.base, 'secret')}`);
    await page.waitForSelector('#token-dialog[open]');
    assert.match(await text(page, '#token-for'), /\/v1\/secret$/);
    await page.fill('#token', 'what is none');
    await page.click('#token-give');
    assert.match(await text(page, '#token-fault'), /letters, digits/);
    await page.fill('#token', 'wrong');
    await page.click('#token-give');
    await page.waitForFunction(() => document.querySelector('#token-dialog').open && /is not that of this dataset/.test(document.querySelector('#token-fault').textContent));
    await page.fill('#token', TOKEN);
    await page.press('#token', 'Enter');
    await drawn(page);
    const stored = await page.evaluate(() => JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.cookie, sectile.permalink.write(), document.querySelector('#token').value]));
    assert.ok(!stored.includes(TOKEN) && !stored.includes(encodeURIComponent(TOKEN)), stored);
    assert.ok(page.asked.every((path) => !decodeURIComponent(path).includes(TOKEN)));
    // Opened anew without a token: a reason, and no dialog that comes back by itself.
    const again = await open(`#src=${source(worker.base, 'secret')}`);
    await again.waitForSelector('#token-dialog[open]');
    await again.click('#token-dialog [data-close]');
    await again.waitForSelector('#notice[data-kind="error"]');
    assert.match(await text(again, '#notice p'), /token/i);
    assert.ok(await again.locator('#token-dialog').isHidden());
    await close(again, [/401/]);
    await close(page, [/401/]);
  });

  test('what the server refuses is told in its words', async () => {
    const page = await open();
    const said = async (address, pattern) => {
      await page.fill('#urls', address);
      await page.click('#open');
      await page.waitForFunction((wanted) => new RegExp(wanted).test(document.querySelector('#notice').textContent), pattern.source);
    };
    await said(source(worker.base, 'nothing'), /nothing/);
    await said(source(worker.base, 'demo@00000000'), /demo@[0-9a-f]{8}/);
    await said(`${source(worker.base, 'demo')}\n${source(worker.base, 'tissue')}`, /stands alone/);
    await said(source('http://127.0.0.1:9', 'demo').replace(':9/', `:${new URL(pages.base).port}/`), /status 404/);
    // A tile that is too much where it is, and not closer up.
    await page.route(/\/median\/[01]\/\d+\/\d+\.png/, (route) => route.fulfill({
      status: 413, contentType: 'application/problem+json', headers: { 'access-control-allow-origin': '*' },
      body: JSON.stringify({ status: 413, code: 'budget', detail: 'a tile of this level takes 9 GB; at most 1 GB are read for an answer' }),
    }));
    await page.fill('#urls', source(worker.base, 'demo'));
    await page.click('#open');
    await page.waitForFunction(() => sectile.session.served?.shown);
    await drawn(page);
    assert.ok(await page.locator('#notice').isHidden(), 'what stands in may be missing');
    await page.evaluate(() => sectile.view.zoomBy(0.3));
    await page.waitForFunction(() => /takes 9 GB.*Zoom in/.test(document.querySelector('#notice').textContent));
    await page.evaluate(() => sectile.view.actual());
    await drawn(page);
    await compare(page, worker.base, 'demo', 'median', 60);
    await close(page, [/404|413/]);
  });

  test('a dataset that has another version now is opened anew, once', async () => {
    const page = await open();
    let gone = 0;
    await page.route(/\/median\/2\/1\/1\.png/, (route) => {
      gone += 1;
      if (gone > 1) return route.continue();
      return route.fulfill({
        status: 404, contentType: 'application/problem+json', headers: { 'access-control-allow-origin': '*' },
        body: JSON.stringify({ status: 404, code: 'version', detail: 'it is another now' }),
      });
    });
    await page.fill('#urls', source(worker.base, 'demo'));
    await page.click('#open');
    await page.waitForFunction(() => sectile.session.served?.loading.kept.has('median|2/1/1'));
    await drawn(page);
    assert.equal(gone, 2);
    assert.equal(page.asked.filter((path) => path.endsWith('/info')).length, 2);
    assert.ok(await page.locator('#notice').isHidden());
    await compare(page, worker.base, 'demo', 'median');
    await close(page, [/404/]);
  });

  test('a busy server and a lost network are waited for', async () => {
    const page = await open();
    let refused = 0;
    await page.route(/\/median\/2\/\d+\/\d+\.png/, (route) => {
      refused += 1;
      if (refused > 3) return route.continue();
      return route.fulfill({
        status: 503, contentType: 'application/problem+json',
        headers: { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After', 'retry-after': '2' },
        body: JSON.stringify({ status: 503, code: 'busy', detail: 'too much is being computed' }),
      });
    });
    await page.fill('#urls', source(worker.base, 'demo'));
    await page.click('#open');
    await page.waitForFunction(() => /^Too much is being computed\. Trying again in \d s\.$/.test(document.querySelector('#served-state').textContent));
    await drawn(page);
    assert.ok(refused >= 4);
    assert.ok(await page.locator('#notice').isHidden());
    await compare(page, worker.base, 'demo', 'median');

    await page.context().setOffline(true);
    await page.evaluate(() => sectile.layers.choose('exp-2'));
    await page.waitForFunction(() => /no network/.test(document.querySelector('#served-state').textContent));
    await page.context().setOffline(false);
    await drawn(page);
    await compare(page, worker.base, 'demo', 'frame-2');
    await close(page, [/503|ERR_INTERNET_DISCONNECTED/]);
  });

  test('ion images: typed, drawn with row 0 at the top, and part of the link', async () => {
    const page = await open(`#src=${source(worker.base, 'tissue')}`);
    await page.waitForFunction(() => /ion images/.test(document.querySelector('#notice').textContent));
    await page.fill('#ion', 'gold');
    await page.click('#ion-show');
    assert.equal(await page.getAttribute('#ion', 'aria-invalid'), 'true');
    await page.fill('#ion', '788.6164');
    await page.press('#ion', 'Enter');
    await drawn(page);
    await compare(page, worker.base, 'tissue', 'mz-788.6164');
    await page.fill('#ion', 'C42H82NO8P+K');
    await page.press('#ion', 'Enter');
    await page.waitForFunction(() => sectile.display.plane.layer === 'C42H82NO8P+K');
    await drawn(page);
    await compare(page, worker.base, 'tissue', 'C42H82NO8P%2BK');
    await page.waitForFunction(() => location.hash.includes('v=C42H82NO8P%2BK'));
    const again = await open(await page.evaluate(() => location.hash));
    await drawn(again);
    assert.equal(await again.inputValue('#ion'), 'C42H82NO8P+K');
    await close(again);
    await close(page);
  });

  test('files come from the server: all of the layer, or the part on screen', async () => {
    const page = await open(`#src=${source(worker.base, 'demo')}`);
    await drawn(page);
    const exported = async (id) => {
      await page.click('#export');
      const [file] = await Promise.all([page.waitForEvent('download'), page.click(`#export-${id}`)]);
      const pieces = [];
      for await (const piece of await file.createReadStream()) pieces.push(piece);
      return { name: file.suggestedFilename(), bytes: Buffer.concat(pieces) };
    };
    const served = async (rest) => Buffer.from(await (await fetch(`${source(worker.base, 'demo')}/${rest}`)).arrayBuffer());
    const fits = await exported('fits');
    assert.equal(fits.name, 'demo_median.fits');
    assert.ok(fits.bytes.equals(await served('median.fits')));
    await page.evaluate(() => sectile.view.move((camera) => {
      camera.zoomTo(8);
      camera.centre(350, 350);
    }));
    await drawn(page);
    const { x0, y0, x1, y1 } = await page.evaluate(() => sectile.view.camera.visible());
    assert.ok((await exported('png')).bytes.equals(await served(`median.png?bbox=${x0},${y0},${x1},${y1}`)));
    await close(page);
  });

  test('a dataset of a server gives way to exposures, and the other way round', async () => {
    const page = await open(`#src=${source(worker.base, 'demo')}`);
    await drawn(page);
    await page.evaluate(() => {
      document.querySelector('#sources').open = true;
    });
    await page.fill('#urls', 'https://example.org/m13/exposures.txt?n=3&w=300&h=200');
    await page.click('#open');
    await page.waitForFunction(() => !document.querySelector('#run').disabled);
    assert.ok(await page.locator('#served').isHidden());
    assert.ok(await page.locator('#hdu').isVisible());
    await page.click('#run');
    await page.waitForFunction(() => document.querySelector('#status').textContent.startsWith('Done'));
    await page.evaluate(() => {
      document.querySelector('#sources').open = true;
    });
    await page.fill('#urls', source(worker.base, 'demo'));
    await page.click('#open');
    await drawn(page);
    await compare(page, worker.base, 'demo', 'median');
    await close(page);
  });

  test('on a phone everything is within the screen and legible', async () => {
    const page = await open(`#src=${source(worker.base, 'demo')}`, { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true });
    await drawn(page);
    await compare(page, worker.base, 'demo', 'median');
    for (const tab of ['stack', 'display']) {
      await page.click(`#tab-${tab}`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${tab} is wider than the screen`);
      assert.deepEqual(await illegible(page, {
        controls: 'button, input, select, textarea, [role="slider"]',
        texts: 'button, label, p, dt, dd, h2, span, output, summary, a, small',
      }), []);
    }
    await close(page);
    const secret = await open(`#src=${source(worker.base, 'secret')}`, { viewport: { width: 390, height: 844 } });
    await secret.waitForSelector('#token-dialog[open]');
    const box = await secret.locator('#token-dialog').boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 390 && box.y >= 0 && box.y + box.height <= 844);
    await close(secret, [/401/]);
  });
});
