// What the scripts beside this one share: the bindings they time, their options, and time on the processor.

import { createRequire } from 'node:module';
import { resolve } from 'node:path';

/** The bindings in the folder that the command line names first. */
export const bindings = createRequire(import.meta.url)(resolve(process.argv[2], 'sectile_bench_wasm.js'));

/** What stands behind `--name`; a number where the fallback is one. */
export const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  if (at < 0) return fallback;
  const word = process.argv[at + 1];
  return typeof fallback === 'number' ? Number(word) : word;
};

/** Microseconds on the processor that `work` takes. */
export const timed = (work) => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

/**
 * Least microseconds of one run of `work`, tried for so long after 300 ms that warm up and are not counted. `before`
 * comes before each run and is not timed.
 */
export const least = (work, milliseconds, before = () => {}) => {
  const warm = performance.now() + 300;
  while (performance.now() < warm) {
    before();
    work();
  }
  let best = Infinity;
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    before();
    best = Math.min(best, timed(work));
  }
  return best;
};
