/** The ion page in Chromium on a stand-in for its core: what is shown, and by what it is steered. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { asked, calls, close, IonPages, settled, shown, STORE, text } from './ion-page.mjs';
import { illegible } from './legible.mjs';

describe('the ion page', { timeout: 240_000 }, () => {
  let pages;
  const open = (...how) => pages.open(...how);

  before(async () => {
    pages = await IonPages.start();
  });

  after(() => pages?.stop());

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
    const many = Array.from({ length: 49 }, (_, i) => 100 + i).join(' ');
    for (const [value, message] of [['885,5493', /decimal point as a dot/], ['C5H5', /is not an m\/z/], [many, /49 m\/z are too many/]]) {
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
    assert.deepEqual(await illegible(page, {
      controls: 'button, input, select, [role="slider"], [role="application"], meter, progress:not([aria-hidden="true"] *)',
      texts: 'h1, h2, h3, p, a, dt, dd, label, small, summary, button:enabled, li span, figcaption, output',
    }), []);
    await close(page);
  });

  test('who wants no motion gets none', async () => {
    const page = await open('delay=1200', '&mz=885.5493', { reducedMotion: 'reduce' });
    await page.waitForSelector('.stage.loading');
    assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
    await close(page);
  });
});
