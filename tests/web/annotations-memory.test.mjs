/** The memory statement of the page: all cores that live at one time share the budget, whatever is done in it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { launch } from './chromium.mjs';
import { writePair } from './pair.mjs';
import { servePagesAnd } from './site.mjs';

const MEBIBYTE = 2 ** 20;
/** Palmitate, so that something is found. */
const PEAKS = [[255.23295, 100], [256.23635, 17.5], [257.2394, 1.87]];

let folder;
let pair;
let pages;
let browser;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-annotations-memory-'));
  const spectra = Array.from({ length: 20 * 15 }, (_, i) => {
    const [x, y] = [i % 20, Math.floor(i / 20)];
    return { x: x + 1, y: y + 1, peaks: PEAKS.map(([mz, height]) => [mz, 1 + height * Math.exp(-(((x - 8) / 5) ** 2) - ((y - 7) / 4) ** 2)]) };
  });
  pair = writePair(join(folder, 'fatty'), { spectra });
  pages = await servePagesAnd(folder);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await pages?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A page on which every worker tells the maximum of its memory when it makes one, and the page what is alive. */
async function watched(memory) {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.route(/\/ions\/(annotate|compute)\.js$/, async (route) => {
    const response = await route.fetch();
    const telling = 'const Plain = WebAssembly.Memory; WebAssembly.Memory = class extends Plain { constructor(how) { super(how); self.postMessage({ maximum: how.maximum * 65536 }); } };';
    await route.fulfill({ response, body: `${telling}\n${await response.text()}` });
  });
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'hardwareConcurrency', { value: 8 });
    const live = new Map();
    const seen = { most: 0, mostAnnotating: 0, mostWorkers: 0, live: () => [...live.values()].map(({ name }) => name) };
    globalThis.seen = seen;
    const Plain = Worker;
    globalThis.Worker = class extends Plain {
      constructor(url, options) {
        super(url, options);
        this.addEventListener('message', ({ data }) => {
          if (!data.maximum) return;
          live.set(this, { name: new URL(url).pathname.split('/').pop(), maximum: data.maximum });
          const all = [...live.values()];
          const annotating = all.filter(({ name }) => name === 'annotate.js');
          const sum = (of) => of.reduce((bytes, { maximum }) => bytes + maximum, 0);
          seen.most = Math.max(seen.most, sum(all));
          seen.mostAnnotating = Math.max(seen.mostAnnotating, sum(annotating));
          seen.mostWorkers = Math.max(seen.mostWorkers, annotating.length);
        });
      }

      terminate() {
        live.delete(this);
        super.terminate();
      }
    };
  });
  await page.goto(`${pages.base}ions.html#side=annotations&mem=${memory / MEBIBYTE}%20MiB`);
  // The list can be looked at before there is a dataset.
  await page.waitForFunction(() => sectile.annotations.search.counted);
  await page.setInputFiles('#files', pair);
  await page.waitForFunction(() => sectile.session.info);
  return page;
}

for (const memory of [48 * MEBIBYTE, 256 * MEBIBYTE]) {
  test(`cores of the page within ${memory / MEBIBYTE} MiB: images a half, all that annotates the other`, { timeout: 240_000 }, async () => {
    const page = await watched(memory);
    for (let run = 0; run < 2; run += 1) {
      await page.evaluate(() => { document.querySelector('#search').open = true; });
      // Counted again and again, as somebody does who tries what happens.
      for (const adduct of ['+Cl', '+Cl', '-H', '-H', '+Cl', '+Cl']) {
        await page.click(`[data-adduct="${adduct}"]`);
        await page.waitForTimeout(run === 0 ? 330 : 0);
      }
      await page.waitForFunction(() => !document.querySelector('#annotate').disabled);
      await page.click('#annotate');
      await page.waitForFunction(() => sectile.annotations.results && !sectile.annotations.search.running);
      await page.waitForFunction(() => seen.live().length === 1);
      assert.deepEqual(await page.evaluate(() => seen.live()), ['compute.js'], 'what has annotated is given back');
    }
    // Another dataset while one is annotated and counted.
    await page.evaluate(() => { document.querySelector('#search').open = true; });
    await page.click('#annotate');
    await page.waitForFunction(() => seen.live().includes('annotate.js'));
    await page.setInputFiles('#files', pair);
    await page.waitForFunction(() => sectile.session.info && !document.querySelector('#annotate').disabled);
    const { most, mostAnnotating, mostWorkers } = await page.evaluate(() => seen);
    assert.ok(most <= memory, `${most / MEBIBYTE} MiB in all`);
    assert.ok(mostAnnotating <= memory / 2, `${mostAnnotating / MEBIBYTE} MiB to annotate`);
    // 24 MiB are the share of one; of 128, what the ions of the list are worth.
    assert.ok(memory < 64 * MEBIBYTE ? mostWorkers === 1 : mostWorkers > 1, `${mostWorkers} workers`);
    await page.context().close();
  });
}
