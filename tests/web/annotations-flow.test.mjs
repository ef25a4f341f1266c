/** Annotation on the real ion page with the real cores: a dropped pair, a list, a run, its images, saved and opened again. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { launch } from './chromium.mjs';
import { writePair } from './pair.mjs';
import { readPng } from './png.mjs';
import { program, ROOT, servePagesAnd } from './site.mjs';

/** Ions that are there: m/z and relative heights of their isotopes, and where they lie in the grid, 0 to 1. */
const PLANTED = {
  'C16H32O2-H': { peaks: [[255.23295, 100], [256.23635, 17.5], [257.2394, 1.87]], where: (u, v) => Math.exp(-(((u - 0.3) / 0.2) ** 2) - ((v - 0.4) / 0.25) ** 2) },
  'C18H34O2-H': { peaks: [[281.2486, 100], [282.252, 19.7], [283.255, 2.3]], where: (u, v) => Math.exp(-(((u - 0.7) / 0.2) ** 2) - ((v - 0.6) / 0.25) ** 2) },
};
const [WIDTH, HEIGHT] = [24, 18];

let folder;
let pair;
let pages;
let browser;
let page;
const thrown = [];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-annotations-'));
  const spectra = [];
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      const peaks = Object.values(PLANTED).flatMap(({ peaks: isotopes, where }) => isotopes.map(([mz, height]) => [mz, 1 + 100 * height * where(x / WIDTH, y / HEIGHT)]));
      // Noise of its own in every pixel.
      peaks.push([200 + 0.37 * ((x * 7 + y * 13) % 300), 5]);
      spectra.push({ x: x + 1, y: y + 1, peaks: peaks.sort((a, b) => a[0] - b[0]) });
    }
  }
  pair = writePair(join(folder, 'fatty'), { spectra });
  pages = await servePagesAnd(folder);
  browser = await launch();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('pageerror', (error) => thrown.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && thrown.push(message.text()));
  // Without it a page downloads, which a test can follow.
  await page.addInitScript(() => { delete window.showSaveFilePicker; });
});

