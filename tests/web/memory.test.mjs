/** Big stacks and many stacks in one small instance, in headless Chromium. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { launch } from './chromium.mjs';
import { program, serveExposures, servePagesAnd } from './site.mjs';

const MEBIBYTE = 1 << 20;
let folder;
let pages;
let browser;
let page;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-memory-'));
  execFileSync(program(), ['demo-data', folder, '--exposures', '3', '--size', '64']);
  pages = await servePagesAnd(folder);
  browser = await launch();
  page = await browser.newPage();
  await page.goto(pages.base);
});

after(async () => {
  await browser?.close();
  await pages?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('40 × 2048² exposures, 671 MB, in an instance of 32 MiB', { timeout: 300_000 }, async () => {
  const server = await serveExposures({ 'latency-ms': 0, 'mb-per-s': 4000, count: 40 });
  try {
    const { plan, tally, sum, memory } = await page.evaluate(async ({ list, memory }) => {
      const { Compute } = await import('./app/client.js');
      const compute = new Compute({ memory });
      await compute.open([{ url: list }], {});
      const plan = await compute.plan({});
      let sum = 0;
      let top = 0;
      const tally = await compute.median({}, {
        onSection: ({ count }) => { for (const one of count) sum += one; },
        onProgress: ({ peak_bytes }) => { top = Math.max(top, peak_bytes); },
      });
      compute.close();
      return { plan, tally, sum, memory: top };
    }, { list: `${server.base}exposures.txt`, memory: 32 * MEBIBYTE });
    assert.ok(tally.peak_bytes < 32 * MEBIBYTE && memory < 32 * MEBIBYTE, `${tally.peak_bytes}`);
    assert.ok(tally.peak_bytes <= plan.peak_bytes);
    assert.equal(tally.bytes_payload, 40 * 2048 * 2048 * 4);
    assert.equal(tally.bytes_fetched, tally.bytes_payload);
    // One pixel in a hundred is NaN in the synthetic exposures.
    assert.ok(sum > 0.98 * 40 * 2048 * 2048 && sum < 40 * 2048 * 2048);
  } finally {
    await server.stop();
  }
});

test('opening twenty stacks one after another does not raise the peak', async () => {
  const sizes = await page.evaluate(async () => {
    const { Compute } = await import('./app/client.js');
    const compute = new Compute({ memory: 16 << 20 });
    const sizes = [];
    for (let i = 0; i < 20; i += 1) {
      await compute.open([{ url: 'data/exposures.txt' }], {});
      let last = 0;
      await compute.median({}, { onProgress: ({ peak_bytes }) => { last = peak_bytes; } });
      sizes.push(last);
    }
    compute.close();
    return sizes;
  });
  assert.ok(sizes[19] <= sizes[1], sizes.join(' '));
});

test('a header that claims more than there can be is an error with numbers, and the instance lives', async () => {
  const told = await page.evaluate(async () => {
    const { Compute } = await import('./app/client.js');
    const card = (text) => text.padEnd(80);
    const header = ['SIMPLE  =                    T', 'BITPIX  =                  -64', 'NAXIS   =                    2', 'NAXIS1  =           2000000000', 'NAXIS2  =           2000000000', 'END'].map(card).join('').padEnd(2880);
    const compute = new Compute({ memory: 16 << 20 });
    const reason = await compute.open([{ file: new File([header], 'huge.fits') }], {}).then(
      (stack) => stack.exposures[0].reason ?? 'taken',
      (error) => error.message,
    );
    const stack = await compute.open([{ url: 'data/exposures.txt' }], {});
    compute.close();
    return { reason, width: stack.width };
  });
  assert.match(told.reason, /\d{6}/);
  assert.equal(told.width, 64);
});
