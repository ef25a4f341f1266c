/** Tiles by the library: 16-bit PNG whose codes, by their own scale, are the medians. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, openAsBlob, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inflateSync } from 'node:zlib';

import { program, SITE } from './site.mjs';

const EDGE = 256;
let folder;
let stack;
let plane;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sectile-tile-'));
  execFileSync(program(), ['demo-data', folder, '--exposures', '4', '--size', '600']);
  const { BlobSource, init, Stack } = await import(pathToFileURL(join(SITE, 'core/index.js')).href);
  await init({ module: readFileSync(join(SITE, 'pkg/sectile_bg.wasm')), memory: 16 << 20 });
  const names = [1, 2, 3, 4].map((i) => join(folder, `exposure_0${i}.fits`));
  stack = await Stack.open(await Promise.all(names.map(async (name) => new BlobSource(await openAsBlob(name), name))), { memory: 16 << 20 });
  plane = new Float32Array(600 * 600);
  for await (const { y0, values } of stack.median()) plane.set(values, y0 * 600);
});

after(() => {
  stack?.free();
  rmSync(folder, { recursive: true, force: true });
});

/** A grey 16-bit PNG: shape, codes, texts. Written from the standard (PNG 3rd edition, §9, §12). */
function decode(png) {
  const text = {};
  const data = [];
  let width;
  let height;
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
      assert.deepEqual([...body.subarray(8, 13)], [16, 0, 0, 0, 0]);
    } else if (type === 'IDAT') data.push(body);
    else if (type === 'tEXt') {
      const [key, value] = body.toString('latin1').split('\0');
      text[key] = value;
    }
    at += 12 + length;
  }
  const raw = inflateSync(Buffer.concat(data));
  const line = 2 * width;
  const rows = Buffer.alloc(line * height);
  const paeth = (a, b, c) => {
    const p = a + b - c;
    const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
  };
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (line + 1)];
    for (let x = 0; x < line; x += 1) {
      const left = x >= 2 ? rows[y * line + x - 2] : 0;
      const up = y > 0 ? rows[(y - 1) * line + x] : 0;
      const corner = x >= 2 && y > 0 ? rows[(y - 1) * line + x - 2] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      rows[y * line + x] = (raw[y * (line + 1) + 1 + x] + guess) & 255;
    }
  }
  const codes = Array.from({ length: width * height }, (_, i) => rows.readUInt16BE(2 * i));
  return { width, height, codes, text };
}

function hold(tile, [x0, y0, x1, y1], step) {
  const { width, height, codes, text } = decode(Buffer.from(tile));
  assert.deepEqual([width, height], [Math.ceil((x1 - x0) / step), Math.ceil((y1 - y0) / step)]);
  const [bzero, bscale] = [Number(text.BZERO), Number(text.BSCALE)];
  assert.equal(text.BUNIT, 'MJy/sr');
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const value = plane[(y0 + (height - 1 - row) * step) * 600 + x0 + column * step];
      const code = codes[row * width + column];
      if (Number.isNaN(value)) assert.equal(code, 0);
      else assert.ok(Math.abs(bzero + bscale * code - value) <= bscale * 0.5001, `${column},${row}: ${code} for ${value}`);
    }
  }
}

test('tiles at full resolution hold the medians, row 0 on top', async () => {
  assert.equal(stack.levels, 3);
  hold(await stack.tile(2, 0, 0), [0, 600 - EDGE, EDGE, 600], 1);
  hold(await stack.tile(2, 2, 2), [512, 0, 600, 88], 1);
});

test('coarse tiles sample every 2^k-th pixel', async () => {
  hold(await stack.tile(0, 0, 0), [0, 0, 600, 600], 4);
});

test('there is no tile outside the image', async () => {
  assert.equal(await stack.tile(2, 3, 0), null);
  assert.equal(await stack.tile(3, 0, 0), null);
});

test('leaving the loop gives the memory back to the next job', async () => {
  const { memoryBytes } = await import(pathToFileURL(join(SITE, 'core/index.js')).href);
  const before = memoryBytes();
  for (let i = 0; i < 5; i += 1) {
    for await (const section of stack.median({ memory: 4 << 20 })) {
      assert.ok(section.values.length > 0);
      break;
    }
  }
  assert.ok(memoryBytes() <= before + (1 << 20), `${memoryBytes()} after ${before}`);
});

test('any object with read(start, end) is a source', async () => {
  const { Stack } = await import(pathToFileURL(join(SITE, 'core/index.js')).href);
  const asked = [];
  const source = (i, cut = 0) => {
    const bytes = readFileSync(join(folder, `exposure_0${i}.fits`));
    return {
      key: `mine ${i}`,
      read: async (start, end) => {
        asked.push([i, start, end]);
        return bytes.subarray(start, Math.min(end, bytes.length - cut));
      },
    };
  };
  const mine = await Stack.open([1, 2, 3, 4].map((i) => source(i)), { memory: 16 << 20 });
  const found = new Float32Array(600 * 600);
  for await (const { y0, values } of mine.median()) found.set(values, y0 * 600);
  assert.deepEqual(found, plane);
  mine.free();
  // One that ends before its header says is refused, by name and byte, not filled up with zeros.
  const short = await Stack.open([source(1), source(2, 4000)], { memory: 16 << 20 });
  await assert.rejects(async () => {
    for await (const section of short.median()) assert.ok(section);
  }, /mine 2: byte \d+: asked for \d+ bytes, got \d+/);
  short.free();
});
