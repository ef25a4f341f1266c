// Packing and images as WebAssembly, as JSON lines:
//
//   node benches/ions.mjs --bench [--peaks 2000] [--memory 64] [--chromium]
//
// 100x100 spectra of so many peaks, f64 m/z and f32 intensities (20 million peaks, 240 MB), packed from files on
// disk into files on disk, in Node and with --chromium in a page through the browser's own storage. `cpu_rate` is
// peaks a second of processor time: of the process in Node, of the page's process in Chromium, where the browser's
// other processes do the reading and writing. `image_us` is the processor time of one image of about 470 peaks whose
// blocks are at hand, all the way through the library. Needs what `cargo xtask dist` and `cargo build` leave.

import { closeSync, fsyncSync, ftruncateSync, mkdtempSync, openAsBlob, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { makePair } from '../tests/servers/pair.mjs';
import { servePagesAnd, SITE } from '../tests/web/site.mjs';

const { values: options } = parseArgs({
  options: {
    bench: { type: 'boolean' },
    chromium: { type: 'boolean' },
    peaks: { type: 'string', default: '2000' },
    memory: { type: 'string', default: '64' },
  },
});
const memory = Number(options.memory) << 20;
const pair = makePair({ width: 100, height: 100, peaks: Number(options.peaks), mz: 8, intensity: 4 });
const folder = mkdtempSync(join(tmpdir(), 'sectile-bench-'));
const names = ['imzML', 'ibd'].map((end) => join(folder, `pair.${end}`));

/** A file on disk, in the form that packing takes. */
class DiskFile {
  constructor(name) {
    this.handle = openSync(join(folder, name), 'w+');
    this.size = 0;
    this.sync = true;
  }

  write(at, bytes) {
    writeSync(this.handle, bytes, 0, bytes.length, at);
    this.size = Math.max(this.size, at + bytes.length);
  }

  readInto(at, place) {
    return readSync(this.handle, place, 0, place.length, at);
  }

  read(start, end) {
    const bytes = new Uint8Array(end - start);
    return bytes.subarray(0, this.readInto(start, bytes));
  }

  truncate(size) {
    ftruncateSync(this.handle, size);
    this.size = size;
  }

  flush() {
    fsyncSync(this.handle);
  }

  close() {
    closeSync(this.handle);
  }
}

function tell(bench, target, figures) {
  console.log(JSON.stringify({ bench, target, mebibytes: memory >> 20, ...figures }));
}

async function inNode() {
  const { init, IonStore, pack, Checkpoint } = await import(pathToFileURL(join(SITE, 'core/ions.js')).href);
  await init({ module: readFileSync(join(SITE, 'pkg/ions/ions_bg.wasm')), memory });
  const [imzml, ibd] = await Promise.all(names.map(async (name) => new File([await openAsBlob(name)], basename(name))));
  const [target, spill, ...halves] = ['store', 'spill', 'a', 'b'].map((name) => new DiskFile(name));
  const [before, start] = [process.cpuUsage(), performance.now()];
  const { report } = await pack(imzml, ibd, target, { spill, state: new Checkpoint(...halves) });
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(before);
  const cpu_seconds = (user + system) / 1e6;
  const { peaks, store_bytes, peak_bytes } = report;
  tell('ions-pack', 'node', { peaks, seconds, cpu_seconds, cpu_rate: peaks / cpu_seconds, bytes_a_peak: store_bytes / peaks, peak_bytes });
  const store = await IonStore.open(await openAsBlob(join(folder, 'store')));
  const mz = pair.mzOf(pair.peaks >> 1);
  // Peaks lie within 1 ppm of their m/z, evenly: so few of them make an image of about 470.
  let image = await store.image(mz, { ppm: 0.047 });
  const [rounds, used] = [2000, process.cpuUsage()];
  for (let i = 0; i < rounds; i += 1) image = await store.image(mz, { ppm: 0.047 });
  const after = process.cpuUsage(used);
  tell('ions-image', 'node', { hits: image.hits, requests: image.requests, image_us: (after.user + after.system) / rounds });
}

async function inChromium() {
  const { launchWithProfile } = await import('../tests/web/chromium.mjs');
  const pages = await servePagesAnd(folder);
  const context = await launchWithProfile();
  try {
    const page = await context.newPage();
    await page.goto(pages.base);
    await page.evaluate(() => document.body.insertAdjacentHTML('beforeend', '<input type="file" id="bench" multiple>'));
    await page.setInputFiles('#bench', names);
    const session = await context.browser()?.newBrowserCDPSession();
    const used = async () => {
      const { processInfo } = (await session?.send('SystemInfo.getProcessInfo')) ?? { processInfo: [] };
      return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0);
    };
    const before = await used();
    const { packed, seconds } = await page.evaluate(async (memory) => {
      const { IonCompute } = await import('./ions/client.js');
      const [imzml, ibd] = document.querySelector('#bench').files;
      const compute = new IonCompute({ memory });
      const start = performance.now();
      const { packed } = await compute.open({ pair: { imzml: { file: imzml }, ibd: { file: ibd } } });
      const seconds = (performance.now() - start) / 1000;
      compute.close();
      return { packed, seconds };
    }, memory);
    const cpu_seconds = (await used()) - before;
    const { peaks, peak_bytes } = packed;
    tell('ions-pack', 'chromium', { peaks, seconds, ...(cpu_seconds > 0 ? { cpu_seconds, cpu_rate: peaks / cpu_seconds } : {}), peak_bytes });
  } finally {
    await context.close();
    await pages.stop();
  }
}

try {
  const [xml, ibd] = names.map((name) => openSync(name, 'w'));
  writeSync(xml, pair.imzML);
  for (let at = 0; at < pair.size; ) {
    const bytes = pair.piece(at, pair.size);
    writeSync(ibd, bytes);
    at += bytes.length;
  }
  [xml, ibd].map(closeSync);
  await inNode();
  if (options.chromium) await inChromium();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
