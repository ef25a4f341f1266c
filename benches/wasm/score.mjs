// CPU time of one ion's scores in WebAssembly, one JSON object a line.
//
//   node benches/wasm/score.mjs <folder of the bindings> [--side 100] [--each 16]
//
// The images are those of `benches/score.rs`. The first 300 ms of each row are warm-up and are not counted.

import { bindings, least, option } from './timing.mjs';

const { TimedScores } = bindings;

const side = option('side', 100);
const each = option('each', 16);
for (const kind of [0, 1, 2]) {
  const plain = new TimedScores(side, each, kind, false);
  const hotspot = new TimedScores(side, each, kind, true);
  if (Math.abs(plain.arrays() - plain.labelled()) > 1e-9) throw new Error('chaos is not that of 30 labellings');
  const say = (bench, work) => {
    const us = Math.round((least(work, 1000) / each) * 100) / 100;
    console.log(JSON.stringify({ bench, target: 'wasm', images: plain.name(), side, us }));
  };
  say('all scores', () => plain.scores());
  say('all scores, hotspot removal', () => hotspot.scores());
  say('chaos alone, and the sums of one image', () => plain.first());
  say('chaos of an array', () => plain.arrays());
  say('chaos by 30 labellings', () => plain.labelled());
  plain.free();
  hotspot.free();
}
