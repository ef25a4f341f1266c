// Annotation in a page's pool of workers, as JSON lines:
//
//   node benches/annotate.mjs STORE.sectile [--formulas 4000] [--adducts +H,+Na,+K] [--decoys 20] [--memory 256]
//     [--scoring metaspace-v3] [--workers 2] [--shards N] [--file | --latency-ms 50 --mb-per-s 100] [--node]
//
// Headless Chromium annotates the store with so many formulas from the lists in SECTILE_SHARED/data/molecules
// (CoreMetabolome first, then LIPID MAPS; made-up formulas of C, H, N, O, P and S without them), from a server on this
// machine, over a line of stated latency and bandwidth, or with --file from the disk. `seconds` is wall time from the call of `annotate` to the rows, the start of the
// workers and the reading of the list among it; `cpu_seconds` that of the page's process. With --node the library
// does the same in one instance in Node. Needs what `cargo xtask dist` and `cargo build` leave.

import { existsSync, mkdtempSync, openAsBlob, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { launchWithProfile } from '../tests/web/chromium.mjs';
import { ROOT, serve, servePagesAnd, SHARED, SITE } from '../tests/web/site.mjs';

const { values: options, positionals: [store] } = parseArgs({
  allowPositionals: true,
  options: {
    formulas: { type: 'string', default: '4000' },
    adducts: { type: 'string', default: '+H,+Na,+K' },
    decoys: { type: 'string', default: '20' },
    scoring: { type: 'string', default: 'metaspace-v3' },
    memory: { type: 'string', default: '256' },
    workers: { type: 'string', default: '2' },
    shards: { type: 'string' },
    file: { type: 'boolean' },
    'latency-ms': { type: 'string' },
    'mb-per-s': { type: 'string', default: '100' },
    node: { type: 'boolean' },
  },
});
if (!store) throw new Error('which store? node benches/annotate.mjs STORE.sectile');
const memory = Number(options.memory) << 20;
const wish = { adducts: options.adducts.split(','), decoys: Number(options.decoys), scoring: options.scoring, analyzer: 'orbitrap', resolvingPower: 140_000, ppm: 3 };

/** So many formulas, each once. */
function formulas(count) {
  const found = new Set();
  const lists = [['CoreMetabolome-v3.csv', ','], ['lipidmaps_2017-12-12-v2.tsv', '\t']].map(([name, by]) => [join(SHARED, 'data/molecules', name), by]);
  for (const [path, by] of lists.filter(([path]) => existsSync(path))) {
    const [head, ...rows] = readFileSync(path, 'utf8').split(/\r?\n/);
    const column = head.split(by).indexOf('formula');
    for (const row of rows) {
      // A quoted name may hold the separator; what is no formula is not taken.
      const field = row.replace(/"[^"]*"/g, '').split(by)[column] ?? '';
      if (found.size < count && /^([A-Z][a-z]?\d*)+$/.test(field)) found.add(field);
    }
  }
  for (let c = 5; found.size < count; c += 1) {
    for (let o = 1; o <= 8; o += 1) for (let n = 0; n <= 3; n += 1) if (found.size < count) found.add(`C${c}H${2 * c - n}${n ? `N${n}` : ''}O${o}${c > 30 ? 'P' : ''}${n > 2 ? 'S' : ''}`);
  }
  return [...found];
}

function tell(target, figures) {
  console.log(JSON.stringify({ bench: 'annotate', target, store: basename(store), mebibytes: memory >> 20, ...figures }));
}

const real = existsSync(join(SHARED, 'data/molecules'));

/** What a run has to say, with its rate. */
function figures({ info, rows, seconds, requests, bytes, peakBytes, workers, shards }, cpu) {
  const { formulas, ions, targets, decoys } = info;
  const told = { list: real ? 'CoreMetabolome and LIPID MAPS' : 'made up', formulas, ions, targets, decoys, rows: rows.length, seconds, ions_per_s: ions / seconds, requests, bytes, peak_bytes: peakBytes, workers, shards };
  return cpu > 0 ? { ...told, cpu_seconds: cpu, ions_per_cpu_s: ions / cpu } : told;
}

async function inChromium(list) {
  const pages = await servePagesAnd(dirname(resolve(store)));
  const latency = options['latency-ms'];
  const line = latency && (await serve(process.execPath, [
    join(ROOT, 'benches/server.mjs'), '--latency-ms', latency, '--mb-per-s', options['mb-per-s'], '--folder', dirname(resolve(store)),
  ]));
  const context = await launchWithProfile();
  try {
    const page = await context.newPage();
    await page.goto(pages.base);
    await page.evaluate(() => document.body.insertAdjacentHTML('beforeend', '<input type="file" id="bench">'));
    if (options.file) await page.setInputFiles('#bench', resolve(store));
    const session = await context.browser()?.newBrowserCDPSession();
    const used = async () => {
      const { processInfo } = (await session?.send('SystemInfo.getProcessInfo')) ?? { processInfo: [] };
      return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0);
    };
    const before = await used();
    const run = await page.evaluate(async ({ url, list, wish, pool }) => {
      const { Annotator } = await import('./ions/annotator.js');
      const [file] = document.querySelector('#bench').files;
      const annotator = new Annotator(pool);
      const run = await annotator.annotate({ store: file ? { file } : { url }, molecules: new Blob([list]), name: 'bench', ...wish });
      annotator.close();
      return run;
    }, {
      url: `${line ? `${line.base}files` : 'data'}/${encodeURIComponent(basename(store))}`,
      list: list.join('\n'),
      wish,
      pool: { memory, workers: Number(options.workers), ...(options.shards ? { shards: Number(options.shards) } : {}) },
    });
    tell('chromium', { ...(line ? { latency_ms: Number(latency), mb_per_s: Number(options['mb-per-s']) } : {}), ...figures(run, (await used()) - before) });
  } finally {
    await context.close();
    await pages.stop();
    await line?.stop();
  }
}

async function inNode(list) {
  const folder = mkdtempSync(join(tmpdir(), 'sectile-bench-'));
  try {
    writeFileSync(join(folder, 'list.txt'), list.join('\n'));
    const library = await import(pathToFileURL(join(SITE, 'core/annotations.js')).href);
    await library.init({ module: readFileSync(join(SITE, 'pkg/annotate/annotate_bg.wasm')), memory });
    const [before, start] = [process.cpuUsage(), performance.now()];
    const annotation = await library.Annotation.open(await openAsBlob(store), { molecules: await openAsBlob(join(folder, 'list.txt')), ...wish });
    const { tally } = await annotation.run();
    const { rows } = annotation.results();
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(before);
    const { requests, bytes_fetched: bytes, peak_bytes: peakBytes } = tally;
    tell('node', figures({ info: annotation.info, rows, seconds, requests, bytes, peakBytes, workers: 1, shards: 1 }, (user + system) / 1e6));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const list = formulas(Number(options.formulas));
await (options.node ? inNode(list) : inChromium(list));
