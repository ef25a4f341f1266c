// CPU time of the wasm median, one JSON object a line.
//
//   node benches/wasm/median.mjs <folder of the bindings> [--n 5,40] [--nan 0,0.1] [--kind normal]
//                                [--bitpix -32] [--job]
//
// "arrays" is `nanmedian` of native arrays in one call, "stored bytes" the kernel over big-endian pixels.
// `--job` times what a whole job does: 40 slots of about 600 KB, freshly written, then reduced.
// Calls over bytes are short (1,024 pixels), because an engine swaps its first code for optimised code only
// between calls; the first 300 ms are warm-up and are not counted.

import { bindings, least, option } from './timing.mjs';

const { TimedStack } = bindings;
const list = (name, fallback) => option(name, fallback).split(',').map(Number);
const CALL = 1024;

/** Deterministic uniform numbers in [0, 1). */
const generator = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};

const bell = (unit) => Math.sqrt(-2 * Math.log(1 - unit())) * Math.cos(2 * Math.PI * unit());

const bits = new DataView(new ArrayBuffer(4));
const kinds = {
  normal: (unit) => 100 + 10 * bell(unit),
  zero: (unit) => bell(unit),
  rays: (unit) => (unit() < 0.05 ? 6e4 * unit() : 100 + 10 * bell(unit)),
  stars: (unit, x) => (x % 50 < 8 ? 1000 * (x % 50) : 100) + 10 * bell(unit),
  steps: (unit, x) => [1e-3, 1e6, -40, 3e20][x % 4] * (1 + 0.01 * bell(unit)),
  ties: (unit) => Math.floor(unit() * 8),
  geometric: (unit) => 2 ** Math.floor(unit() * 250 - 125) * (unit() < 0.5 ? -1 : 1),
  bits: (unit) => {
    bits.setUint32(0, unit() * 4294967296);
    return bits.getFloat32(0);
  },
  two: (unit) => (unit() < 0.5 ? 7.25 : -1e30),
};

const stored = (n, width, nan, kind, bitpix) => {
  const unit = generator(n);
  const size = Math.abs(bitpix) / 8;
  const view = new DataView(new ArrayBuffer(n * width * size));
  for (let i = 0; i < n * width; i++) {
    const value = unit() < nan ? NaN : kinds[kind](unit, i % width);
    if (bitpix === -32) view.setFloat32(i * 4, value);
    else if (bitpix === -64) view.setFloat64(i * 8, value);
    else if (bitpix === 16) view.setInt16(i * 2, value);
    else if (bitpix === 32) view.setInt32(i * 4, value);
    else view.setUint8(i, value);
  }
  return new Uint8Array(view.buffer);
};

const sweep = (stack, width) => {
  for (let at = 0; at < width; at += CALL) stack.reduce(at, Math.min(CALL, width - at));
};

const print = (line) => console.log(JSON.stringify({ target: 'wasm', ...line }));

if (process.argv.includes('--job')) {
  for (const n of list('n', '40')) {
    const width = 150 * 1024;
    const stack = new TimedStack(n, width, -32, 0, stored(n, width, 0.01, 'normal', -32));
    const microseconds = least(() => sweep(stack, width), 2000, () => stack.refill());
    print({ bench: 'median in a job', n, nan: 0.01, ns_per_element: round(microseconds, n * width) });
  }
} else {
  const kind = option('kind', 'normal');
  const bitpix = option('bitpix', -32);
  for (const n of list('n', '5,10,20,40,50,100,200,400')) {
    for (const nan of list('nan', '0,0.1')) {
      const width = Math.floor(1e6 / n);
      const bzero = bitpix === 16 ? 32768 : 0;
      const stack = new TimedStack(n, width, bitpix, bzero, stored(n, width, nan, kind, bitpix));
      const line = (bench, work) =>
        print({ bench, kind, bitpix, n, nan, ns_per_element: round(least(work, 700), n * width) });
      if (bitpix === -32) line('arrays', () => stack.reduce_arrays());
      line('stored bytes', () => sweep(stack, width));
      stack.free();
    }
  }
}

function round(microseconds, elements) {
  return Math.round((microseconds * 1e6) / elements) / 1e3;
}
