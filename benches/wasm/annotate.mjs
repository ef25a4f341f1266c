// Whole annotations in WebAssembly: formulas a second, one JSON object a line.
//
//   node benches/wasm/annotate.mjs <folder of the bindings> [--peaks 15000000]
//
// The store is that of `benches/annotate.rs`. Processor time, the least of three runs after one that warms up.

import { bindings, option, timed as time } from './timing.mjs';

const { TimedAnnotation } = bindings;

/** What `work` counts, and how many of it a second. */
const rate = (work) => {
  let best = Infinity;
  let ions = work();
  for (let run = 0; run < 3; run += 1) {
    const took = time(() => {
      ions = work();
    });
    best = Math.min(best, took);
  }
  return { ions, ions_per_second: Math.round((ions / best) * 1e6) };
};

const timed = new TimedAnnotation(option('peaks', 15e6));
for (const [bench, decoys] of [
  ['ions that were all measured', false],
  ['the same list with 20 decoys of each target', true],
]) {
  const figures = rate(() => timed.annotate(decoys));
  const found = { peaks: timed.peaks(), scored: timed.scored(), msm: Number(timed.msm().toFixed(6)) };
  console.log(JSON.stringify({ bench, target: 'wasm', ...found, ...figures }));
}
console.log(JSON.stringify({ bench: 'isotope patterns alone', target: 'wasm', ...rate(() => timed.patterns()) }));
timed.free();
