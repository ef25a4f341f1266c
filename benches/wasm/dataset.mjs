// CPU time of imaging mass spectrometry in wasm, one JSON object a line.
//
//   node benches/wasm/dataset.mjs <folder of the bindings> [--peaks 1500]
//
// The measures of `benches/dataset.rs`, on the same sets: "xml" reads the XML, "pack" makes a store within 64 MiB,
// "image" takes images of 3 ppm from blocks that are in memory, one at a time.

import { bindings, option, timed } from './timing.mjs';

const { TimedDataset } = bindings;
const PEAKS = option('peaks', 1500);
const ROUNDS = 10;

/** The least of a few, after one run that is not counted. */
const least = (work) => {
  work();
  return Math.min(...Array.from({ length: ROUNDS }, () => timed(work)));
};

const round = (value, digits) => Number(value.toFixed(digits));
const print = (line) => console.log(JSON.stringify({ target: 'wasm', ...line }));

for (const [mz, bytes] of [['f32', 4], ['f64', 8]]) {
  const packed = new TimedDataset(PEAKS, bytes);
  let spectra;
  const xml = least(() => {
    spectra = packed.read();
  });
  print({ bench: 'xml', mz, spectra_per_second: round((spectra * 1e6) / xml, 0) });
  let peaks;
  const pack = timed(() => {
    peaks = packed.pack();
  });
  const each = round(packed.bytes() / peaks, 3);
  print({ bench: 'pack', mz, peaks, million_peaks_per_second: round(peaks / pack, 2), peak_bytes: packed.peak(), bytes_per_peak: each });
  packed.open();
  let hits;
  const images = least(() => {
    hits = packed.images();
  });
  const count = packed.windows();
  print({ bench: 'image', mz, peaks_per_image: round(hits / count, 0), us_per_image: round(images / count, 2) });
  packed.free();
}
