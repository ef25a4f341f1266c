// CPU time of one ion image in WebAssembly, one JSON object a line.
//
//   node benches/wasm/ion.mjs <folder of the bindings> [--peaks 15000000] [--images 200]
//
// The set is the one of `benches/ion.rs`: about 470 peaks within 3 ppm of a line, on 100×100 pixels. Times include clearing;
// the first 300 ms are warm-up and are not counted.

import { bindings, least, option } from './timing.mjs';

const { TimedIons } = bindings;

const images = option('images', 200);
for (const wide of [false, true]) {
  const ions = new TimedIons(option('peaks', 15e6), images, wide);
  ions.draw();
  const hits = Math.round(ions.hits() / images);
  const say = (bench, work) => {
    const us = Math.round((least(work, 2000) / images) * 100) / 100;
    console.log(JSON.stringify({ bench, target: 'wasm', mz: wide ? 'f64' : 'f32', hits, us }));
  };
  say('image from checked blocks', () => ions.draw());
  say('image as a job of its own, blocks in the cache', () => ions.jobs());
  ions.free();
}
