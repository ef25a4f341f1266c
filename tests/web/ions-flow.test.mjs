/** Whole flows on the real ion page with the real core: drop, pack, look, read, keep, export, open again from a URL. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';

import { launch } from './chromium.mjs';
import { known, writePair } from './pair.mjs';
import { readPng } from './png.mjs';
import { ROOT, servePagesAnd } from './site.mjs';

const CASES = join(ROOT, 'tests/data/imzml');

let folder;
let pair;
let pages;
let browser;
let context;
let page;
let thrown;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-ions-'));
  pair = writePair(join(folder, 'known'), known());
  copyFileSync(pair[0], join(folder, 'cut.imzML'));
  copyFileSync(pair[1], join(folder, 'cut.ibd'));
  truncateSync(join(folder, 'cut.ibd'), 2000);
  pages = await servePagesAnd(folder);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await pages?.stop();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  page = await context.newPage();
  page.setDefaultTimeout(30_000);
  thrown = [];
  page.on('pageerror', (error) => thrown.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && thrown.push(message.text()));
});

afterEach(async () => {
  await context.close();
  assert.deepEqual(thrown, [], 'the page threw');
});

const go = (fragment = '') => page.goto(`${pages.base}ions.html${fragment}`);
const shown = (n = 1) => page.waitForFunction((count) => sectile.session.info && sectile.display.layers.length === count && !document.querySelector('#stage').classList.contains('loading'), n);
const text = (selector) => page.locator(selector).textContent();
/** What the readout says with the pointer over a pixel of the grid. */
async function read(x, y) {
  const [px, py] = await page.evaluate(([column, row]) => {
    const box = sectile.view.canvas.getBoundingClientRect();
    const [sx, sy] = sectile.view.camera.toScreen(column + 0.5, row + 0.5);
    return [box.left + sx, box.top + sy];
  }, [x, y]);
  await page.mouse.move(px, py);
  return [await text('#read-x'), await text('#read-y'), await text('#read-value')];
}

async function type(mz, n = 1) {
  await page.fill('#mz', mz);
  await page.keyboard.press('Enter');
  await page.waitForFunction((wanted) => sectile.display.layers.at(-1)?.plane.ion.mz === Number(wanted), mz);
  await shown(n);
}

test('a dropped pair is packed here, and its values stand in the readout', async () => {
  await go();
  await page.setInputFiles('#files', pair);
  await shown();
  assert.match(await text('#title'), /known\.imzML · 12 × 9 pixels · 40 × 80.µm · negative/);
  await type('500');
  assert.deepEqual(await read(7, 4), ['12', '7', '74']);
  assert.deepEqual(await read(11, 0), ['16', '3', '110']);
  assert.deepEqual(await read(0, 0), ['5', '3', 'no data']);
  await type('700.25');
  assert.deepEqual(await read(5, 4), ['10', '7', '1000']);
  assert.deepEqual(await read(11, 8), ['16', '11', '0']);
  const ratio = await page.evaluate(() => sectile.view.camera.zoomY / sectile.view.camera.zoom);
  assert.ok(Math.abs(ratio - 2) < 1e-9, 'pixels are twice as high as wide');
  assert.match(await text('#facts'), /Pixels12 × 9Acquired102 of 108Spectra102Peaks\d+.*Polaritynegative.*centroids/);
  assert.match(await text('#facts'), /Zero intensities left out90/);
  const [file] = await Promise.all([page.waitForEvent('download'), (async () => {
    await page.click('#export');
    await page.click('#export-csv');
  })()]);
  const table = readFileSync(await file.path(), 'utf8').trim().split('\n');
  assert.equal(table.length, 1 + 102, 'one line a pixel that was acquired');
  assert.ok(table.some((line) => /^10,7,1000(\.0)?$/.test(line.trim())), table.slice(0, 4).join('|'));
});