after(async () => {
  await browser?.close();
  await pages?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const text = (selector) => page.locator(selector).textContent();
const ions = () => page.evaluate(() => sectile.annotations.results.rows.map(({ formula, adduct }) => `${formula}${adduct}`));

async function save(kind) {
  await page.click('#save');
  const [file] = await Promise.all([page.waitForEvent('download'), page.click(`#save-${kind}`)]);
  const path = await file.path();
  return { name: file.suggestedFilename(), bytes: readFileSync(path), path };
}

test('a pair and the built-in list: what is there is found first, with its images', { timeout: 180_000 }, async () => {
  await page.goto(`${pages.base}ions.html`);
  await page.setInputFiles('#files', pair);
  await page.waitForFunction(() => sectile.session.info);
  await page.click('#side-annotations');
  await page.waitForFunction(() => !document.querySelector('#annotate').disabled);
  assert.match(await text('#molecules-note'), /^\d{3} formulas, \d{3} molecules$/);
  assert.deepEqual(await page.locator('#adducts .chip[aria-pressed="true"]').allTextContents(), ['−H', '+Cl'], 'the pair is negative');
  await page.click('#annotate');
  await page.waitForSelector('#results:not([hidden])');
  assert.deepEqual((await ions()).slice(0, 2).sort(), Object.keys(PLANTED).sort());
  await page.waitForFunction(() => sectile.annotations.detail.planes.length === 4 && sectile.display.layers[0].plane === sectile.annotations.detail.planes[0]);
  const { msm, fdr, peaks } = await page.evaluate(() => sectile.annotations.row);
  assert.ok(msm > 0.8 && fdr <= 0.1, `${msm} ${fdr}`);
  // The totals of the scores are the sums of the images that the page shows.
  const sums = await page.evaluate(() => sectile.annotations.detail.planes.map(({ values }) => values.reduce((sum, v) => sum + (v === v ? v : 0), 0)));
  for (const [i, { total }] of peaks.entries()) assert.ok(Math.abs(sums[i] - total) <= 1e-6 * Math.max(1, total), `isotope ${i}: ${sums[i]} and ${total}`);
});

let table;
let archive;

test('what is saved: the tables, and 16-bit images as the core makes them', { timeout: 120_000 }, async () => {
  const all = await save('csv');
  table = all.bytes.toString();
  assert.ok(table.startsWith('formula,adduct,mz,chaos,spatial,spectral,msm,fdr'));
  await page.fill('#filter-text', 'C16H32O2');
  const some = (await save('shown')).bytes.toString().trimEnd().split('\n');
  assert.ok(some.length >= 2 && some.slice(1).every((line) => line.startsWith('C16H32O2,')));
  assert.ok(table.includes(some[1]), 'lines are those of the whole table');
  const zip = (await save('zip')).bytes;
  const image = entry(zip, 'C16H32O2-H.png');
  const { width, height, depth, color, codes } = readPng(image);
  assert.deepEqual([width, height, depth, color], [WIDTH, HEIGHT, 16, 4]);
  const want = Array.from({ length: WIDTH * HEIGHT }, (_, i) => Math.fround(1 + 100 * 100 * PLANTED['C16H32O2-H'].where((i % WIDTH) / WIDTH, Math.floor(i / WIDTH) / HEIGHT)));
  const top = want.indexOf(Math.max(...want));
  assert.equal(codes.indexOf(Math.max(...codes)), top, 'brightest where it was planted');
  await page.fill('#filter-text', '');
  archive = (await save('zip')).bytes;
});

test('table and images are those of the command line', { timeout: 120_000 }, () => {
  const run = (...args) => execFileSync(program(), [...args, '--quiet']);
  const [store, results, images] = ['fatty.sectile', 'results', 'images'].map((name) => join(folder, name));
  run('pack', pair[0], '-o', store);
  run('annotate', store, '--molecules', join(ROOT, 'www/ions/molecules.csv'), '-o', results);
  assert.equal(readFileSync(join(results, 'results.csv'), 'utf8'), table);
  run('images', results, '--fdr', '0.1', '--isotope', 'all', '-o', images);
  const names = readdirSync(images);
  assert.ok(names.length >= 6, names.join());
  for (const name of names) {
    const [theirs, ours] = [readFileSync(join(images, name)), entry(archive, name)].map(readPng);
    assert.deepEqual(ours, theirs, name);
  }
});

test('the saved file opens again, beside the dataset and without it', { timeout: 120_000 }, async () => {
  const { path, bytes } = await save('json');
  const before = await ions();
  const file = { name: 'annotations.json', mimeType: 'application/json', buffer: bytes };
  await page.setInputFiles('#results-file', file);
  await page.waitForFunction(() => /^annotations\.json/.test(document.querySelector('#results-from').textContent));
  assert.deepEqual(await ions(), before, path);
  assert.doesNotMatch(await text('#results-warnings'), /not of the dataset/);
  assert.equal((await save('csv')).bytes.toString(), table, 'the table that the page writes is that of the core');
  assert.deepEqual(thrown, []);
});

test('a list with bad rows, and one without formulas, by the real reader', { timeout: 60_000 }, async () => {
  await page.click('#search > summary');
  await page.setInputFiles('#molecules-file', { name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from('id,name,formula\n1,palmitate,C16H32O2\n2,odd,C5Xx2\n3,empty,\n') });
  await page.waitForFunction(() => /^1 formula, 1 molecule/.test(document.querySelector('#molecules-note').textContent));
  assert.equal(await text('#rejected-summary'), '2 rows left out');
  assert.match(await text('#rejected-list'), /Line 3: .*Xx.*Line 4: /);
  await page.setInputFiles('#molecules-file', { name: 'none.csv', mimeType: 'text/csv', buffer: Buffer.from('id,name\n1,palmitate\n') });
  await page.waitForSelector('#molecules-error:not([hidden])');
  assert.match(await text('#molecules-error'), /none\.csv/);
  assert.equal(await page.locator('#annotate').isDisabled(), true);
  assert.deepEqual(thrown, []);
});

/** A stored entry of a ZIP by its central directory. @param {Buffer} zip */
function entry(zip, name) {
  let at = zip.readUInt32LE(zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1')) + 16);
  while (zip.readUInt32LE(at) === 0x02014b50) {
    const [size, length, extra, comment, local] = [zip.readUInt32LE(at + 20), zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30), zip.readUInt16LE(at + 32), zip.readUInt32LE(at + 42)];
    if (zip.toString('utf8', at + 46, at + 46 + length) === name) {
      const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      return zip.subarray(from, from + size);
    }
    at += 46 + length + extra + comment;
  }
  throw new Error(`the archive has no ${name}`);
}
