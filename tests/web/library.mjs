/**
 * One median by the library in Node, in a process of its own because an instance keeps its memory:
 *
 *   node library.mjs '{"site", "memory", "inFlight", "urls" | "files", "wish", "mask"}'
 *
 * Prints one JSON object: tally, plan, the SHA-256 of values and counts in FITS order, and samples.
 */
import { createHash } from 'node:crypto';
import { openAsBlob, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { site, memory, inFlight = 6, urls = [], files = [], wish = {}, mask, samples = [], clock = false } = JSON.parse(process.argv[2]);
const { init, memoryBytes, Stack, BlobSource } = await import(pathToFileURL(join(site, 'core/index.js')).href);
await init({ module: readFileSync(join(site, 'pkg/sectile_bg.wasm')), memory });
let reduced = 0;
if (clock) {
  // Benches ask how long the kernel takes in the middle of a job.
  const { Median } = await import(pathToFileURL(join(site, 'pkg/sectile.js')).href);
  const { ready } = Median.prototype;
  Median.prototype.ready = function timed() {
    const start = performance.now();
    const section = ready.call(this);
    if (section) reduced += performance.now() - start;
    return section;
  };
}

const blobs = await Promise.all(files.map(async (path) => new BlobSource(await openAsBlob(path), path)));
const stack = await Stack.open([...urls, ...blobs], { memory, mask });
const plan = stack.plan({ inFlight, ...wish });
const hash = createHash('sha256');
const found = {};
const sections = stack.median({ inFlight, ...wish });
let tally;
for (;;) {
  const { done, value } = await sections.next();
  if (done) {
    tally = value;
    break;
  }
  if (!clock) hash.update(new Uint8Array(value.values.buffer));
  for (const [x, y] of samples) {
    if (y >= value.y0 && y < value.y0 + value.rows) {
      const at = (y - value.y0) * value.width + x - value.x0;
      found[`${x},${y}`] = [value.values[at], value.count[at]];
    }
  }
}
console.log(JSON.stringify({ plan, tally, left_out: stack.leftOut, opening: stack.opening, sha256: hash.digest('hex'), memory_bytes: memoryBytes(), samples: found, reduce_seconds: reduced / 1000, cpu_seconds: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6 }));
