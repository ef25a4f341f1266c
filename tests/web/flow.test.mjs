/** Whole flows on the real page with the real core: open, run, look, export, drop, cancel. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';

import { launch } from './chromium.mjs';
import { program, serveFaults, servePagesAnd } from './site.mjs';

let folder;
let pages;
let faults;
let browser;
let page;
let thrown;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-flow-'));
  execFileSync(program(), ['demo-data', folder, '--exposures', '5', '--size', '256']);
  execFileSync(program(), ['median', join(folder, 'exposures.txt'), '-o', join(folder, 'median.fits')]);
  pages = await servePagesAnd(folder);
  faults = await serveFaults(folder);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await pages?.stop();
  await faults?.stop();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  thrown = [];
  page.on('pageerror', (error) => thrown.push(String(error)));
});

afterEach(async () => {
  await page.close();
  assert.deepEqual(thrown, [], 'the page threw');
});

const done = () => page.waitForFunction(() => document.querySelector('#status').textContent.startsWith('Done') && document.querySelector('#main').dataset.task === '', undefined, { timeout: 60_000 });

/** The HDUs of a FITS file: header text and data, padding included. */
function hdus(bytes) {
  const found = [];
  for (let at = 0; at < bytes.length; ) {
    let end = at;
    while (!/^END\s*$/.test(bytes.toString('latin1', end, end + 80))) end += 80;
    const data = Math.ceil((end + 80) / 2880) * 2880;
    const header = bytes.toString('latin1', at, end);
    const number = (key) => Number(new RegExp(`${key.padEnd(8)}= +(-?\\d+)`).exec(header)?.[1] ?? 0);
    const size = (Math.abs(number('BITPIX')) / 8) * number('NAXIS1') * number('NAXIS2');
    found.push({ header, data: bytes.subarray(data, data + size) });
    at = data + Math.ceil(size / 2880) * 2880;
  }
  return found;
}

async function download(click) {
  const [file] = await Promise.all([page.waitForEvent('download'), click()]);
  return readFileSync(await file.path());
}

test('a link runs the stack; what is exported is what the program computes', async () => {
  await page.goto(`${pages.base}#src=data/exposures.txt&run=1&c=100,120`);
  await done();
  await page.click('#export');
  const fits = await download(() => page.click('#export-fits'));
  const [ours, theirs] = [hdus(fits), hdus(readFileSync(join(folder, 'median.fits')))];
  assert.equal(ours.length, 2);
  for (const i of [0, 1]) assert.ok(ours[i].data.equals(theirs[i].data), `HDU ${i} differs`);
  for (const card of ['NCOMBINE=                    5', "BUNIT   = 'MJy/sr", 'CRPIX1', 'HISTORY sectile']) assert.ok(ours[0].header.includes(card), card);
  assert.match(ours[1].header, /EXTNAME = 'COUNT/);
  assert.match(await page.textContent('#memory-meter, #readout'), /MiB|x/);
});

test('the cursor tells value, count and place on the sky', async () => {
  await page.goto(`${pages.base}#src=data/exposures.txt&run=1`);
  await done();
  await page.focus('#view');
  for (let i = 0; i < 3; i += 1) await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => /\d/.test(document.querySelector('#read-degrees').textContent));
  const [x, y, value, count] = await page.evaluate(() => ['x', 'y', 'value', 'count'].map((name) => document.querySelector(`#read-${name}`).textContent));
  const at = Number(/-?\d+/.exec(y)[0]) * 256 + Number(/-?\d+/.exec(x)[0]);
  const [median, counts] = hdus(readFileSync(join(folder, 'median.fits')));
  const right = median.data.readFloatBE(4 * at);
  assert.ok(Math.abs(parseFloat(value) - right) <= 1e-4 * Math.abs(right), `${value} is not ${right}`);
  assert.ok(value.includes('MJy/sr'), value);
  assert.equal(Number(/\d+/.exec(count)[0]), counts.data.readInt16BE(2 * at));
});

test('files from disk run, with no request but for the page itself', async () => {
  await page.goto(pages.base);
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  const names = [1, 2, 3].map((i) => join(folder, `exposure_0${i}.fits`));
  await page.setInputFiles('#files', names);
  await page.waitForFunction(() => document.querySelector('#exposures-count').textContent.includes('3'));
  await page.click('#run');
  await done();
  assert.deepEqual(requests.filter((url) => !url.startsWith(pages.base)), []);
  assert.deepEqual(requests.filter((url) => url.includes('.fits')), [], 'nothing is uploaded or fetched');
});

test('text out of a file stays text', async () => {
  const card = (text) => text.padEnd(80);
  const hostile = "<img src=x onerror='document.title=1'>";
  const header = ['SIMPLE  =                    T', 'BITPIX  =                    8', 'NAXIS   =                    2', 'NAXIS1  =                    4', 'NAXIS2  =                    4', `BUNIT   = '${hostile.replaceAll("'", "''").slice(0, 60)}'`, 'END'].map(card).join('').padEnd(2880);
  const body = Buffer.concat([Buffer.from(header), Buffer.alloc(2880, 7)]);
  await page.goto(pages.base);
  await page.setInputFiles('#files', [{ name: '<img src=x onerror=alert(1)>.fits', mimeType: 'application/fits', buffer: body }]);
  await page.waitForFunction(() => document.querySelector('#exposures').textContent.includes('<img'));
  await page.click('#run');
  await done();
  assert.equal(await page.locator('img').count(), 0);
  assert.notEqual(await page.title(), '1');
});

test('Cancel stops the requests at once', async () => {
  await fetch(`${faults.base}__reset`);
  await page.goto(`${pages.base}#${[1, 2, 3].map((i) => `src=${encodeURIComponent(`${faults.base}slow/exposure_0${i}.fits`)}`).join('&')}&run=1`);
  await page.waitForFunction(() => document.querySelector('#main').dataset.task === 'run' || !document.querySelector('#cancel').disabled);
  await page.waitForTimeout(900);
  await page.click('#cancel');
  await page.waitForFunction(() => document.querySelector('#main').dataset.task === '');
  await page.waitForTimeout(300);
  const { active } = await (await fetch(`${faults.base}__log`)).json();
  assert.equal(active, 0);
});

test('the pages come with the policy that they state', async () => {
  const response = await page.goto(pages.base);
  const header = response.headers()['content-security-policy'];
  const meta = await page.getAttribute('meta[http-equiv="Content-Security-Policy" i]', 'content');
  const rules = (text) => text.split(';').map((rule) => rule.trim().replace(/\s+/g, ' ')).filter(Boolean).sort();
  assert.ok(rules(meta).every((rule) => rules(header).includes(rule)), `${header} | ${meta}`);
  assert.ok(!/unsafe-inline|'unsafe-eval'/.test(meta));
  assert.match(meta, /default-src 'none'/);
});
