// The Worker in its runtime on this machine, as JSON lines:
//
//   node benches/edge.mjs [--size 1024] [--rounds 200] [--store STORE.sectile]
//
// `ms` is wall time from request to the last byte over loopback, one request at a time, the median of the rounds; `cpu_ms` is
// processor time of the whole runtime per request, in which the local stand-ins for bucket and cache are: an upper bound of
// what the Worker takes. `load` is of 200 tiles at once of a new isolate. `shards` is a job by messages in turn: `ms` from the
// first shard to the last, once as one shard and once as so many; `overhead` is what of the latter is not the former: looking,
// planning, opening and writing again for each. Both with one shard's worth done before, so that the dataset is open. `start` is the first request of a new isolate less a warm one: the module is instantiated and the
// catalog read; `instantiate` is the module alone, in this Node. Needs what `cargo xtask edge --build` and `cargo build` leave.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { demoObjects, writeDemo } from '../tests/web/edge-demo.mjs';
import { BUNDLE, startWorker } from '../tests/web/edge.mjs';

const { values: options } = parseArgs({ options: { size: { type: 'string', default: '1024' }, rounds: { type: 'string', default: '200' }, store: { type: 'string' } } });
const rounds = Number(options.rounds);
const folder = mkdtempSync(join(tmpdir(), 'sectile-bench-edge-'));
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const median = (all) => all.sort((a, b) => a - b)[all.length >> 1];
const tell = (what, figures) => console.log(JSON.stringify({ bench: 'edge', what, ...figures }));

/** Ticks of processor time of the runtime's processes, in milliseconds. */
function cpu() {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const rest = fields.slice(fields.lastIndexOf(')') + 2).split(' ');
      return { name: fields.slice(fields.indexOf('(') + 1, fields.lastIndexOf(')')), parent: Number(rest[1]), ticks: Number(rest[11]) + Number(rest[12]) };
    } catch {
      return undefined;
    }
  });
  const perSecond = Number(execFileSync('getconf', ['CLK_TCK']).toString());
  return children.filter((one) => one?.name.startsWith('workerd') && one.parent === process.pid).reduce((sum, { ticks }) => sum + ticks, 0) * 1000 / perSecond;
}

/** One request on the one connection; its milliseconds, and what it told. */
function ask(base, path) {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    request(`${base}${path}`, { agent }, (answer) => {
      let bytes = 0;
      answer.on('data', (piece) => { bytes += piece.length; });
      answer.on('end', () => {
        if (answer.statusCode !== 200) reject(new Error(`${path}: ${answer.statusCode}`));
        resolve({ ms: performance.now() - start, bytes, requests: Number(answer.headers['x-upstream-requests']), read: Number(answer.headers['x-upstream-bytes']), timing: answer.headers['server-timing'] });
      });
      answer.on('error', reject);
    }).on('error', reject).end();
  });
}

/** Many requests in turn. @param {(round: number) => string} path */
async function measure(what, base, path, count = rounds) {
  await ask(base, path(count));
  const before = cpu();
  const all = [];
  let last;
  for (let round = 0; round < count; round += 1) {
    last = await ask(base, path(round));
    all.push(last.ms);
  }
  tell(what, { rounds: count, ms: median(all), cpu_ms: (cpu() - before) / count, bytes: last.bytes, upstream_requests: last.requests, upstream_bytes: last.read, timing: last.timing });
}