test('a peak of the real mean spectrum leads to its image; three ions at once; normalised', async () => {
  await go();
  await page.setInputFiles('#files', pair);
  await shown();
  await type('500');
  const place = await page.evaluate(() => {
    const { plot } = sectile.spectrum.plot;
    const box = plot.over.getBoundingClientRect();
    return [box.left + plot.valToPos(700.25, 'x'), box.top + box.height / 2];
  });
  await page.mouse.click(...place);
  await page.waitForFunction(() => Math.abs((sectile.display.layers[0]?.plane.ion.mz ?? 0) - 700.25) < 1e-4);
  assert.deepEqual(await read(5, 4), ['10', '7', '1000']);
  await page.check('input[name="mode"][value="rgb"]');
  await shown(2);
  await type('300.689', 3);
  assert.match(await text('#legend'), /700\.2500.*500\.0000.*300\.6890/);
  await page.check('input[name="norm"][value="tic"]');
  await page.waitForFunction(() => sectile.display.layers[0]?.plane.ion.normalise === 'tic');
  await shown(3);
  const values = await page.evaluate(() => sectile.display.layers.map(({ plane }) => plane.valueAt(5, 4)));
  // TIC of the pixel: 2 + 54 + 1000; the mean of all is what it is multiplied with.
  const spectra = known().spectra.map(({ peaks }) => peaks.reduce((sum, [, intensity]) => sum + intensity, 0));
  const mean = spectra.reduce((sum, tic) => sum + tic, 0) / spectra.length;
  assert.ok(Math.abs(values[0] / ((1000 / 1056) * mean) - 1) < 1e-5, `${values[0]}`);
  assert.ok(Math.abs(values[2] / ((2 / 1056) * mean) - 1) < 1e-5, `${values[2]}`);
});

test('spectra: a pixel from the pair, a region, with what they cost', async () => {
  await go();
  await page.setInputFiles('#files', pair);
  await shown();
  await type('500');
  await page.evaluate(() => sectile.readout.pin(5, 4));
  await page.focus('#view');
  await page.keyboard.press('p');
  await page.waitForFunction(() => /^Pixel 10, 7 · 3 peaks · from the imzML pair/.test(document.querySelector('#spectrum-note').textContent));
  assert.deepEqual(await page.evaluate(() => [[...sectile.spectrum.shown.mz], [...sectile.spectrum.shown.values]]), [[300 + 0.013 * 53, 500, 700.25], [2, 54, 1000]]);
  await page.keyboard.press('r');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('r');
  await page.waitForFunction(() => /^Mean of 2 acquired pixels/.test(document.querySelector('#spectrum-note').textContent));
  const mean = await page.evaluate(() => new Map([...sectile.spectrum.shown.mz].map((mz, i) => [mz, sectile.spectrum.shown.values[i]])).get(500));
  assert.equal(mean, 59);
});

test('a kept store is listed, opens again without its pair, and can be removed', async () => {
  await go();
  await page.check('#keep');
  await page.setInputFiles('#files', pair);
  await shown();
  await page.reload();
  await page.waitForSelector('#kept:not([hidden])');
  assert.match(await text('#kept-list'), /known/);
  await page.click('#kept-list .open');
  await shown();
  await type('700.25');
  assert.deepEqual(await read(5, 4), ['10', '7', '1000']);
  await page.evaluate(() => sectile.readout.pin(5, 4));
  await page.focus('#view');
  await page.keyboard.press('p');
  await page.waitForFunction(() => /by a full pass over the store/.test(document.querySelector('#spectrum-note').textContent));
  const [store] = await Promise.all([page.waitForEvent('download'), (async () => {
    await page.click('#export');
    await page.click('#export-store');
  })()]);
  copyFileSync(await store.path(), join(folder, 'known.sectile'));
  await page.reload();
  await page.waitForSelector('#kept:not([hidden])');
  await page.click('#kept-list .remove');
  await page.click('#kept-list .remove');
  await page.waitForFunction(() => document.querySelector('#kept').hidden);

  // The downloaded store, from a server this time: one request for an image, told on the page.
  await go('#src=data/known.sectile&mz=500,700.25&tol=0.01da&s=sqrt&cm=magma');
  await page.reload();
  await shown();
  assert.deepEqual(await read(7, 4), ['12', '7', '74']);
  assert.match(await text('#image-cost'), /(in 1 request|in 0 requests)$/);
  await page.focus('#view');
  await page.keyboard.press(']');
  await page.waitForFunction(() => sectile.display.layers[0].plane.ion.mz === 700.25);
  await page.waitForFunction(() => location.hash.includes('at=1'));
  await page.reload();
  await shown();
  assert.equal(await page.evaluate(() => sectile.display.layers[0].plane.ion.mz), 700.25, 'the address restores what was shown');
});

