import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatBytes, parseBytes } from '../../www/app/bytes.js';
import { formatDec, formatRa, formatSeconds, formatValue } from '../../www/app/format.js';
import { around, isSmall, previewStep } from '../../www/app/passes.js';
import { Plane } from '../../www/app/plane.js';
import { addresses, urlEntries } from '../../www/app/sources.js';
import { formatFragment, initialState, parseFragment } from '../../www/app/state.js';

describe('rules of the page', () => {
  test('amounts of memory', () => {
    assert.equal(parseBytes('64 MiB'), 64 * 2 ** 20);
    assert.equal(parseBytes('0.5gb'), 5e8);
    assert.equal(parseBytes(' 67108864 '), 2 ** 26);
    for (const bad of ['', 'lots', '64 MiBs', '-1', '1e9', '0', '2 GiB', 'constructor', '1 toString']) {
      assert.throws(() => parseBytes(bad), RangeError, bad);
    }
    assert.equal(formatBytes(48 * 2 ** 20), '48\u202fMiB');
    assert.equal(formatBytes(1536), '1.5\u202fKiB');
  });

  test('values and sky positions', () => {
    assert.equal(formatValue(NaN), 'no data');
    assert.equal(formatValue(0.41756), '0.417560');
    assert.equal(formatValue(-12), '−12');
    assert.equal(formatValue(1.5e-7), '1.50000e−7');
    assert.equal(formatRa(250.4235), '16h 41m 41.640s');
    assert.equal(formatRa(359.9999999), '00h 00m 00.000s');
    assert.equal(formatDec(-0.5), '−00° 30′ 00.00″');
    assert.equal(formatDec(36.4613), '+36° 27′ 40.68″');
    assert.equal(formatSeconds(200), '3 min 20 s');
  });

  test('a fragment holds the whole state and comes back the same', () => {
    const state = {
      ...initialState(), src: ['https://a.org/x.txt?a=1&b=2#c', 'data/list.txt'], hdu: 'SCI,2', mask: 'DQ', bits: '1+16', mem: '64 MiB', fly: 16, nowcs: true,
      run: true, v: 'exp-3', s: 'log', lim: 'user', lo: -0.25, hi: 1e-7, cm: 'magma', inv: true, c: [10.5, 20], z: 2.5,
    };
    assert.deepEqual(parseFragment(formatFragment(state)), state);
    assert.equal(formatFragment(initialState()), '');
  });

  test('a senseless fragment gives the defaults', () => {
    const state = parseFragment('#v=__proto__&s=wild&lim=p&lo=x&cm=constructor&c=1&z=-4&fly=0&mem=');
    assert.deepEqual(state, { ...initialState(), mem: '' });
  });

  test('addresses of a text', () => {
    assert.deepEqual(addresses('# list\n a.fits \r\n\nb.fits'), ['a.fits', 'b.fits']);
    assert.deepEqual(urlEntries(['data/a.fits'], 'https://x.org/s/'), [{ url: 'https://x.org/s/data/a.fits' }]);
    assert.throws(() => urlEntries(['javascript:alert(1)'], 'https://x.org/'), /http and https/);
    assert.throws(() => urlEntries(['http://['], 'https://x.org/'), /not an address/);
  });

  test('passes cover the image once, the part on screen first', () => {
    for (const seen of [null, { x0: 10, y0: 20, x1: 20, y1: 30 }, { x0: 0, y0: 0, x1: 100, y1: 5 }, { x0: 90, y0: 70, x1: 100, y1: 80 }]) {
      const cover = new Uint8Array(100 * 80);
      for (const r of around(seen, 100, 80)) for (let y = r.y0; y < r.y1; y += 1) for (let x = r.x0; x < r.x1; x += 1) cover[y * 100 + x] += 1;
      assert.ok(cover.every((n) => n === 1));
    }
    assert.deepEqual(around({ x0: 10, y0: 20, x1: 20, y1: 30 }, 100, 80)[0], { x0: 10, y0: 20, x1: 20, y1: 30 });
  });

  test('a preview only where it is cheap', async () => {
    const planOf = async (step) => ({ requests: 20000 / step, seconds: 100 / step, payload_bytes: 1 });
    assert.equal(await previewStep(4096, planOf, { seconds: 100, payload_bytes: 9 }), 64);
    assert.equal(await previewStep(512, planOf, { seconds: 100, payload_bytes: 9 }), 0);
    assert.ok(isSmall({ sections: 1, payload_bytes: 1e12, seconds: 99 }));
    assert.ok(!isSmall({ sections: 9, payload_bytes: 1e12, seconds: 99 }));
  });

  test('a plane shows a preview but never counts it as data', () => {
    const plane = new Plane('median', 8, 8, null);
    const coarse = Float32Array.of(1, 2, 3, 4);
    plane.put({ x0: 0, y0: 0, width: 2, rows: 2, step: 4, values: coarse, count: null }, coarse);
    plane.rescale({ lo: 0, hi: 4 });
    const codes = new Uint16Array(64);
    plane.read(0, 0, 8, 8, codes);
    assert.equal(codes[7] - codes[0], 1);
    assert.equal(plane.valueAt(0, 0), undefined);
    assert.ok(Number.isNaN(plane.values[0]));
    const exact = new Float32Array(16).fill(9);
    plane.put({ x0: 0, y0: 0, width: 8, rows: 2, step: 1, values: exact, count: null }, exact);
    plane.read(0, 0, 8, 8, codes);
    assert.equal(plane.valueAt(3, 1), 9);
    assert.equal(plane.valueAt(3, 2), undefined);
    assert.equal(codes[16] - codes[23], -1, 'below the section the preview is still seen');
  });
});
