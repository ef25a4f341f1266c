// One visit to each page of the running demo by headless Chromium, at desktop and at phone size: waits until the page
// says that the median is done, until the ion images are on show, or until the annotations are there, saves a picture,
// and prints what the first visit to a page has found as one line of JSON.
// Any error that a page shows, throws or logs fails it, and so does any request that fails or is broken off.
//
//   node tests/web/demo.mjs --stack http://127.0.0.1:8787/#... --ions http://127.0.0.1:8787/ions.html#...
//     --annotations http://127.0.0.1:8787/ions.html#... --out DIR [--chromium PATH]
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';

const PATIENCE = 180_000;
// No profile services: a visit asks only for what the page asks for.
const FLAGS = ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const DESKTOP = { viewport: { width: 1440, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

const { values: options } = parseArgs({
  options: {
    stack: { type: 'string' }, ions: { type: 'string' }, annotations: { type: 'string' }, out: { type: 'string' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
});
if (!options.stack || !options.ions || !options.annotations || !options.out) {
  console.error('usage: demo.mjs --stack URL --ions URL --annotations URL --out DIR [--chromium PATH]');
  process.exit(2);
}

/** The pages: how each is known to have ended, and the pictures of it. */
const PAGES = [
  { name: 'stack', address: options.stack, ending: stackEnding, visits: [['page.png', DESKTOP], ['phone.png', PHONE]] },
  { name: 'ions', address: options.ions, ending: ionsEnding, visits: [['ions.png', DESKTOP], ['ions-phone.png', PHONE]] },
  { name: 'annotations', address: options.annotations, ending: annotationsEnding, visits: [['annotations.png', DESKTOP], ['annotations-phone.png', PHONE]] },
];

const out = resolve(options.out);
await mkdir(out, { recursive: true });
const browser = await chromium.launch({ executablePath: options.chromium, args: FLAGS });
try {
  for (const page of PAGES) {
    const found = [];
    for (const [picture, look] of page.visits) found.push(await visit(page, look, join(out, picture)));
    const pictures = page.visits.map(([picture]) => join(out, picture));
    console.log(JSON.stringify({ event: 'done', page: page.name, ...found[0], pictures }));
  }
} catch (error) {
  console.error(`demo: ${error.message}`);
  process.exitCode = 1;
} finally {
  await browser.close();
}

/** Opens the address, waits for the end, saves the picture. Hands back what the page has found. */
async function visit({ address, ending }, look, picture) {
  const context = await browser.newContext(look);
  try {
    const page = await context.newPage();
    const faults = watchFaults(page);
    await page.addInitScript(watchTally);
    await page.goto(address);
    const ended = await page.waitForFunction(ending, undefined, { timeout: PATIENCE, polling: 100 }).catch(async () => {
      await page.screenshot({ path: picture });
      throw new Error([`the page did not finish within ${PATIENCE / 1000} s`, ...faults, `see ${picture}`].join('\n  '));
    });
    const { error, found } = await ended.jsonValue();
    await page.evaluate(settled);
    await page.screenshot({ path: picture });
    if (error) faults.unshift(`the page shows “${error}”`);
    if (!error && !found) faults.unshift('the page is done but has nothing to tell');
    if (faults.length > 0) throw new Error(`${faults.join('\n  ')}\n  see ${picture}`);
    return found;
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

/** In the page, before its scripts: keeps the last tally of a run. The page hands itself out as `sectile`. */
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

/** In the page: how the median ended, or false while it has not. */
function stackEnding() {
  const notice = document.querySelector('#notice:not([hidden])[data-kind="error"] p');
  if (notice) return { error: notice.textContent };
  const idle = document.querySelector('#main')?.dataset.task === '';
  const told = document.querySelector('#status')?.textContent ?? '';
  return idle && told.startsWith('Done') ? { found: globalThis.lastTally } : false;
}

/** In the page: how the ion images ended, or false while not all that the address asks for are on show. */
function ionsEnding() {
  const notice = document.querySelector('#notice:not([hidden])[data-kind="error"] p');
  if (notice) return { error: notice.textContent };
  const { display, session, wanted } = globalThis.sectile ?? {};
  const layers = display?.layers ?? [];
  if (!session?.info || layers.length === 0 || layers.length < wanted.layers.length) return false;
  const images = layers.map(({ plane: { image } }) => {
    const acquired = image.values.filter((value) => !Number.isNaN(value));
    return { pixels: acquired.length, signal: acquired.filter((value) => value > 0).length, max: image.max };
  });
  const dark = images.findIndex(({ signal, max }) => signal === 0 || !(max > 0));
  if (dark >= 0) return { error: `nothing: image ${dark + 1} of ${images.length} is all zero or no data` };
  const { width, height, peaks } = session.info;
  return { found: { width, height, peaks, images } };
}

/** Runs in the page: whether the annotations are there, and the image of the best one. */
function annotationsEnding() {
  const notice = document.querySelector('#notice:not([hidden])[data-kind="error"] p, #annotating-error:not([hidden])');
  if (notice) return { error: notice.textContent };
  const { annotations, display } = globalThis.sectile ?? {};
  const rows = annotations?.results?.rows;
  if (!rows || !annotations.row || !annotations.leading || !(display.layers[0]?.plane.image.max > 0)) return false;
  const found = rows.filter(({ fdr }) => fdr <= 0.1);
  const [best] = rows;
  return { found: { rows: rows.length, at10: found.length, best: `${best.formula}${best.adduct}`, msm: best.msm, images: document.querySelectorAll('#panel-isotopes canvas').length } };
}
