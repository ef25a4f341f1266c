// Whole jobs over a line of known latency and bandwidth, as JSON lines:
//
//   node benches/job.mjs --bench [--count 40] [--rounds 1] [--chromium]
//
// 40 exposures of 2048x2048 f32 (671 MB), 50 ms a request, 100 MB/s in all: by the library in Node, by
// the program, and with --chromium in a page. `ratio` is wall time over bytes / bandwidth; the issue's
// limits are 1.15 at 64 and 256 MiB with 6 requests in flight and 1.25 at 16 MiB with 16.
// `reduce_ns` is the time in the kernel, byte swap included, an element (Node only).
// Needs what `cargo xtask dist` and `cargo build --release` leave.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

import { program, serveExposures, servePagesAnd, SITE } from '../tests/web/site.mjs';

const run = promisify(execFile);
const { values: options } = parseArgs({
  options: {
    bench: { type: 'boolean' },
    chromium: { type: 'boolean' },
    count: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '1' },
  },
});
const count = Number(options.count);
const RATE = 100;
const floor = (count * 2048 * 2048 * 4) / (RATE * 1e6);
const CELLS = [[16, 16], [64, 6], [256, 6]];
/** A browser opens six connections an origin over HTTP/1.1; more in flight need more origins. */
const origins = (inFlight) => Math.ceil(inFlight / 6);

function tell(target, mebibytes, inFlight, tally, more = {}) {
  const { seconds, requests, peak_bytes } = tally;
  console.log(JSON.stringify({ bench: 'job', target, mebibytes, in_flight: inFlight, count, seconds, floor, ratio: seconds / floor, requests, peak_bytes, ...more }));
}

async function library(base, mebibytes, inFlight) {
  const script = fileURLToPath(new URL('../tests/web/library.mjs', import.meta.url));
  const job = { site: SITE, memory: mebibytes << 20, inFlight, urls: [`${base}exposures.txt`], clock: true };
  const { stdout } = await run(process.execPath, [script, JSON.stringify(job)], { maxBuffer: 1 << 24 });
  const { tally, reduce_seconds, cpu_seconds } = JSON.parse(stdout);
  tell('node', mebibytes, inFlight, tally, { reduce_ns: (reduce_seconds * 1e9) / (count * 2048 * 2048), cpu_seconds });
}

async function native(base, mebibytes, inFlight) {
  const folder = mkdtempSync(join(tmpdir(), 'sectile-bench-'));
  try {
    const { stdout } = await run(program(), ['--json', 'median', `${base}exposures.txt`, '-o', join(folder, 'out.fits'), '--memory', `${mebibytes}MiB`, '--in-flight', String(inFlight)], { maxBuffer: 1 << 26 });
    tell('native', mebibytes, inFlight, JSON.parse(stdout.trim().split('\n').pop()));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function chromium(page, base, mebibytes, inFlight) {
  const tally = await page.evaluate(async ({ url, memory, inFlight }) => {
    const { Compute } = await import('./app/client.js');
    const compute = new Compute({ memory });
    await compute.open([{ url }], {});
    const tally = await compute.median({ inFlight }, { onSection() {} });
    compute.close();
    return tally;
  }, { url: `${base}exposures.txt`, memory: mebibytes << 20, inFlight });
  tell('chromium', mebibytes, inFlight, tally);
}

let browser;
let pages;
if (options.chromium) {
  const { launch } = await import('../tests/web/chromium.mjs');
  pages = await servePagesAnd(tmpdir());
  browser = await launch();
}
for (let round = 0; round < Number(options.rounds); round += 1) {
  for (const [mebibytes, inFlight] of CELLS) {
    const server = await serveExposures({ 'latency-ms': 50, 'mb-per-s': RATE, count, origins: origins(inFlight) });
    try {
      await library(server.base, mebibytes, inFlight);
      await native(server.base, mebibytes, inFlight);
      if (browser) {
        const page = await browser.newPage();
        await page.goto(pages.base);
        await chromium(page, server.base, mebibytes, inFlight);
        await page.close();
      }
    } finally {
      await server.stop();
    }
  }
}
await browser?.close();
await pages?.stop();