test('a pair by its address is packed from the server', async () => {
  await go('#src=data/known.imzML&mz=500');
  await shown();
  assert.deepEqual(await read(7, 4), ['12', '7', '74']);
});

test('z slices are images of their own, also after another dataset', async () => {
  const spectra = [0, 10].flatMap((z) => [1, 2, 3].map((x) => ({ x, y: 1, z, peaks: [[400, 7 * x + z]] })));
  await go();
  await page.setInputFiles('#files', writePair(join(folder, 'slices'), { spectra }));
  await shown();
  await type('400');
  assert.deepEqual(await read(2, 0), ['3', '1', '21']);
  await page.selectOption('#slice', { label: 'z = 10' });
  await page.waitForFunction(() => sectile.display.layers[0]?.plane.ion.slice === 1);
  assert.deepEqual(await read(2, 0), ['3', '1', '31']);
  const [file] = await Promise.all([page.waitForEvent('download'), (async () => {
    await page.click('#export');
    await page.click('#export-alpha');
  })()]);
  assert.equal(file.suggestedFilename(), 'slices_mz400.0000_slice2_alpha.png');
  const { width, height, codes, alpha, text: scale } = readPng(readFileSync(await file.path()));
  assert.deepEqual([width, height, [...alpha]], [3, 1, [65535, 65535, 65535]]);
  assert.deepEqual([...codes].map((code) => Number(scale.BZERO) + Number(scale.BSCALE) * code), [17, 24, 31]);
  await page.setInputFiles('#files', pair);
  await page.waitForFunction(() => document.querySelector('#title').textContent.startsWith('known.imzML · 12'));
  assert.equal(await page.locator('#slice-line').isVisible(), false);
  assert.equal(await page.evaluate(() => sectile.state.sl), 0);
});

test('cases with their trouble: said, and what can be done about it', async () => {
  const open = async (stem, xml = '.imzML', ibd = '.ibd') => {
    await page.setInputFiles('#files', [join(CASES, stem + xml), join(CASES, stem + ibd)]);
  };
  await go();
  await open('B18 Capital Name µm', '.IMZML', '.IBD');
  await shown();
  assert.match(await text('#title'), /B18 Capital Name µm\.IMZML · 3 × 2 pixels/);
  await open('B10_uuid_mismatch');
  await page.waitForFunction(() => document.querySelector('#title').textContent.startsWith('B10_uuid_mismatch.imzML · 3 × 2'));
  assert.match(await text('#facts-warnings'), /UUID/i);
  await open('B05_no_pixel_size_no_max');
  await page.waitForFunction(() => document.querySelector('#title').textContent.startsWith('B05_no_pixel_size_no_max.imzML · 3 × 2'));
  await shown();
  assert.match(await text('#scale-bar'), /pixel/);
  await open('B12_truncated_ibd');
  await page.waitForSelector('#notice[data-kind="error"]');
  assert.match(await text('#notice'), /B12_truncated_ibd\.ibd/);
  await page.click('#notice button:has-text("Leave out bad spectra")');
  await shown();
  assert.match(await text('#facts'), /Acquired3 of 6.*Bad spectra left out3/);
  // Nothing is read beyond the end of the file, and spectra are of what the images are made of.
  const spectra = await page.evaluate(async () => {
    const { compute } = sectile.session;
    const all = [];
    for (const y of [0, 1]) all.push(await compute.spectrum({ x: 1, y }));
    all.push(await compute.region({ rect: [0, 0, 3, 2] }));
    return all.map(({ from, mz, pixels }) => [from, mz.length, pixels]);
  });
  assert.deepEqual(spectra, [['pair', 3, 1], ['pair', 0, 0], ['pair', 3, 3]]);
  await page.setInputFiles('#files', [join(folder, 'cut.imzML'), join(folder, 'cut.ibd')]);
  await page.waitForFunction(() => /cut\.ibd.*spectrum \d+/.test(document.querySelector('#notice').textContent));
});
