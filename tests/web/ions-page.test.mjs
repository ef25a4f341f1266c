/** The ion page without a core: its own rules in Node, and the page in Chromium on a stand-in. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { parseMz, parseTolerance } from '../../www/ions/ion-list.js';
import { binaryBeside, fromAddress, fromFiles, nameOf } from '../../www/ions/pair.js';
import { centre, highest, neighbour, peakAt } from '../../www/ions/peaks.js';
import { aspectOf, IonPlane } from '../../www/ions/plane.js';
import { rectangle } from '../../www/ions/region.js';
import { barLength, lengthText } from '../../www/ions/scale-bar.js';
import { formatFragment, initialState, parseFragment } from '../../www/ions/state.js';
import { windowOf } from '../../www/ions/window.js';
import { launch } from './chromium.mjs';
import { servePages } from './serve.mjs';

const STORE = 'https://example.org/kidney.sectile';
const file = (name) => ({ name });

describe('rules of the ion page', () => {
  test('a link restores what it was made from, and nonsense keeps the defaults', () => {
    const state = { ...initialState(), src: 'data/k.sectile', mz: [885.5493, 281.2485, 726.5443], tol: 0.01, unit: 'da', rgb: true, ch: [0, null, 2], norm: 'rms', sl: 2, s: 'log', cm: 'magma', inv: true, hot: false, lim: [{ lo: 0, hi: 12.5 }, null, { lo: 3, hi: 9 }], sp: 'max', log: true, xr: [700.25, 900], c: [12.5, 3], z: 8 };
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
    assert.throws(() => fromFiles([file('x.raw')]), /x\.raw can be opened|x\.raw/);
    assert.throws(() => fromFiles([store, file('b.sectile')]), /2 stores/);
    assert.throws(() => fromFiles([xml, file('b.imzml'), ibd]), /2 imzML files/);
    assert.throws(() => fromFiles([xml, file('a.ibd'), file('b.ibd')]), /None of a\.ibd, b\.ibd has the name of Kidney/);
    assert.throws(() => fromFiles([]), /Nothing can be opened/);
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

  test('a rectangle holds whole pixels, at least one', () => {
    assert.deepEqual(rectangle([2.2, 3.9], [5.1, 1.5]), [2, 1, 6, 4]);
    assert.deepEqual(rectangle([2, 3], [2, 3]), [2, 3, 3, 4]);
    assert.deepEqual(rectangle([0, 0], [4, 2]), [0, 0, 4, 2]);
  });
});

describe('the ion page in Chromium', { timeout: 240_000 }, () => {
  let browser;
  let server;

  before(async () => {
    [browser, server] = [await launch(), await servePages()];
  });

  after(async () => {
    await browser?.close();
    await server?.close();
  });

  async function open(query, more = '', options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    page.complaints = [];
    page.on('pageerror', (error) => page.complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && page.complaints.push(message.text()));
    const source = query === null ? '' : `#src=${encodeURIComponent(query.startsWith('http') ? query : `${STORE}?${query}`)}${more}`;
    await page.goto(`${server.base}ions.html${source}`);
    return page;
  }

  async function close(page) {
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  }

  const text = (page, selector) => page.locator(selector).textContent();
  const settled = (page) => page.waitForTimeout(300);
  const shown = (page, n = 1) => page.waitForFunction((count) => sectile.display.layers.length === count && !document.querySelector('#stage').classList.contains('loading'), n);
  const calls = (page, name) => page.evaluate((wanted) => fake.calls.filter(([call]) => call === wanted).map((call) => call.slice(1)), name);
  const asked = async (page) => (await calls(page, 'images')).at(-1)[0].map(({ mz }) => mz);

  test('the policy is strict, nothing is inline, and the two pages lead to each other', async () => {
    const html = await readFile(new URL('../../www/ions.html', import.meta.url), 'utf8');
    const other = await readFile(new URL('../../www/index.html', import.meta.url), 'utf8');
    const policy = (text) => /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(text)[1];
    assert.equal(policy(html), policy(other));
    assert.doesNotMatch(html, /\sstyle=|\son[a-z]+=|<style|<script(?![^>]*\ssrc=)/i);
    assert.doesNotMatch(html, /(?:src|href)="(?:https?:)?\//, 'every address is relative');
    const page = await open('ramp');
    await shown(page);
    await page.click('.pages a:first-child');
    await page.waitForURL(/index\.html$/);
    await page.click('.pages a:last-child');
    await page.waitForURL(/ions\.html$/);
    await close(page);
  });

  test('nothing opened: what to do, and that nothing is uploaded', async () => {
    const page = await open(null);
    assert.match(await text(page, '#welcome'), /\.imzML.*\.ibd.*Nothing is uploaded/s);
    assert.equal(await page.locator('#export').isDisabled(), true);
    await page.click('#welcome-paste');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'url');
    await page.keyboard.press('Enter');
    assert.match(await text(page, '#notice'), /no address to open/);
    await page.keyboard.type(`${STORE}?ramp`);
    await page.keyboard.press('Enter');
    await shown(page);
    assert.equal(await page.locator('#welcome').isVisible(), false);
    await settled(page);
    assert.match(page.url(), /src=https:\/\/example\.org\/kidney\.sectile/);
    await close(page);
  });

  test('values on screen are those of the core, row 0 at the top, in the coordinates of the file', async () => {
    const page = await open('ramp&w=70&h=50&origin=101,-7', '&mz=885.5493&s=linear&hot=0');
    await shown(page);
    const found = await page.evaluate(() => {
      const { view, display: { layers: [{ plane }] } } = sectile;
      let wrong = 0;
      for (let y = 0; y < 50; y += 1) for (let x = 0; x < 70; x += 1) {
        const value = plane.values[y * 70 + x];
        const want = value === value ? Math.round((value - plane.scale.bzero) / plane.scale.bscale) : 0;
        if (view.codeAt(x, y) !== want) wrong += 1;
      }
      const top = view.camera.toScreen(35.5, 0.5);
      const bottom = view.camera.toScreen(35.5, 49.5);
      return { wrong, upright: top[1] < bottom[1], step: plane.scale.bscale };
    });
    assert.deepEqual(found, { wrong: 0, upright: true, step: 1 });
    const point = await page.evaluate(() => {
      const box = sectile.view.canvas.getBoundingClientRect();
      const at = (x, y) => {
        const [sx, sy] = sectile.view.camera.toScreen(x + 0.5, y + 0.5);
        return [box.left + sx, box.top + sy];
      };
      return { inside: at(40, 20), outside: at(0, 0) };
    });
    await page.mouse.move(...point.inside);
    assert.deepEqual([await text(page, '#read-x'), await text(page, '#read-y'), await text(page, '#read-value')], ['141', '13', String(20 * 70 + 40)]);
    await page.mouse.move(...point.outside);
    assert.equal(await text(page, '#read-value'), 'no data');
    assert.match(await text(page, '#title'), /kidney\.sectile.*70 × 50 pixels · 50.µm · negative/);
    assert.match(await text(page, '#image-cost'), /37\.2.KiB in 1 request/);
    await close(page);
  });

  test('acquired without signal is 0 and not no data, and that is said', async () => {
    const page = await open('w=40&h=30', '&mz=333.3333');
    await shown(page);
    assert.match(await text(page, '#no-signal'), /No signal at m\/z 333\.3333 ± 3 ppm/);
    await page.focus('#view');
    await page.keyboard.press('ArrowRight');
    assert.equal(await text(page, '#read-value'), '0');
    await close(page);
  });

  test('pixels are drawn in true proportion, with a scale bar in µm', async () => {
    const page = await open('w=60&h=45&pixel=20x80', '&mz=885.5493');
    await shown(page);
    const zoom = await page.evaluate(() => [sectile.view.camera.zoom, sectile.view.camera.zoomY]);
    assert.ok(Math.abs(zoom[1] / zoom[0] - 4) < 1e-9);
    const bar = await page.evaluate(() => [document.querySelector('#scale-bar span').textContent, parseFloat(document.querySelector('#scale-bar i').style.width)]);
    const [, length, unit] = /^([\d.]+)\u202f(µm|mm)$/.exec(bar[0]);
    const pixels = (Number(length) * (unit === 'mm' ? 1000 : 1)) / 20;
    assert.ok(Math.abs(bar[1] - pixels * zoom[0]) < 0.02, `${bar} at ${zoom}`);
    await close(page);
    const other = await open('w=60&h=45&pixel=none', '&mz=885.5493');
    await shown(other);
    assert.match(await text(other, '#scale-bar'), /^\d+ pixels?$/);
    assert.match(await text(other, '#facts'), /Pixel size.*unknown/);
    await close(other);
  });

  test('a click on a peak shows its image; the window is shaded; the wheel and a drag zoom, a double click shows all', async () => {
    const page = await open('', '&mz=281.2485');
    await shown(page);
    const place = (mz) => page.evaluate((at) => {
      const { plot } = sectile.spectrum.plot;
      const box = plot.over.getBoundingClientRect();
      return [box.left + plot.valToPos(at, 'x'), box.top + box.height / 2];
    }, mz);
    const range = () => page.evaluate(() => [sectile.spectrum.plot.plot.scales.x.min, sectile.spectrum.plot.plot.scales.x.max]);
    const whole = await range();
    await page.mouse.click(...(await place(747.6)));
    await page.waitForFunction(() => sectile.state.mz.length === 2);
    await shown(page);
    const picked = (await asked(page))[0];
    assert.ok(Math.abs(picked - 747.5182) < 0.001, `${picked}`);
    assert.match(await text(page, '#ions .chosen'), /747\.518/);
    const windows = await page.evaluate(() => sectile.spectrum.plot.windows);
    assert.deepEqual(windows.map(({ lo, hi }) => [lo, hi]), [[picked - picked * 3 * 1e-6, picked + picked * 3 * 1e-6]]);

    const [x, y] = await place(885);
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, -400);
    await page.waitForFunction((width) => sectile.spectrum.plot.plot.scales.x.max - sectile.spectrum.plot.plot.scales.x.min < width * 0.7, whole[1] - whole[0]);
    const under = await page.evaluate((px) => sectile.spectrum.plot.plot.posToVal(px - sectile.spectrum.plot.plot.over.getBoundingClientRect().left, 'x'), x);
    assert.ok(Math.abs(under - 885) < 1, `${under} stays under the pointer`);
    const [from, to] = [await place(880), await place(892)];
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move(...to, { steps: 5 });
    await page.mouse.up();
    await page.waitForFunction(() => sectile.state.xr && sectile.state.xr[1] - sectile.state.xr[0] < 13);
    assert.equal(await page.evaluate(() => sectile.state.mz.length), 2, 'a drag picks nothing');
    await settled(page);
    assert.match(page.url(), /xr=8[78]\d(\.\d+)?,89\d/);
    await page.mouse.dblclick(...(await place(889.7)));
    await page.waitForFunction(() => sectile.state.xr === null);
    assert.deepEqual(await range(), whole);
    await close(page);
  });

  test('the spectrum by keyboard: from peak to peak, Enter, zoom, log', async () => {
    const page = await open('', '&mz=281.2485');
    await shown(page);
    await page.focus('#plot');
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(() => /^m\/z 909\.534/.test(document.querySelector('#plot-spoken').textContent));
    await page.keyboard.press('ArrowLeft');
    const spoken = await text(page, '#plot-spoken');
    assert.match(spoken, /^m\/z 906\.634.*Enter shows its image/);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => sectile.state.mz.length === 2);
    await shown(page);
    assert.ok(Math.abs((await asked(page))[0] - 906.6344) < 0.001);
    await page.keyboard.press('+');
    await page.waitForFunction(() => sectile.state.xr !== null);
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('0');
    await page.waitForFunction(() => sectile.state.xr === null);
    await page.keyboard.press('l');
    assert.equal(await page.getAttribute('#plot-log', 'aria-pressed'), 'true');
    await page.keyboard.press('w');
    await page.waitForFunction(() => sectile.state.xr?.[1] - sectile.state.xr?.[0] < 1);
    await page.check('input[name="spectrum"][value="max"]');
    assert.match(await text(page, '#spectrum-note'), /Largest intensity of/);
    await settled(page);
    assert.match(page.url(), /sp=max&log=1/);
    await close(page);
  });

  test('m/z and tolerance by hand: several, ppm and Da, mistakes are said', async () => {
    const page = await open('', '&mz=885.5493');
    await shown(page);
    await page.fill('#mz', '281.2485 726.5443');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => sectile.state.mz.length === 3);
    await shown(page);
    assert.deepEqual(await asked(page), [726.5443]);
    await page.selectOption('#tolerance-unit', 'da');
    await page.fill('#tolerance', '0.02');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => fake.calls.at(-1)[0] === 'images' && fake.calls.at(-1)[1][0].da === 0.02);
    const before = (await calls(page, 'images')).length;
    for (const [value, message] of [['885,5493', /decimal point as a dot/], ['C5H5', /is not an m\/z/]]) {
      await page.fill('#mz', value);
      await page.keyboard.press('Enter');
      assert.match(await text(page, '#mz-error'), message);
      assert.equal(await page.getAttribute('#mz', 'aria-invalid'), 'true');
    }
    await page.fill('#tolerance', 'wide');
    await page.keyboard.press('Enter');
    assert.match(await text(page, '#mz-error'), /“wide” is not a tolerance/);
    assert.equal((await calls(page, 'images')).length, before, 'nothing is asked of the core');
    await settled(page);
    assert.match(page.url(), /mz=885\.5493,281\.2485,726\.5443&tol=0\.02da&at=2/);
    await close(page);
  });

  test('an image that was shown before costs nothing again; ions can be stepped and removed', async () => {
    const page = await open('', '&mz=885.5493,888.6239,726.5443');
    await shown(page);
    await page.focus('#view');
    for (const key of [']', ']', ']', '[', '[']) {
      await page.keyboard.press(key);
      await settled(page);
    }
    assert.equal((await calls(page, 'images')).length, 3);
    assert.match(await text(page, '#ions .chosen'), /888\.6239.*max/);
    await page.click('#ions .chosen .remove');
    await page.waitForFunction(() => sectile.state.mz.length === 2);
    assert.equal(await page.evaluate(() => document.activeElement.closest('#ions') !== null), true, 'the focus stays in the list');
    await page.click('#ions li:first-child .remove');
    await page.click('#ions li:first-child .remove');
    await page.waitForFunction(() => sectile.state.mz.length === 0 && sectile.display.layers.length === 0);
    assert.equal(await page.locator('#ions-hint').isVisible(), true);
    await close(page);
  });

  test('three ions in red, green and blue: one call, each with limits of its own', async () => {
    const page = await open('', '&mz=885.5493,888.6239,857.5186,281.2485&rgb=0,1,2');
    await shown(page, 3);
    assert.deepEqual(await asked(page), [885.5493, 888.6239, 857.5186]);
    assert.equal((await calls(page, 'images')).length, 1, 'they share their reads');
    const pixel = await page.evaluate(() => {
      const { view, display } = sectile;
      const wrong = [];
      for (let k = 0; k < 300; k += 1) {
        const [x, y] = [(k * 17) % 60, (k * 29) % 45];
        const colour = view.colourAt(...view.camera.toScreen(x + 0.5, y + 0.5));
        const values = display.layers.map(({ plane }) => plane.valueAt(x, y));
        if (Number.isNaN(values[0])) continue;
        const want = display.layers.map((layer) => {
          const { lo, hi } = display.limitsOf(layer);
          return 255 * Math.min(1, Math.max(0, (layer.plane.valueAt(x, y) - lo) / (hi - lo)));
        });
        if (want.some((v, i) => Math.abs(v - colour[i]) > 1.5)) wrong.push([x, y, want, colour]);
      }
      return wrong;
    });
    assert.deepEqual(pixel, []);
    assert.match(await text(page, '#legend'), /885\.5493.*888\.6239.*857\.5186/);
    await page.focus('#view');
    await page.keyboard.press('ArrowRight');
    assert.match(await text(page, '#read-value'), /^R [\d.]+G [\d.]+B [\d.]+$/);
    await page.check('input[name="channel"][value="1"]');
    await page.fill('#limit-hi', '1000');
    await page.keyboard.press('Enter');
    assert.deepEqual(await page.evaluate(() => sectile.state.lim), [null, { lo: 0, hi: 1000 }, null]);
    await page.click('#ions li:nth-child(4) .channel.blue');
    await page.waitForFunction(() => sectile.state.ch[2] === 3);
    await shown(page, 3);
    await page.click('#ions li:nth-child(1) .channel.red');
    await shown(page, 2);
    await settled(page);
    assert.match(page.url(), /rgb=,1,3/);
    assert.match(page.url(), /lim=,0\.\.1000/);
    await page.check('input[name="mode"][value="one"]');
    await shown(page, 1);
    assert.equal(await page.locator('#legend').isVisible(), false);
    await close(page);
  });

  test('look and values: hotspots, limits, stretch, colours, normalisation, slices', async () => {
    const page = await open('slices=3', '&mz=857.5186');
    await shown(page);
    const high = () => page.evaluate(() => sectile.display.limitsOf(sectile.display.layers[0]).hi);
    const clipped = await high();
    await page.focus('#view');
    await page.keyboard.press('z');
    assert.ok((await high()) > clipped * 1.2);
    assert.equal(await page.locator('#hot').isChecked(), false);
    await page.focus('[data-end="hi"]');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.locator('#by-hand').isVisible(), true);
    await page.click('#automatic');
    assert.equal(await page.locator('#by-hand').isVisible(), false);
    await page.focus('#view');
    for (const key of ['s', 'c', 'i', 'n']) await page.keyboard.press(key);
    await shown(page);
    await page.keyboard.press('PageDown');
    await page.waitForFunction(() => fake.calls.at(-1)[1]?.[0]?.slice === 1);
    assert.equal((await calls(page, 'images')).at(-1)[0][0].normalise, 'tic');
    await settled(page);
    for (const part of ['s=sqrt', 'cm=inferno', 'inv=1', 'norm=tic', 'hot=0', 'sl=1']) assert.ok(page.url().includes(part), `${part} in ${page.url()}`);
    assert.equal(await page.inputValue('#slice'), '1');
    assert.match(await text(page, '#slice'), /z = 0.*z = 10.*z = 20/);
    await close(page);
  });

  test('a link restores ions, look and place', async () => {
    const page = await open('', '&mz=885.5493,888.6239&at=1&tol=5ppm&norm=rms&s=log&cm=cividis&lim=5..900&xr=880,892&c=20,30&z=24');
    await shown(page);
    await settled(page);
    const got = await page.evaluate(() => {
      const { camera } = sectile.view;
      return [sectile.display.layers[0].plane.ion, camera.x, camera.y, camera.zoom, sectile.display.limitsOf(sectile.display.layers[0]), document.querySelector('#tolerance').value, document.querySelector('input[name="norm"]:checked').value];
    });
    assert.deepEqual(got, [{ mz: 888.6239, ppm: 5, slice: 0, normalise: 'rms' }, 20.5, 30.5, 24, { lo: 5, hi: 900 }, '5', 'rms']);
    for (const part of ['at=1', 'tol=5ppm', 's=log', 'cm=cividis', 'lim=5..900', 'c=20,30', 'z=24', 'xr=880,892']) assert.ok(page.url().includes(part), `${part} in ${page.url()}`);
    assert.equal(await page.evaluate(() => history.length), 2, 'no history entries');
    await page.click('#share');
    assert.equal(await page.inputValue('#share-link'), page.url());
    await close(page);
  });

  test('the spectrum of a pixel: asked first when it takes a full pass, at once from a pair', async () => {
    const page = await open('big=212000000', '&mz=885.5493');
    await shown(page);
    await page.check('input[name="spectrum"][value="pixel"]');
    assert.match(await text(page, '#plot-empty'), /Click a pixel of the image/);
    await page.focus('#view');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('#ask:not([hidden])');
    assert.match(await text(page, '#ask-text'), /full pass over 202.MiB \(106 requests/);
    assert.deepEqual(await calls(page, 'spectrum'), []);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#ask').isVisible(), false);
    await page.focus('#view');
    await page.keyboard.press('p');
    await page.waitForSelector('#ask:not([hidden])');
    await page.click('#ask-no');
    assert.equal(await page.locator('input[name="spectrum"][value="mean"]').isChecked(), true);
    await page.focus('#view');
    await page.keyboard.press('p');
    await page.waitForSelector('#ask:not([hidden])');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /by a full pass over the store: 202.MiB in 106 requests/.test(document.querySelector('#spectrum-note').textContent));
    assert.match(await text(page, '#spectrum-note'), /^Pixel 31, 23 · \d+ peaks/);
    assert.deepEqual(await calls(page, 'spectrum'), [[{ x: 30, y: 22, slice: 0 }]]);
    const [saved] = await Promise.all([page.waitForEvent('download'), page.click('#plot-csv')]);
    assert.equal(saved.suggestedFilename(), 'kidney_pixel_31_23.csv');
    assert.match(await readFile(await saved.path(), 'utf8'), /^m\/z,intensity\n281\.2485,/);
    await close(page);

    const pair = await open('https://example.org/kidney.imzML', '&mz=885.5493');
    await shown(pair);
    await pair.focus('#view');
    await pair.keyboard.press('ArrowRight');
    await pair.keyboard.press('p');
    await pair.waitForFunction(() => /from the imzML pair: 4\.7.KiB in 1 request$/.test(document.querySelector('#spectrum-note').textContent));
    await pair.click('#keep-now');
    await pair.waitForSelector('#kept:not([hidden])');
    assert.equal(await pair.locator('#keep-now').isVisible(), false);
    await close(pair);
  });

  test('regions: a rectangle by drag and by keyboard, a polygon by clicks', async () => {
    const page = await open('', '&mz=885.5493');
    await shown(page);
    const at = (x, y) => page.evaluate(([px, py]) => {
      const box = sectile.view.canvas.getBoundingClientRect();
      const [sx, sy] = sectile.view.camera.toScreen(px, py);
      return [box.left + sx, box.top + sy];
    }, [x, y]);
    await page.click('#draw-rect');
    await page.mouse.move(...(await at(20.3, 10.2)));
    await page.mouse.down();
    await page.mouse.move(...(await at(30.5, 18.7)), { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => fake.calls.some(([name]) => name === 'region'));
    assert.deepEqual((await calls(page, 'region')).at(-1), [{ rect: [20, 10, 31, 19], slice: 0 }]);
    await page.waitForFunction(() => /^Mean of 12 acquired pixels/.test(document.querySelector('#spectrum-note').textContent));
    assert.equal(await page.evaluate(() => sectile.view.camera.fitted), true, 'the drag did not pan');
    await page.click('#draw-polygon');
    for (const [x, y] of [[20, 10], [40, 12], [30, 30]]) await page.mouse.click(...(await at(x, y)));
    await page.focus('#view');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => fake.calls.filter(([name]) => name === 'region').length === 2);
    const [{ polygon }] = (await calls(page, 'region')).at(-1);
    assert.deepEqual(polygon.map((corner) => corner.map(Math.round)), [[20, 10], [40, 12], [30, 30]]);
    await page.click('#region-clear');
    assert.equal(await page.locator('input[name="spectrum"][value="mean"]').isChecked(), true);
    await page.focus('#view');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('r');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('r');
    await page.waitForFunction(() => fake.calls.filter(([name]) => name === 'region').length === 3);
    assert.deepEqual((await calls(page, 'region')).at(-1), [{ rect: [30, 22, 32, 33], slice: 0 }]);
    await page.click('#draw-polygon');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#drawing-hint').isVisible(), false);
    await close(page);
  });

  test('packing: progress, cancel, resume, kept and removed', async () => {
    const page = await open(null);
    await page.check('#keep');
    await page.setInputFiles('#files', ['kidney~delay=120.imzML', 'kidney~delay=120.ibd'].map((name) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.alloc(64) })));
    await page.waitForFunction(() => /Reading the spectra · \d+ % · \d+ s left/.test(document.querySelector('#packing-text').textContent));
    assert.match(await text(page, '#packing-plan'), /To read.*239.MiB in 62 requests.*Scratch space.*Peak memory.*of 256.MiB/);
    assert.equal(await page.locator('#waiting').isVisible(), true);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => /Cancelled at \d+ %\. What has been sorted so far is kept/.test(document.querySelector('#packing-text').textContent));
    assert.equal(await page.evaluate(() => fake.aborted), 1);
    const far = await page.evaluate(() => fake.packed);
    assert.ok(far > 2);
    await page.click('#resume');
    await shown(page);
    const opened = await calls(page, 'open');
    assert.deepEqual(opened, [[['kidney~delay=120.imzML', 'kidney~delay=120.ibd'], true, false], [['kidney~delay=120.imzML', 'kidney~delay=120.ibd'], true, false]]);
    assert.match(await text(page, '#status'), /Packed into a store of .*kept on this computer/);
    assert.equal(await page.locator('#packing').isVisible(), false);
    await settled(page);
    assert.doesNotMatch(page.url(), /src=/);
    await page.click('#sources summary');
    await page.waitForSelector('#kept:not([hidden])');
    assert.match(await text(page, '#kept-list'), /kidney~delay=120\.sectile.*4\.39.MiB/);
    await page.click('#kept-list .remove');
    assert.match(await text(page, '#kept-list .remove'), /Remove\?/);
    await page.click('#kept-list .remove');
    await page.waitForFunction(() => document.querySelector('#kept').hidden);
    await page.click('#export');
    const [store] = await Promise.all([page.waitForEvent('download'), page.click('#export-store')]);
    assert.equal(store.suggestedFilename(), 'kidney_delay_120.sectile');
    await close(page);
  });

  test('export: PNG, alpha, CSV for each ion on show, and a picture', async () => {
    const page = await open('', '&mz=885.5493,888.6239&rgb=0,1,');
    await shown(page, 2);
    const save = async (kind, n) => {
      const files = [];
      const listen = (download) => files.push(download.suggestedFilename());
      page.on('download', listen);
      await page.click('#export');
      await page.click(`#export-${kind}`);
      for (let i = 0; i < 50 && files.length < n; i += 1) await page.waitForTimeout(100);
      page.off('download', listen);
      return files;
    };
    assert.deepEqual(await save('png', 2), ['kidney_mz885.5493.png', 'kidney_mz888.6239.png']);
    assert.deepEqual(await save('alpha', 2), ['kidney_mz885.5493_alpha.png', 'kidney_mz888.6239_alpha.png']);
    assert.deepEqual(await save('csv', 2), ['kidney_mz885.5493.csv', 'kidney_mz888.6239.csv']);
    assert.deepEqual((await calls(page, 'png')).map((call) => call.at(-1)), [false, false, true, true]);
    assert.deepEqual(await save('picture', 1), ['kidney_rgb_picture.png']);
    await page.check('input[name="mode"][value="one"]');
    await shown(page);
    assert.deepEqual(await save('picture', 1), ['kidney_mz885.5493_picture.png']);
    await page.keyboard.press('e');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'export-png');
    await page.keyboard.press('ArrowUp');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'export-store');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#notice[data-kind="error"]');
    assert.match(await text(page, '#notice'), /The store is not on this computer/);
    await close(page);
  });

  test('errors say what to do: opening, packing, images, spectra, files that lack their partner', async () => {
    const said = async (page, pattern) => {
      await page.waitForSelector('#notice[data-kind="error"]');
      assert.match(await text(page, '#notice'), pattern);
      assert.equal(await page.getAttribute('#notice', 'role'), 'alert');
    };
    let page = await open('fail=open');
    await said(page, /not a Sectile store; the address leads to a web page/);
    assert.equal(await page.locator('#welcome').isVisible(), true);
    await close(page);

    page = await open('https://example.org/kidney.imzML?fail=pack');
    await said(page, /spectrum 1204 \(x 14, y 9\).*copy it again/);
    await page.getByRole('button', { name: 'Leave out bad spectra' }).click();
    await shown(page);
    assert.deepEqual((await calls(page, 'open')).map((call) => call.at(-1)), [false, true]);
    await close(page);

    page = await open('fail=image', '&mz=885.5493');
    await said(page, /the server does not answer; check the connection/);
    await close(page);

    page = await open('fail=spectrum', '&mz=885.5493');
    await shown(page);
    await page.focus('#view');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('p');
    await said(page, /NaN among the m\/z/);
    await close(page);

    page = await open('trap=image', '&mz=885.5493');
    await said(page, /The core has stopped \(unreachable\)/);
    await page.getByRole('button', { name: 'Start a new core' }).click();
    await page.waitForFunction(() => fake.calls.filter(([name]) => name === 'new').length === 2);
    await close(page);

    page = await open(null);
    await page.setInputFiles('#files', [{ name: 'brain.imzML', mimeType: 'text/xml', buffer: Buffer.alloc(8) }]);
    await said(page, /the \.ibd file that holds them is missing/);
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(8)], 'brain.ibd'));
      document.querySelector('#view').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await page.waitForFunction(() => /the \.imzML file that describes them is missing/.test(document.querySelector('#notice').textContent));
    await page.evaluate(() => {
      const data = new DataTransfer();
      for (const name of ['brain.IBD', 'brain.IMZML']) data.items.add(new File([new Uint8Array(8)], name));
      document.querySelector('#view').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await shown(page);
    assert.deepEqual((await calls(page, 'open'))[0][0], ['brain.IMZML', 'brain.IBD']);
    await close(page);
  });

  test('a dataset without peaks, and one with warnings', async () => {
    let page = await open('empty');
    await page.waitForFunction(() => sectile.session.info !== null);
    await settled(page);
    assert.match(await text(page, '#plot-empty'), /There are no peaks/);
    assert.match(await text(page, '#facts'), /m\/znone/);
    await close(page);
    page = await open('warn');
    await shown(page);
    assert.match(await text(page, '#facts-warnings'), /UUID.*may not belong together/);
    assert.equal(await text(page, '#facts-tally'), '1 warning');
    assert.match(await text(page, '#facts'), /Zero intensities left out52,221.*Spectra sorted by m\/z3/);
    assert.doesNotMatch(await text(page, '#facts'), /Positions with several/);
    await close(page);
  });

  test('names and messages from files never become markup', async () => {
    const hostile = '<img src=x onerror="globalThis.pwned=1"><svg onload=globalThis.pwned=1>';
    const page = await open(new URLSearchParams({ text: hostile }).toString(), '&mz=885.5493');
    await shown(page);
    assert.deepEqual(await page.evaluate(() => [document.querySelectorAll('img, svg[onload], [onerror]').length, globalThis.pwned]), [0, undefined]);
    assert.ok((await text(page, '#facts')).includes('onerror'), 'the instrument is shown as text');
    await close(page);
  });

  test('typing in a field is not taken for keys; a new address is followed', async () => {
    const page = await open('', '&mz=885.5493');
    await shown(page);
    await page.focus('#mz');
    await page.keyboard.type('sci');
    await settled(page);
    assert.doesNotMatch(page.url(), /cm=|inv=|s=sqrt/);
    await page.evaluate(() => {
      location.hash = location.hash.replace('885.5493', '888.6239').concat('&cm=magma');
    });
    await page.waitForFunction(() => sectile.display.layers[0]?.plane.ion.mz === 888.6239);
    assert.equal(await page.locator('input[name="colormap"][value="magma"]').isChecked(), true);
    assert.equal((await calls(page, 'open')).length, 1, 'the same dataset is not opened again');
    await close(page);
  });

  test('at phone size nothing overflows, the image comes first, a finger pins and pans', async () => {
    const page = await open('', '&mz=885.5493,888.6239,857.5186&rgb=0,1,2', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
    await shown(page, 3);
    for (const tab of ['spectrum', 'display', 'data', 'ions']) {
      await page.tap(`#tab-${tab}`);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, tab);
      assert.equal(await page.locator(`#panel-${tab}`).isVisible(), true);
    }
    await page.tap('#tab-spectrum');
    const plot = await page.locator('#plot .u-over').boundingBox();
    assert.ok(plot.width > 280 && plot.height > 100, JSON.stringify(plot));
    const box = await page.locator('#view').boundingBox();
    assert.ok(box.width >= 388 && box.height > 260, 'a generous image');
    await page.touchscreen.tap(190, box.y + box.height / 2);
    await page.waitForFunction(() => /^R /.test(document.querySelector('#read-value').textContent));
    await close(page);
  });

  test('everything has a name, and text stands out enough', async () => {
    const page = await open('slices=2&warn', '&mz=885.5493,888.6239&rgb=0,1,');
    await shown(page, 2);
    await page.click('#sources summary');
    const faults = await page.evaluate(() => {
      const found = [];
      for (const control of document.querySelectorAll('button, input, select, [role="slider"], [role="application"], meter, progress')) {
        const named = control.getAttribute('aria-label') || control.textContent.trim() || control.labels?.length > 0 || control.getAttribute('aria-labelledby') || control.closest('[aria-hidden="true"]');
        if (!named) found.push(`no name: ${control.outerHTML.slice(0, 80)}`);
      }
      const channel = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
      const light = (rgb) => 0.2126 * channel(rgb[0]) + 0.7152 * channel(rgb[1]) + 0.0722 * channel(rgb[2]);
      const rgb = (colour) => colour.match(/[\d.]+/g).map(Number);
      const ground = (element) => {
        for (let e = element; e; e = e.parentElement) {
          const colour = rgb(getComputedStyle(e).backgroundColor);
          if (colour.length < 4 || colour[3] === 1) return colour;
        }
        return [0, 0, 0];
      };
      for (const element of document.querySelectorAll('h1, h2, h3, p, a, dt, dd, label, small, summary, button:enabled, li span, figcaption, output')) {
        if (!element.textContent.trim() || !element.checkVisibility() || element.closest(':disabled')) continue;
        const [a, b] = [light(rgb(getComputedStyle(element).color)), light(ground(element))].sort((p, q) => q - p);
        if ((a + 0.05) / (b + 0.05) < 4.5) found.push(`faint: ${element.tagName} ${element.textContent.trim().slice(0, 40)}`);
      }
      return found;
    });
    assert.deepEqual(faults, []);
    await close(page);
  });

  test('who wants no motion gets none', async () => {
    const page = await open('delay=1200', '&mz=885.5493', { reducedMotion: 'reduce' });
    await page.waitForSelector('.stage.loading');
    assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
    await close(page);
  });
});
