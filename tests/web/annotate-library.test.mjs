/** Annotation by the library: the reference's scores and the program's table, at any budget, in shards and in a pool. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { launch } from './chromium.mjs';
import { program, ROOT, serveFaults, servePagesAnd, SITE } from './site.mjs';

const run = promisify(execFile);
const MEBIBYTE = 1 << 20;
const LIST = join(ROOT, 'www/ions/molecules.csv');
/** What is asked of the demo tissue. */
const OPTIONS = { adducts: ['+H', '+Na', '+K'], decoys: 20, scoring: 'metaspace-v3', analyzer: 'orbitrap', resolvingPower: 70_000, ppm: 3 };

let folder;
let tissue;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-annotate-'));
  await run(program(), ['demo-data', folder]);
  tissue = join(folder, 'tissue.sectile');
  await run(program(), ['pack', join(folder, 'tissue.imzML'), '-o', tissue]);
});

after(() => rmSync(folder, { recursive: true, force: true }));

/** A list of these formulas as a file of the folder. */
function list(name, lines) {
  const path = join(folder, name);
  writeFileSync(path, lines.join('\n'));
  return path;
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** One annotation in a process of its own. */
async function annotated(job) {
  const script = fileURLToPath(new URL('annotate-library.mjs', import.meta.url));
  const { stdout } = await run(process.execPath, [script, JSON.stringify({ site: SITE, memory: 64 * MEBIBYTE, store: tissue, molecules: LIST, options: OPTIONS, ...job })], { maxBuffer: 1 << 26 });
  return JSON.parse(stdout);
}

describe('in one instance', { timeout: 600_000 }, () => {
  test('the table is the same at every budget and in any number of shards, and the program writes it too', async () => {
    const out = join(folder, 'native');
    const { adducts, decoys, scoring, analyzer, resolvingPower, ppm } = OPTIONS;
    await run(program(), ['annotate', tissue, '--molecules', LIST, `--adducts=${adducts}`, '--decoys', String(decoys), '--scoring', scoring, '--analyzer', analyzer, '--resolving-power', String(resolvingPower), '--ppm', String(ppm), '--images', 'none', '-o', out]);
    const native = sha256(readFileSync(join(out, 'results.csv')));
    for (const [mebibytes, shards] of [[32, 1], [32, 7], [128, 7], [512, 1]]) {
      const found = await annotated({ memory: mebibytes * MEBIBYTE, shards });
      assert.equal(found.refused, undefined);
      assert.ok(found.rows > 40, `${found.rows} rows`);
      assert.equal(found.sha256, native, `${mebibytes} MiB, ${shards} shards`);
      assert.ok(found.memory_bytes <= mebibytes * MEBIBYTE, `${found.memory_bytes} of ${mebibytes} MiB`);
      assert.ok(found.plan.peak_bytes <= mebibytes * MEBIBYTE && found.plan.minimum_bytes <= found.plan.peak_bytes);
    }
  });

  test('what the plan says is what it costs', async () => {
    const { plan, cost } = await annotated({ memory: 32 * MEBIBYTE });
    assert.equal(cost.requests, plan.requests);
    assert.equal(cost.bytes, plan.bytes);
  });
});
