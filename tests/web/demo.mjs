// One visit to the running demo by headless Chromium, at desktop and at phone size: waits until the page says that
// the median is done, saves a picture of each, and prints the tally of the first as one line of JSON.
// Any error that the page shows, throws or logs fails it, and so does any request that fails or is broken off.
//
//   node tests/web/demo.mjs --address http://127.0.0.1:8787/#... --out DIR [--chromium PATH]
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';

const PATIENCE = 180_000;
// No profile services: a visit asks only for what the page asks for.
const FLAGS = ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const VISITS = [
  { picture: 'page.png', look: { viewport: { width: 1440, height: 900 } } },
  { picture: 'phone.png', look: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true } },
];

const { values: options } = parseArgs({
  options: { address: { type: 'string' }, out: { type: 'string' }, chromium: { type: 'string', default: '/usr/bin/chromium' } },
});
if (!options.address || !options.out) {
  console.error('usage: demo.mjs --address URL --out DIR [--chromium PATH]');
  process.exit(2);
}

const out = resolve(options.out);
await mkdir(out, { recursive: true });
const browser = await chromium.launch({ executablePath: options.chromium, args: FLAGS });
try {
  const tallies = [];
  for (const { picture, look } of VISITS) tallies.push(await visit(look, join(out, picture)));
  const pictures = VISITS.map(({ picture }) => join(out, picture));
  console.log(JSON.stringify({ event: 'done', ...tallies[0], pictures }));
} catch (error) {
  console.error(`demo: ${error.message}`);
  process.exitCode = 1;
} finally {
  await browser.close();
}

/** Opens the address, waits for the median, saves the picture. Hands back the page's last tally. */
async function visit(look, picture) {
  const context = await browser.newContext(look);
  try {
    const page = await context.newPage();
    const faults = watchFaults(page);
    await page.addInitScript(watchTally);
    await page.goto(options.address);
    const ended = await page.waitForFunction(ending, undefined, { timeout: PATIENCE, polling: 100 }).catch(async () => {
      await page.screenshot({ path: picture });
      throw new Error(`the page did not finish within ${PATIENCE / 1000} s; see ${picture}`);
    });
    const { error, tally } = await ended.jsonValue();
    await page.evaluate(settled);
    await page.screenshot({ path: picture });
    if (error) faults.unshift(`the page shows “${error}”`);
    if (!error && !tally) faults.unshift('the page is done but never told a tally');
    if (faults.length > 0) throw new Error(`${faults.join('\n  ')}\n  see ${picture}`);
    return tally;
  } finally {
    await context.close();
  }
}

function watchFaults(page) {
  const faults = [];
  page.on('pageerror', (error) => faults.push(`the page threw ${error.stack ?? error}`));
  page.on('crash', () => faults.push('the page crashed'));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`the page logged “${message.text()}”`);
  });
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText;
    faults.push(`${request.url()} failed: ${why}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.url()} answered ${response.status()}`);
  });
  return faults;
}

/** In the page, before its scripts: keeps the last tally of the run. The page hands itself out as `sectile`. */
function watchTally() {
  let handed;
  Object.defineProperty(globalThis, 'sectile', {
    configurable: true,
    get: () => handed,
    set(page) {
      handed = page;
      page.session.addEventListener('progress', ({ detail: { task, ...tally } }) => {
        if (task === 'run') globalThis.lastTally = tally;
      });
    },
  });
}

/** In the page: waits for what still moves, and for two frames, so that what was painted last is on screen. */
async function settled() {
  const pause = new Promise((done) => setTimeout(done, 1000));
  await Promise.race([pause, Promise.allSettled(document.getAnimations().map((animation) => animation.finished))]);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}

/** In the page: how it ended, or false while it has not. */
function ending() {
  const notice = document.querySelector('#notice:not([hidden])[data-kind="error"] p');
  if (notice) return { error: notice.textContent };
  const idle = document.querySelector('#main')?.dataset.task === '';
  const told = document.querySelector('#status')?.textContent ?? '';
  return idle && told.startsWith('Done') ? { tally: globalThis.lastTally } : false;
}