/** Tiles at once: how long they took, and how many that is a second. */
async function load(base, count) {
  const start = performance.now();
  const layers = ['median', 'count', 'frame-1', 'frame-2', 'frame-3'];
  const paths = Array.from({ length: count }, (_, n) => `/v1/demo/${layers[n % 5]}/1/${(n >> 1) % 2}/${(n >> 2) % 2}.png`);
  const times = await Promise.all(paths.map(async (path) => {
    const answer = await fetch(base + path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    await answer.arrayBuffer();
    return performance.now() - start;
  }));
  times.sort((a, b) => a - b);
  tell('load', { tiles: count, p50_ms: times[count >> 1], p95_ms: times[Math.floor(0.95 * count)], a_second: count * 1000 / times.at(-1) });
}

/** Milliseconds of wall and processor that all shards of a job take, one message after another; the least of three rounds. */
async function ofShards(worker, dataset, asked) {
  const ask = (path, init) => worker.ask(path, { headers: { 'Content-Type': 'application/json' }, ...init });
  let least;
  for (let round = 0; round < 3; round += 1) {
    const begun = await ask(`/v1/${dataset}/jobs`, { method: 'POST', body: JSON.stringify(asked) });
    const { id, dataset: named, shards } = await begun.json();
    const [start, ticks] = [performance.now(), cpu()];
    for (let shard = 1; shard <= shards.total; shard += 1) await worker.deliver('sectile-shards', [{ v: 1, dataset: named, job: id, shard }]);
    const took = { shards: shards.total, ms: performance.now() - start, cpu_ms: cpu() - ticks };
    await ask(`/v1/${dataset}/jobs/${id}`, { method: 'DELETE' });
    if (!least || took.ms < least.ms) least = took;
  }
  return least;
}

async function shards(what, worker, dataset, asked, count) {
  const one = await ofShards(worker, dataset, { ...asked, shards: 1 });
  const many = await ofShards(worker, dataset, { ...asked, shards: count });
  tell(`shards: ${what}`, { one, many, overhead: (many.ms - one.ms) / many.ms, overhead_ms_a_shard: (many.ms - one.ms) / (many.shards - one.shards) });
}

try {
  if (options.store) cpSync(options.store, join(folder, 'tissue.sectile'));
  writeDemo(folder, { exposures: 12, size: Number(options.size) });
  const wasm = readdirSync(BUNDLE).find((name) => name.endsWith('.wasm'));
  const module = await WebAssembly.compile(readFileSync(join(BUNDLE, wasm)));
  const imports = Object.fromEntries(WebAssembly.Module.imports(module).map(({ module: from }) => [from, new Proxy({}, { get: (_, name) => (name === 'memory' ? new WebAssembly.Memory({ initial: 6, maximum: 1024 }) : () => {}) })]));
  const starts = [];
  for (let round = 0; round < 20; round += 1) {
    const start = performance.now();
    await WebAssembly.instantiate(module, imports);
    starts.push(performance.now() - start);
  }
  tell('instantiate', { rounds: 20, ms: median(starts) });
  const firsts = [];
  for (let round = 0; round < 5; round += 1) {
    const worker = await startWorker({ objects: demoObjects(folder), queues: false });
    const first = (await ask(worker.base, '/v1')).ms;
    firsts.push(first - (await ask(worker.base, '/v1')).ms);
    await worker.stop();
  }
  tell('start', { rounds: 5, ms: median(firsts) });
  const worker = await startWorker({ objects: demoObjects(folder), queues: false });
  const { width, height } = await (await worker.ask('/v1/tissue/info')).json();
  const { levels } = await (await worker.ask('/v1/demo/info')).json();
  await measure('service document', worker.base, () => '/v1');
  await measure('tile, kept', worker.base, () => `/v1/demo/median/${levels - 1}/0/0.png`);
  // Each round another m/z or another column: nothing is kept of it.
  await measure(`ion image ${width}x${height}, computed`, worker.base, (round) => `/v1/tissue/mz-${(700 + round / 100).toFixed(4)}.png`);
  await measure('median tile of 12, computed', worker.base, (round) => `/v1/demo/median.png?bbox=${round % 256},${round % 200},${256 + (round % 256)},${256 + (round % 200)}`, Math.min(rounds, 200));
  await shards('median of 12', worker, 'demo', { type: 'median' }, 12);
  await shards('annotation', worker, 'tissue', { type: 'annotation', molecules: 'core' }, 8);
  await worker.stop();
  const crowded = await startWorker({ objects: demoObjects(folder), queues: false });
  await load(crowded.base, 200);
  await crowded.stop();
} finally {
  agent.destroy();
  rmSync(folder, { recursive: true, force: true });
}
