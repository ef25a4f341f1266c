// CPU time of one isotope pattern in WebAssembly, one JSON object a line.
//
//   node benches/wasm/isotope.mjs <folder of the bindings>
//
// The ions are those of `benches/isotope.rs`: 2,000 of metabolites and lipids, and 14,000 with adducts of decoys. Times are the
// sums of the least times of every few ions; a first round is warm-up.

import { bindings } from './timing.mjs';

const { TimedPatterns } = bindings;

const ROUNDS = 9;
const FEW = 64;

/** Least microseconds of one ion. */
const best = (ions, work) => {
  const least = new Array(Math.ceil(ions / FEW)).fill(Infinity);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (let few = 0; few < least.length; few += 1) {
      const start = performance.now();
      work(few * FEW, FEW);
      const took = performance.now() - start;
      if (round > 0) least[few] = Math.min(least[few], took);
    }
  }
  return (least.reduce((sum, took) => sum + took, 0) * 1e3) / ions;
};

for (const [analyzer, older] of [['tof', false], ['orbitrap', false], ['fticr', false], ['orbitrap', true]]) {
  for (const decoys of [false, true]) {
    const timed = new TimedPatterns(analyzer, older, decoys);
    const say = (bench, work) => {
      const us = best(timed.ions(), work);
      const set = decoys ? 'decoys' : 'targets';
      const generation = older ? 'Older' : 'Current';
      const line = { bench, target: 'wasm', ions: set, analyzer, generation };
      console.log(JSON.stringify({ ...line, us: Math.round(us * 100) / 100, per_second: Math.round(1e6 / us) }));
    };
    say('pattern', (start, count) => timed.patterns(start, count));
    say('lowest', (start, count) => timed.lowest(start, count));
    timed.free();
  }
}
