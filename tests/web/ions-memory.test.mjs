/** A dataset twenty times the budget, packed in headless Chromium through the browser's own storage. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { makePair, servePair } from '../servers/pair.mjs';
import { launchWithProfile } from './chromium.mjs';
import { servePagesAnd } from './site.mjs';

const BUDGET = 8 << 20;
let folder;
let pages;
let browser;
let page;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-ions-memory-'));
  pages = await servePagesAnd(folder);
  browser = await launchWithProfile();
  page = await browser.newPage();
  await page.goto(pages.base);
});

after(async () => {
  await browser?.close();
  await pages?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('168 MB of spectra in an instance of 8 MiB', { timeout: 300_000 }, async () => {
  const pair = makePair({ width: 64, height: 64, peaks: 2560 });
  assert.ok(pair.size >= 20 * BUDGET);
  const server = await servePair(pair);
  const peaks = [0, 1, 1250, 2559];
  try {
    const found = await page.evaluate(async ({ base, memory, wanted }) => {
      const { IonCompute } = await import('./ions/client.js');
      const compute = new IonCompute({ memory });
      let top = 0;
      const told = [];
      const start = performance.now();
      const info = await compute.open({ pair: { imzml: { url: `${base}pair.imzML` }, ibd: { url: `${base}pair.ibd` } } }, {
        onProgress: (now) => {
          top = Math.max(top, now.peak_bytes);
          told.push(now);
        },
      });
      const seconds = (performance.now() - start) / 1000;
      const images = [];
      for (const mz of wanted) {
        const image = await compute.image({ mz, ppm: 3 });
        images.push({ ...image, values: [...image.values] });
      }
      const { size } = await compute.store();
      await compute.open({ url: `${base}nothing` }).catch(() => {});
      const left = await compute.clean();
      compute.close();
      return { info, top, told, seconds, images, size, left };
    }, { base: server.base, memory: BUDGET, wanted: peaks.map(pair.mzOf) });
    const { info, told } = found;
    console.log(`packed ${info.peaks} peaks of ${pair.size} bytes in ${found.seconds.toFixed(1)} s`);
    assert.ok(info.packed.peak_bytes <= BUDGET && found.top <= BUDGET, `${info.packed.peak_bytes} ${found.top}`);
    assert.equal(info.peaks, 64 * 64 * 2560);
    assert.equal(info.bytes, found.size);
    for (const [k, image] of found.images.entries()) {
      assert.ok(image.requests <= 1 && image.bytes < 1 << 20);
      assert.ok(image.values.every((value, p) => value === pair.intensityOf(p, peaks[k])), `image of peak ${peaks[k]}`);
    }
    // Each byte of the .ibd once; of the XML the first 16 bytes and the last read's overlap again.
    const { bytes } = server.log();
    assert.ok(bytes < pair.size + pair.imzML.length + 1024, `${bytes}`);
    assert.deepEqual([...new Set(told.map(({ phase }) => phase))], ['index', 'plan', 'read', 'sort']);
    assert.ok(told.every(({ done, total }) => done <= total));
    assert.ok(told.some(({ seconds_left }) => seconds_left > 0));
    const parts = told.map(({ overall }) => overall);
    assert.deepEqual(parts, parts.toSorted((a, b) => a - b), 'one bar, which does not start again');
    assert.ok(parts[0] < 0.2 && parts.at(-1) > 0.7 && parts.at(-1) <= 1, `${parts}`);
    assert.deepEqual(found.left, { removed: 0, bytes: 0 }, 'a store that is not kept is gone');
  } finally {
    await server.stop();
  }
});
