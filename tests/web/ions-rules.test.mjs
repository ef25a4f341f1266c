/** The ion page's own rules, in Node: links, files, numbers, peaks, limits, the scale bar. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseMz, parseTolerance } from '../../www/ions/ion-list.js';
import { binaryBeside, fromAddress, fromFiles, nameOf, stem } from '../../www/ions/pair.js';
import { centre, highest, neighbour, peakAt } from '../../www/ions/peaks.js';
import { aspectOf, IonPlane } from '../../www/ions/plane.js';
import { refusal } from '../../www/ions/refusal.js';
import { rectangle } from '../../www/ions/region.js';
import { barLength, lengthText } from '../../www/ions/scale-bar.js';
import { formatFragment, initialState, parseFragment } from '../../www/ions/state.js';
import { windowOf } from '../../www/ions/window.js';

const file = (name) => ({ name });

describe('rules of the ion page', () => {
  test('a link restores what it was made from, and nonsense keeps the defaults', () => {
    const state = { ...initialState(), src: 'data/k.sectile', mem: '64 MiB', mz: [885.5493, 281.2485, 726.5443], tol: 0.01, unit: 'da', rgb: true, ch: [0, null, 2], norm: 'rms', sl: 2, s: 'log', cm: 'magma', inv: true, hot: false, lim: [{ lo: 0, hi: 12.5 }, null, { lo: 3, hi: 9 }], sp: 'max', log: true, xr: [700.25, 900], c: [12.5, 3], z: 8 };
    const link = formatFragment(state);
    assert.deepEqual(parseFragment(link), state);
    assert.ok(link.includes('mz=885.5493,281.2485,726.5443&tol=0.01da'), link);
    assert.equal(formatFragment(initialState()), '');
    assert.deepEqual(parseFragment('#mz=a,b&tol=-3ppm&rgb=0,1&norm=mean&sl=-1&s=asinh&cm=rainbow&lim=5..2&xr=9,3&c=1&z=0&at=7'), initialState());
    assert.equal(parseFragment('#mz=500&rgb=,,7').rgb, false, 'channels of ions that are not in the list are none');
    assert.equal(parseFragment('#mz=500,600&at=1').at, 1);
  });

  test('files: which go together, and which one is missing', () => {
    const [xml, ibd, store] = [file('Kidney.IMZML'), file('kidney.ibd'), file('a.sectile')];
    assert.deepEqual(fromFiles([ibd, xml]), { pair: { imzml: { file: xml }, ibd: { file: ibd } } });
    assert.deepEqual(fromFiles([file('other.ibd'), xml, ibd]).pair.ibd, { file: ibd });
    assert.deepEqual(fromFiles([xml, file('renamed.IBD')]).pair.ibd.file.name, 'renamed.IBD');
    assert.deepEqual(fromFiles([store]), { file: store });
    assert.equal(nameOf({ pair: { imzml: { file: xml }, ibd: { file: ibd } } }), 'Kidney.IMZML');
    assert.throws(() => fromFiles([xml]), /the \.ibd file that holds them is missing.*Kidney\.ibd/);
    assert.throws(() => fromFiles([ibd]), /the \.imzML file that describes them is missing.*kidney\.imzML/);
    assert.throws(() => fromFiles([file('x.raw')]), /: x\.raw cannot be opened here.*list of molecules as \.csv/);
    assert.throws(() => fromFiles([store, file('b.sectile')]), /2 stores/);
    assert.throws(() => fromFiles([xml, file('b.imzml'), ibd]), /2 imzML files/);
    assert.throws(() => fromFiles([xml, file('a.ibd'), file('b.ibd')]), /None of a\.ibd, b\.ibd has the name of Kidney/);
    assert.throws(() => fromFiles([]), /Nothing can be opened/);
    assert.deepEqual(['liver.v2', 'liver.v2.imzML', 'a.SECTILE', 'b (2)'].map(stem), ['liver.v2', 'liver.v2', 'a', 'b (2)']);
  });

  test('addresses: a store, or an imzML file with its ibd beside it', () => {
    const base = 'https://example.org/pages/ions.html';
    assert.deepEqual(fromAddress('../data/k.sectile', '', base), { url: 'https://example.org/data/k.sectile' });
    assert.deepEqual(fromAddress('k.imzML?v=2', '', base).pair.ibd, { url: 'https://example.org/pages/k.ibd?v=2' });
    assert.deepEqual(fromAddress('k.imzML', 'blobs/7', base).pair.ibd, { url: 'https://example.org/pages/blobs/7' });
    assert.equal(binaryBeside('https://example.org/K.IMZML'), 'https://example.org/K.IBD');
    assert.throws(() => fromAddress('k.ibd', '', base), /address of the \.imzML file/);
    assert.throws(() => fromAddress('file:///tmp/k.imzML', '', base), /Drop local files here/);
  });

  test('m/z and tolerance as people type them', () => {
    assert.deepEqual(parseMz(' 885.5493; 281.2485, 500 '), [885.5493, 281.2485, 500]);
    assert.throws(() => parseMz('885,5493'), /decimal point as a dot/);
    assert.throws(() => parseMz('lipid'), /“lipid” is not an m\/z/);
    assert.throws(() => parseMz('-3'), /not an m\/z/);
    assert.throws(() => parseMz(' '), /Type an m\/z/);
    assert.equal(parseTolerance('2.5', 'ppm'), 2.5);
    assert.equal(parseTolerance('0,01', 'da'), 0.01);
    assert.throws(() => parseTolerance('0', 'ppm'), /number above 0/);
    assert.deepEqual(windowOf(500, 2, 'ppm'), { lo: 500 - 500 * 2 * 1e-6, hi: 500 + 500 * 2 * 1e-6 });
    assert.deepEqual(windowOf(500, 0.5, 'da'), { lo: 499.5, hi: 500.5 });
  });

  test('a click means the highest peak near it, and its centre weighted by intensity', () => {
    const mz = Float64Array.of(100, 499.999, 500, 500.001, 500.5, 700);
    const values = Float32Array.of(5, 60, 100, 80, 90, 3);
    const found = peakAt(mz, values, 500.2, 0.25);
    assert.equal(found.index, 2);
    assert.ok(Math.abs(found.mz - (60 * 499.999 + 100 * 500 + 80 * 500.001) / 240) < 1e-9);
    assert.equal(peakAt(mz, values, 500.45, 0.1).mz, 500.5);
    assert.equal(peakAt(mz, values, 800, 0.1).mz, 700, 'beside all peaks, the nearest');
    assert.equal(peakAt(new Float64Array(0), new Float32Array(0), 5, 1), null);
    assert.equal(highest(mz, Float32Array.of(0, 0, 0, 0, 0, 0), 0, 1000), -1);
    assert.equal(centre(Float64Array.of(1, 2, 3), [1, 8, 1], 1), 2);
    assert.equal(neighbour(mz, values, found.mz, 1, 50).mz, 500.5);
    assert.equal(neighbour(mz, values, 500.5, -1, 50).index, 2);
    assert.equal(neighbour(mz, values, 500.6, 1, 50), null);
  });

  test('hotspot clip: the 99th percentile of what is not 0', () => {
    const values = new Float32Array(1001);
    for (let i = 1; i <= 100; i += 1) values[i] = i;
    values[0] = NaN;
    values[100] = 1e6;
    const plane = new IonPlane({ width: 1001, height: 1, values }, {});
    assert.equal(plane.limits(false).hi, 1e6);
    assert.ok(plane.limits(true).hi > 99 && plane.limits(true).hi < 1e6, 'the one hot pixel is beyond');
    assert.equal(plane.limits(true).lo, 0);
    const empty = new IonPlane({ width: 2, height: 1, values: Float32Array.of(0, NaN) }, {});
    assert.equal(empty.empty, true);
    assert.deepEqual(empty.limits(true), { lo: 0, hi: 1 });
    const below = new IonPlane({ width: 2, height: 1, values: Float32Array.of(-4, 8) }, {});
    assert.equal(below.limits(false).lo, -4);
    const same = new IonPlane({ width: 3, height: 1, values: Float32Array.of(5, 5, 0) }, {});
    assert.deepEqual(same.limits(true), { lo: 0, hi: 5 });
  });

  test('scale bar: 1, 2, 5 steps in µm, whole pixels where their size is not known', () => {
    assert.deepEqual(barLength(0.1, 160), { length: 1000, width: 100 });
    assert.equal(barLength(0.3, 160).length, 500);
    assert.equal(barLength(0.7, 160).length, 200);
    assert.equal(barLength(100, 160, 1).length, 1);
    assert.equal(barLength(300, 160, 1), null);
    assert.equal(barLength(300, 160).length, 0.5);
    assert.equal(barLength(0, 160), null);
    for (let zoom = 0.01; zoom < 300; zoom *= 1.07) {
      const { length, width } = barLength(zoom, 160);
      assert.ok(width <= 160.001 && width > 160 / 2.6, `${zoom}`);
      assert.ok([1, 2, 5].includes(Number(length.toExponential().split('e')[0])));
    }
    assert.equal(lengthText(500), '500\u202fµm');
    assert.equal(lengthText(2000), '2\u202fmm');
    assert.equal(lengthText(0.5), '500\u202fnm');
    assert.equal(aspectOf([100, 50]), 2);
    assert.equal(aspectOf(null), 1);
    assert.equal(aspectOf([10, null]), 1);
  });

  test('too little memory is said in the words of the page', () => {
    const error = (have, need) => Object.assign(new Error(`the memory budget is ${have} bytes, but packing this dataset needs ${need} bytes; give at least --memory ${Math.ceil(need / 1024)}KiB`), { code: 'budget' });
    const said = refusal(error(5005647, 5135824), 16 << 20);
    assert.match(said, /^Packing this dataset does not fit into half of 16.MiB, which is its part of the memory\. Write 18 MiB or more under/);
    assert.match(refusal(error(4194304, 2097152), 3 << 20), /Write 6 MiB or more/);
    const list = { code: 'budget', message: 'the memory budget is 2097152 bytes, but the molecule list needs 2097215 bytes; give at least --memory 2049KiB' };
    assert.match(refusal(list, 16 << 20), /The molecule list .*Write 32 MiB or more/, 'one byte more would not do: the rest of it is still to come');
    assert.equal(refusal(new Error('x: byte 5: cut short'), 1), 'x: byte 5: cut short');
  });

  test('a rectangle holds whole pixels, at least one', () => {
    assert.deepEqual(rectangle([2.2, 3.9], [5.1, 1.5]), [2, 1, 6, 4]);
    assert.deepEqual(rectangle([2, 3], [2, 3]), [2, 3, 3, 4]);
    assert.deepEqual(rectangle([0, 0], [4, 2]), [0, 0, 4, 2]);
  });
});
