/**
 * Annotation by the library in Node, in a process of its own because an instance keeps its memory:
 *
 *   node annotate-library.mjs '{"site", "memory", "store", "molecules", "options", "shards"}'
 *
 * Prints one JSON object: what was looked for, the rows, the SHA-256 of the table, and the memory it took; or what it
 * was refused for.
 */
import { createHash } from 'node:crypto';
import { openAsBlob, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { site, memory, store, molecules, options, shards = 1, rows: wanted = false } = JSON.parse(process.argv[2]);
const { Annotation, init, memoryBytes } = await import(pathToFileURL(join(site, 'core/annotations.js')).href);

async function place(name) {
  return /^https?:/.test(name) ? name : new File([await openAsBlob(name)], basename(name));
}

try {
  await init({ module: readFileSync(join(site, 'pkg/annotate/annotate_bg.wasm')), memory });
  const annotation = await Annotation.open(await place(store), { molecules: await place(molecules), ...options });
  const plan = annotation.plan();
  const cost = { requests: 0, bytes: 0 };
  // The last ones first: the order of shards does not matter.
  for (const shard of annotation.shards(shards).reverse()) {
    const { position, tally } = await annotation.run({ shard });
    if (position !== shard[1]) throw new Error(`shard ${shard} ended at ${position}`);
    cost.requests += tally.requests;
    cost.bytes += tally.bytes_fetched;
  }
  const { rows, warnings } = annotation.results();
  const sha256 = createHash('sha256').update(await annotation.csv().text()).digest('hex');
  console.log(JSON.stringify({ info: annotation.info, plan, cost, rows: wanted ? rows : rows.length, warnings, sha256, memory_bytes: memoryBytes() }));
} catch (error) {
  console.log(JSON.stringify({ refused: error.message, code: error.code ?? error.name }));
}
