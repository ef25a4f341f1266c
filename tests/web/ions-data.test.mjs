/** The ion page in Chromium on a stand-in for its core: what is read and written, and what can go wrong. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { calls, close, IonPages, settled, shown, text } from './ion-page.mjs';

describe('data of the ion page', { timeout: 240_000 }, () => {
  let pages;
  const open = (...how) => pages.open(...how);

  before(async () => {
    pages = await IonPages.start();
  });

  after(() => pages?.stop());

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

  test('a full pass says how far it is, and can be cancelled', async () => {
    const page = await open('big=5000000&steps=12&delay=120', '&mz=885.5493');
    await shown(page);
    await page.focus('#view');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('p');
    await page.waitForFunction(() => /^Reading the peaks · [\d.]+.MiB of 4\.77.MiB · \d s left$/.test(document.querySelector('#reading-text').textContent));
    assert.equal(await page.locator('#reading').isVisible(), true);
    assert.ok(await page.evaluate(() => document.querySelector('#reading-bar').value > 0));
    await page.click('#reading-cancel');
    await page.waitForFunction(() => fake.aborted === 1);
    assert.equal(await page.locator('#reading').isVisible(), false);
    assert.equal(await page.locator('input[name="spectrum"][value="mean"]').isChecked(), true);
    assert.match(await text(page, '#spectrum-note'), /^Mean of/);
    await page.focus('#view');
    await page.keyboard.press('p');
    await page.waitForFunction(() => /by a full pass over the store/.test(document.querySelector('#spectrum-note').textContent));
    assert.equal(await page.locator('#reading').isVisible(), false);
    await close(page);
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
    assert.match(await text(page, '#packing-plan'), /To read.*239.MiB in 62 requests.*Scratch space.*Peak memory.*of 128.MiB/);
    assert.equal(await page.locator('#waiting').isVisible(), true);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => /Cancelled at \d+ %\. What has been sorted so far is kept/.test(document.querySelector('#packing-text').textContent));
    assert.equal(await page.evaluate(() => fake.aborted), 1);
    assert.equal(await page.locator('#welcome').isVisible(), true);
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

  test('the ion of a link is fetched once, and does not wait for the mean spectrum', async () => {
    const page = await open('slices=2', '&mz=885.5493&sl=1&norm=tic');
    await shown(page);
    const order = await page.evaluate(() => fake.calls.map(([name]) => name).filter((name) => ['open', 'images', 'meanSpectrum'].includes(name)));
    assert.deepEqual(order, ['open', 'images', 'meanSpectrum']);
    assert.deepEqual((await calls(page, 'images'))[0], [[{ mz: 885.5493, ppm: 3, slice: 1, normalise: 'tic' }]]);
    await close(page);
  });

  test('the budget: not a number is said, a new one makes a new core', async () => {
    const page = await open('', '&mz=885.5493');
    await shown(page);
    await page.click('#sources summary');
    await page.fill('#memory', 'plenty');
    await page.click('#open');
    assert.match(await text(page, '#memory-error'), /“plenty” is not an amount of memory/);
    assert.equal((await calls(page, 'open')).length, 1);
    await page.fill('#memory', '64 MiB');
    await page.click('#open');
    await page.waitForFunction(() => fake.calls.filter(([name]) => name === 'open').length === 2);
    await shown(page);
    assert.deepEqual(await calls(page, 'new'), [[128 * 2 ** 20], [32 * 2 ** 20]], 'half is for annotation');
    await settled(page);
    assert.match(page.url(), /mem=64%20MiB/);
    await close(page);
  });

  test('a saved picture has the colours of the view', async () => {
    for (const more of ['&mz=857.5186&s=sqrt&cm=plasma&inv=1', '&mz=885.5493,888.6239,857.5186&rgb=0,1,2&s=log']) {
      const page = await open('', more);
      await page.waitForFunction(() => sectile.display.layers.length > 0);
      const wrong = await page.evaluate(async () => {
        const { paint } = await import(new URL('ions/picture.js', document.baseURI).href);
        const { display, view, state } = sectile;
        const image = paint(display.layers.map((layer) => ({ ...layer, limits: display.limitsOf(layer) })), state);
        const found = [];
        for (let k = 0; k < 200; k += 1) {
          const [x, y] = [(k * 17) % 60, (k * 29) % 45];
          const painted = [...image.data.subarray(4 * (y * 60 + x), 4 * (y * 60 + x) + 4)];
          const drawn = view.colourAt(...view.camera.toScreen(x + 0.5, y + 0.5));
          if (painted[3] === 0 ? !Number.isNaN(display.layers[0].plane.valueAt(x, y)) : painted.some((v, i) => Math.abs(v - drawn[i]) > 3)) found.push([x, y, painted, drawn]);
        }
        return found;
      });
      assert.deepEqual(wrong, []);
      await close(page);
    }
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
    assert.equal(await page.evaluate(() => document.activeElement.id), 'export-picture');
    assert.equal(await page.locator('#export-store').isDisabled(), true, 'a store of a server is not in this browser');
    assert.equal(await text(page, '#export-store-note'), 'it lies where it was opened from');
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
});
