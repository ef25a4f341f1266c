// The first image of a store on a server, as JSON lines:
//
//   node benches/first-image.mjs STORE.sectile [--latency-ms 50] [--mb-per-s 100] [--mz M] [--rounds 7] [--chromium]
//
// Each round opens the store anew over a line of that latency and bandwidth, reads its directory, and fetches one image
// with the tolerance of the page, 3 ppm. `ms` is the median of the rounds, from the call of `IonStore.open` to the image;
// the core is there already. `target` is `node`, or with --chromium also `chromium`, the library in a page of another
// origin, and `page`: the ion page from a click on Open to the image on screen, its mean spectrum and the start of a
// worker among it. Needs what `cargo xtask dist` and `cargo build` leave.

import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { ROOT, serve, servePagesAnd, SITE } from '../tests/web/site.mjs';

const { values: options, positionals: [store] } = parseArgs({
  allowPositionals: true,
  options: {
    'latency-ms': { type: 'string', default: '50' },
    'mb-per-s': { type: 'string', default: '100' },
    mz: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    chromium: { type: 'boolean' },
  },
});
if (!store) throw new Error('which store? node benches/first-image.mjs STORE.sectile');
const rounds = Number(options.rounds);
const line = await serve(process.execPath, [
  join(ROOT, 'benches/server.mjs'), '--latency-ms', options['latency-ms'], '--mb-per-s', options['mb-per-s'], '--folder', dirname(resolve(store)),
]);
const url = `${line.base}files/${encodeURIComponent(basename(store))}`;

/** One round in whatever realm this is called: the library is an argument, for the page has its own. */
async function round({ IonStore }, url, mz) {
  const start = performance.now();
  const opened = await IonStore.open(url);
  const directory = performance.now() - start;
  // Any m/z will do; the middle of the range by default.
  const image = await opened.image(mz ?? (opened.info.mz[0] + opened.info.mz[1]) / 2, { ppm: 3 });
  const ms = performance.now() - start;
  const { requests, bytes_fetched: bytes } = opened.opening;
  const { peaks } = opened.info;
  opened.free();
  return { ms, directory_ms: directory, hits: image.hits, requests: requests + image.requests, bytes: bytes + image.bytes, peaks };
}

/** The round whose time is the median. */
const median = (all) => all.sort((a, b) => a.ms - b.ms)[all.length >> 1];

function tell(target, figures) {
  const { 'latency-ms': latency_ms, 'mb-per-s': mb_per_s } = options;
  console.log(JSON.stringify({ bench: 'first-image', target, latency_ms: Number(latency_ms), mb_per_s: Number(mb_per_s), rounds, ...figures }));
}

async function repeated(once) {
  const all = [];
  // The first one opens connections and compiles; it is not counted.
  for (let i = 0; i <= rounds; i += 1) all.push(await once(i));
  return median(all.slice(1));
}

const mz = options.mz === undefined ? undefined : Number(options.mz);

async function inNode() {
  const library = await import(pathToFileURL(join(SITE, 'core/ions.js')).href);
  await library.init({ module: readFileSync(join(SITE, 'pkg/ions/ions_bg.wasm')), memory: 64 << 20 });
  tell('node', await repeated(() => round(library, url, mz)));
}

async function inChromium() {
  const { launch } = await import('../tests/web/chromium.mjs');
  const pages = await servePagesAnd(dirname(resolve(store)));
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(pages.base);
    await page.evaluate(async () => (await import('./core/ions.js')).init({ memory: 64 << 20 }));
    tell('chromium', await repeated(() => page.evaluate(async ([code, url, mz]) => {
      const once = new Function(`return ${code}`)();
      return once(await import('./core/ions.js'), url, mz ?? undefined);
    }, [String(round), url, mz ?? null])));
    tell('page', await repeated(() => inPage(browser, `${pages.base}ions.html`)));
  } finally {
    await browser.close();
    await pages.stop();
  }
}

/** The whole page, from the click to the picture. */
async function inPage(browser, address) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    await page.goto(address);
    await page.fill('#url', url);
    // The core is there once it has listed what is kept.
    await page.evaluate(() => sectile.open.list());
    return await page.evaluate((mz) => new Promise((done) => {
      if (mz) sectile.state.mz = [mz];
      const start = performance.now();
      const look = () => {
        const [layer] = sectile.display.layers;
        if (!layer) requestAnimationFrame(look);
        else done({ ms: performance.now() - start, hits: layer.plane.image.hits });
      };
      document.querySelector('#open').click();
      look();
    }), mz ?? null);
  } finally {
    await context.close();
  }
}

try {
  await inNode();
  if (options.chromium) await inChromium();
} finally {
  await line.stop();
}
