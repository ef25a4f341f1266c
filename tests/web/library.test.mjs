/** The library in Node: real exposures, big stacks in small instances, budgets that do not matter. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { program, serveExposures, SHARED, SITE } from './site.mjs';

const run = promisify(execFile);
const MEBIBYTE = 1 << 20;

/** One median in a process of its own. */
async function median(job) {
  const script = fileURLToPath(new URL('library.mjs', import.meta.url));
  const { stdout } = await run(process.execPath, [script, JSON.stringify({ site: SITE, ...job })], { maxBuffer: 1 << 24 });
  return JSON.parse(stdout);
}

/** The same by the program; the raw values in the order and byte order that the library gives. */
async function native(names, options) {
  const folder = mkdtempSync(join(tmpdir(), 'sectile-'));
  try {
    const out = join(folder, 'out.npy');
    await run(program(), ['median', ...names, '-o', out, ...options]);
    const bytes = readFileSync(out);
    return createHash('sha256').update(bytes.subarray(10 + bytes.readUInt16LE(8))).digest('hex');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('five real exposures: the same bits at every budget, and as the program computes them', async (t) => {
  const files = [1, 2, 3, 4, 5].map((i) => join(SHARED, `data/fits/astropy-data__M13_blue_000${i}.fits`));
  if (!existsSync(files[0])) return t.skip(`skipped: no ${files[0]}`);
  const hashes = new Set();
  for (const mebibytes of [8, 16, 64, 256]) {
    const { sha256, tally, plan } = await median({ memory: mebibytes * MEBIBYTE, files });
    hashes.add(sha256);
    assert.equal(tally.bytes_payload, 5 * 1392 * 1040 * 2);
    assert.equal(tally.requests, plan.requests);
    assert.ok(tally.peak_bytes <= mebibytes * MEBIBYTE);
  }
  hashes.add(await native(files, ['--memory', '16MiB']));
  assert.equal(hashes.size, 1);
  // numpy.nanmedian of the five as float32, row-major, little-endian.
  assert.deepEqual([...hashes], ['253d0db00b66bd131554e4a6224b6d99b21cf9b53d0f1c8a5c8e0db6d10faee9']);
});

test('five drizzled exposures: weights leave out what they leave out of the program', async (t) => {
  const files = [1, 2, 3, 4, 5].map((i) => join(SHARED, `data/fits/derived__m13_${i}_outlier_i2d.fits`));
  if (!existsSync(files[0])) return t.skip(`skipped: no ${files[0]}`);
  const mask = { hdu: 'WHT', bits: 'zero' };
  const hashes = new Set();
  for (const memory of [2 * MEBIBYTE, 64 * MEBIBYTE]) {
    const { sha256, tally, plan, left_out: leftOut } = await median({ memory, files, mask });
    hashes.add(sha256);
    assert.equal(leftOut, 'left out: pixels whose mask, HDU 3 (WHT,1), is not above 0');
    assert.equal(plan.masks, 5);
    assert.equal(tally.requests, plan.requests);
    assert.equal(tally.bytes_payload, 2 * 5 * 500 * 400 * 4);
    assert.ok(tally.peak_bytes <= memory);
  }
  hashes.add(await native(files, ['--mask', 'WHT', '--mask-bits', 'zero']));
  assert.equal(hashes.size, 1);
  const bare = await median({ memory: 64 * MEBIBYTE, files });
  assert.deepEqual([bare.left_out, bare.plan.masks], [null, 0]);
  for (const [wrong, says] of [
    [{ hdu: 'DQ' }, /the mask, HDU DQ,1, was not found/],
    [{ hdu: 'WHT' }, /flags are whole numbers/],
    [{ hdu: '' }, /names no HDU/],
    [{ hdu: 'WHT', bits: 0 }, /leaves nothing out/],
  ]) await assert.rejects(median({ memory: 64 * MEBIBYTE, files, mask: wrong }), says);
});

test('40 × 2048² exposures, 671 MB, in an instance of 32 MiB', async () => {
  const server = await serveExposures({ 'latency-ms': 0, 'mb-per-s': 4000, count: 40 });
  try {
    const list = `${server.base}exposures.txt`;
    const samples = [[0, 0], [1234, 567], [2047, 2047], [3, 2000]];
    const small = await median({ memory: 32 * MEBIBYTE, urls: [list], samples });
    assert.ok(small.tally.peak_bytes < 32 * MEBIBYTE, `${small.tally.peak_bytes}`);
    assert.ok(small.tally.peak_bytes <= small.plan.peak_bytes, 'the plan states the peak');
    assert.equal(small.tally.bytes_payload, 40 * 2048 * 2048 * 4);
    assert.equal(small.tally.bytes_fetched, small.tally.bytes_payload, 'each byte once');
    assert.equal(small.tally.requests, small.plan.requests);
    assert.equal(small.opening.requests, 40, 'one read a header');
    for (const [x, y] of samples) assert.deepEqual(small.samples[`${x},${y}`], await naive(server.base, x, y));
    const other = await median({ memory: 8 * MEBIBYTE, inFlight: 16, urls: [list] });
    assert.equal(other.sha256, small.sha256);
    assert.equal(await native([list], ['--memory', '64MiB']), small.sha256);
  } finally {
    await server.stop();
  }
});

/** The median of one pixel by sorting, its bytes fetched one by one. */
async function naive(base, x, y) {
  const values = [];
  for (let i = 0; i < 40; i += 1) {
    const at = 2880 + 4 * (y * 2048 + x);
    const name = `exposure_${String(i).padStart(2, '0')}.fits`;
    const response = await fetch(base + name, { headers: { Range: `bytes=${at}-${at + 3}` } });
    const value = new DataView(await response.arrayBuffer()).getFloat32(0);
    if (!Number.isNaN(value)) values.push(value);
  }
  values.sort((a, b) => a - b);
  const k = values.length;
  const middle = k % 2 ? values[(k - 1) / 2] : Math.fround(Math.fround(values[k / 2 - 1] + values[k / 2]) * 0.5);
  return [middle, k];
}

test('a budget that is too small is refused with the smallest that works', async () => {
  const server = await serveExposures({ 'latency-ms': 0, 'mb-per-s': 4000, count: 12, width: 64, height: 64 });
  try {
    const urls = [`${server.base}exposures.txt`];
    await assert.rejects(median({ memory: MEBIBYTE, urls }), /the program alone needs 2 MiB/);
    await assert.rejects(median({ memory: 64 * MEBIBYTE, urls, wish: { memory: MEBIBYTE } }), /give at least --memory/);
  } finally {
    await server.stop();
  }
});
