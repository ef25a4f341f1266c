/**
 * Packing and images by the library in Node, in a process of its own because an instance keeps its memory:
 *
 *   node ions-library.mjs '{"site", "memory", "pairs": [[imzML, ibd], …], "cut"}'
 *
 * A pair is two paths, two URLs, or `{"stem"}`. Prints one JSON object a pair: the report and the SHA-256 of the
 * store, or what it was refused for.
 */
import { createHash } from 'node:crypto';
import { openAsBlob, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { site, memory, pairs, images = [], skipBad = false, inFlight = 6, how = 'blob' } = JSON.parse(process.argv[2]);
const { init, IonStore, memoryBytes, MemoryFile, pack, planPack } = await import(pathToFileURL(join(site, 'core/ions.js')).href);
await init({ module: readFileSync(join(site, 'pkg/ions/ions_bg.wasm')), memory });

/** A source that has nothing but `read`, and hides its size if wished. */
function bare(path) {
  const bytes = readFileSync(path);
  return { key: basename(path), read: async (start, end) => bytes.subarray(start, end), ...(how === 'sized' ? { size: bytes.length } : {}) };
}

async function source(name) {
  if (/^https?:/.test(name)) return name;
  return how === 'blob' ? new File([await openAsBlob(name)], basename(name)) : bare(name);
}

for (const names of pairs) {
  const [imzml, ibd] = await Promise.all(names.map(source));
  try {
    const plan = await planPack(imzml, ibd, { skipBad, inFlight });
    const target = new MemoryFile();
    const { report } = await pack(imzml, ibd, target, { skipBad, inFlight });
    const blob = target.blob();
    const sha256 = createHash('sha256').update(Buffer.from(await blob.arrayBuffer())).digest('hex');
    const store = await IonStore.open(blob);
    const found = [];
    for (const { mz, ...tolerance } of images) {
      const { hits, max, values, requests } = await store.image(mz, tolerance);
      found.push({ hits, max, values: [...values].map((value) => (Number.isNaN(value) ? null : value)), requests });
    }
    console.log(JSON.stringify({ name: names[0], plan, report, sha256, info: store.info, images: found, memory_bytes: memoryBytes() }));
    store.free();
  } catch (error) {
    console.log(JSON.stringify({ name: names[0], refused: error.message, code: error.code ?? error.name }));
  }
}
