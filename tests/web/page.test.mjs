import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { launch } from './chromium.mjs';
import { illegible } from './legible.mjs';
import { servePages } from './serve.mjs';

const STACK = 'https://example.org/m13/exposures.txt';

describe('the page in Chromium', { timeout: 240_000 }, () => {
  let browser;
  let server;

  before(async () => {
    [browser, server] = [await launch(), await servePages()];
  });

  after(async () => {
    await browser?.close();
    await server?.close();
  });

  /** A page on a stack described by a query; `complaints` gathers errors and breaches of the policy. */
  async function open(query, more = '', options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    page.complaints = [];
    page.on('pageerror', (error) => page.complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && page.complaints.push(message.text()));
    await page.goto(`${server.base}${query === null ? '' : `#src=${encodeURIComponent(`${STACK}?${query}`)}${more}`}`);
    return page;
  }

  async function close(page) {
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  }

  const done = (page) => page.waitForFunction(() => document.querySelector('#status').textContent.startsWith('Done'));
  const text = (page, selector) => page.locator(selector).textContent();
  const settled = (page) => page.waitForTimeout(300);

  test('the policy is strict, and nothing in the page is inline', async () => {
    const html = await readFile(new URL('../../www/index.html', import.meta.url), 'utf8');
    const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html)[1];
    const rules = Object.fromEntries(policy.split(';').map((rule) => rule.trim().split(/\s+/)).map(([name, ...values]) => [name, values.join(' ')]));
    assert.equal(rules['default-src'], "'none'");
    assert.equal(rules['script-src'], "'self' 'wasm-unsafe-eval'");
    assert.equal(rules['style-src'], "'self'");
    assert.equal(rules['worker-src'], "'self'");
    for (const name of ['base-uri', 'form-action', 'object-src', 'frame-src', 'font-src']) assert.equal(rules[name], "'none'", name);
    assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|script-src[^;]*(\*|data:|blob:)/);
    assert.doesNotMatch(html, /\sstyle=|\son[a-z]+=|<style|<script(?![^>]*\ssrc=)/i);
    assert.doesNotMatch(html, /(?:src|href)="(?:https?:)?\/\//, 'every address is relative');
    assert.doesNotMatch(html, /(?:src|href)="\//, 'every address is relative');
    const page = await open(null);
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'globalThis.broken = true';
      document.head.append(script);
    });
    assert.equal(await page.evaluate(() => globalThis.broken), undefined);
    assert.match(page.complaints.join(), /Content Security Policy/);
    page.complaints.length = 0;
    await close(page);
  });

  test('paste, plan, run: values on screen are those of the core', async () => {
    const page = await open(null);
    await page.fill('#urls', `${STACK}?ramp&w=1100&h=300&n=5&excluded=2&unit=DN`);
    await page.click('#open');
    await page.waitForFunction(() => !document.querySelector('#run').disabled);
    assert.equal(await text(page, '#exposures-count'), '4 of 5');
    assert.match(await text(page, '#exposures li:nth-child(3)'), /Left out: points 37\.4 pixels away/);
    assert.match(await text(page, '#exposures li:nth-child(1)'), /exposure_01\.fits.*1100.*300.*f32/);
    assert.match(await text(page, '#plan'), /Sections5.*Slots.*Requests25.*Minimum/);
    await page.click('#run');
    await done(page);
    await page.waitForFunction(() => sectile.display.plane?.complete && sectile.display.plane.scale.bscale === 1 && sectile.display.plane.scale.bzero === -1);
    const wrong = await page.evaluate(() => {
      let found = 0;
      for (let k = 0; k < 800; k += 1) {
        const [x, y] = [(k * 7919) % 1100, (k * 104729) % 300];
        if (sectile.view.codeAt(x, y) !== ((y * 1100 + x) % 60000) + 1) found += 1;
      }
      return found;
    });
    assert.equal(wrong, 0);
    await page.waitForFunction(() => location.hash.includes('run=1'));
    await close(page);
  });

  test('by keyboard alone: cursor, zoom, layers, look, export, help', async () => {
    const page = await open('ramp&w=400&h=200&n=4', '&run=1');
    await done(page);
    await page.focus('#view');
    await page.keyboard.press('ArrowRight');
    const at = async () => [Number(await text(page, '#read-x')), Number(await text(page, '#read-y'))];
    const [x, y] = await at();
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Shift+ArrowDown');
    assert.deepEqual(await at(), [x + 10, y - 9]);
    assert.equal(await text(page, '#read-value'), `${(y - 9) * 400 + x + 10} MJy/sr`);
    assert.equal(await text(page, '#read-count'), 'N 4');
    assert.match(await text(page, '#read-sky'), /^16h 41m .*36° 27′/);
    await page.waitForFunction(() => document.querySelector('#spoken').textContent.includes('MJy/sr'));

    const zoom = () => page.evaluate(() => sectile.view.camera.zoom);
    const before = await zoom();
    await page.keyboard.press('+');
    assert.ok((await zoom()) > before);
    await page.keyboard.press('1');
    assert.equal(await zoom(), 1);
    await page.keyboard.press('0');
    assert.equal(await zoom(), before);

    for (const key of ['s', 'c', 'i', 'z']) await page.keyboard.press(key);
    await settled(page);
    assert.match(page.url(), /s=linear/);
    assert.match(page.url(), /cm=magma/);
    assert.match(page.url(), /inv=1/);
    assert.match(page.url(), /lim=zscale/);

    await page.keyboard.press(']');
    assert.equal(await text(page, '#layer-name'), 'Exposures per pixel');
    assert.ok(await page.locator('#layer-rms').isHidden(), 'of a stack of its own the page computes no scatter');
    await page.keyboard.press(']');
    await page.waitForFunction(() => sectile.display.plane?.name === 'exp-1' && sectile.display.plane.complete);
    await page.keyboard.press('[');
    await page.keyboard.press('[');
    await page.waitForFunction(() => sectile.display.plane?.name === 'median');

    await page.keyboard.press('e');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'export-fits');
    const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    assert.equal(file.suggestedFilename(), 'exposures_median.fits');
    assert.deepEqual(await page.evaluate(() => fake.calls.at(-1)), ['fits', 400, 200, 80000, 80000]);
    await page.keyboard.press('e');
    await page.keyboard.press('ArrowDown');
    const [picture] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    assert.equal(picture.suggestedFilename(), 'exposures_median.png');
    const scale = await page.evaluate(() => fake.calls.at(-1)[4]);
    assert.deepEqual(scale, { bzero: -1, bscale: 1 });

    await page.keyboard.press('?');
    assert.equal(await page.locator('#help-dialog').isVisible(), true);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#help-dialog').isVisible(), false);
    await close(page);
  });

  test('typing in a field is not taken for keys', async () => {
    const page = await open('ramp&w=64&h=64&n=3');
    await page.waitForFunction(() => !document.querySelector('#run').disabled);
    await page.focus('#hdu');
    await page.keyboard.type('SCI');
    assert.equal(await page.inputValue('#hdu'), 'SCI');
    await settled(page);
    assert.doesNotMatch(page.url(), /cm=|inv=|s=linear/);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => fake.calls.some(([name, , hdu]) => name === 'open' && hdu === 'SCI'));
    await close(page);
  });

  test('a mask and its bits open the stack anew and stand in the link', async () => {
    const page = await open('ramp&w=64&h=64&n=3');
    await page.waitForFunction(() => !document.querySelector('#run').disabled);
    assert.equal(await page.isDisabled('#mask-bits'), true, 'no bits without a mask');
    await page.fill('#mask', 'WHT');
    await page.press('#mask', 'Enter');
    await page.waitForFunction(() => fake.calls.some(([name, , , , mask]) => name === 'open' && mask?.hdu === 'WHT' && mask.bits === '1'));
    await page.fill('#mask-bits', 'zero');
    await page.press('#mask-bits', 'Enter');
    await page.waitForFunction(() => fake.calls.some(([name, , , , mask]) => name === 'open' && mask?.bits === 'zero'));
    await settled(page);
    assert.match(page.url(), /mask=WHT&bits=zero/);
    await page.fill('#mask', '');
    await page.press('#mask', 'Enter');
    await page.waitForFunction(() => fake.calls.filter(([name]) => name === 'open').at(-1)[4] === null);
    await settled(page);
    assert.doesNotMatch(page.url(), /mask=|bits=/);
    await close(page);
  });

  test('names, units and messages from files never become markup', async () => {
    const hostile = '<img src=x onerror="globalThis.pwned=1"><svg onload=globalThis.pwned=1>';
    const query = new URLSearchParams({ n: '3', w: '64', h: '64', name: hostile, unit: hostile, warning: hostile, excluded: '1' });
    const page = await open(query.toString(), '&run=1');
    await done(page);
    await page.focus('#view');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('e');
    await page.keyboard.press('Escape');
    await page.keyboard.press(']');
    await page.keyboard.press(']');
    await settled(page);
    const found = await page.evaluate(() => [document.querySelectorAll('img, svg[onload], [onerror]').length, globalThis.pwned]);
    assert.deepEqual(found, [0, undefined]);
    assert.ok((await text(page, '#exposures')).includes('onerror'), 'the name is shown as text');
    assert.ok((await text(page, '#read-value')).includes('<img'), 'the unit is shown as text');
    await close(page);
  });

  test('cancel stops at once, keeps what has arrived, and can run again', async () => {
    const page = await open('ramp&w=256&h=512&n=4&rows=16&delay=150', '&run=1');
    await page.waitForFunction(() => sectile.session.planes.get('median')?.exact.length >= 2);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.querySelector('#progress-text').textContent.startsWith('Cancelled'));
    assert.deepEqual(await page.evaluate(() => [fake.running, fake.aborted]), [0, 1]);
    const kept = await page.evaluate(() => sectile.session.planes.get('median').exact.length);
    await page.waitForTimeout(400);
    assert.equal(await page.evaluate(() => sectile.session.planes.get('median').exact.length), kept);
    assert.equal(await page.evaluate(() => sectile.session.planes.get('median').complete), false);
    await page.click('#export');
    const [file] = await Promise.all([page.waitForEvent('download'), page.click('#export-fits')]);
    assert.equal(file.suggestedFilename(), 'exposures_median_partial.fits');
    assert.equal(await page.locator('#run').isEnabled(), true);
    await close(page);
  });

  test('a large stack: preview, then what is on screen, then the rest, nothing twice', async () => {
    const page = await open('large&n=2&w=512&h=512&rows=32', '&run=1');
    await done(page);
    const passes = await page.evaluate(() => fake.calls.filter(([name]) => name === 'median').map(([, rect, step]) => ({ rect, step })));
    assert.ok(passes[0].step > 1, 'first a preview');
    const area = passes.filter(({ step }) => step === 1).reduce((sum, { rect }) => sum + (rect.x1 - rect.x0) * (rect.y1 - rect.y0), 0);
    assert.equal(area, 512 * 512);
    assert.equal(await page.evaluate(() => sectile.session.planes.get('median').coarse), null);
    await page.evaluate(() => sectile.view.move((camera) => {
      camera.zoomTo(8);
      camera.centre(256, 300);
    }));
    await page.click('#run');
    await page.waitForFunction((n) => fake.calls.filter(([name]) => name === 'median').length > n + 1, passes.length);
    await done(page);
    const second = await page.evaluate((n) => fake.calls.filter(([name]) => name === 'median').slice(n), passes.length);
    const [, rect, step] = second.find(([, , s]) => s === 1);
    assert.equal(step, 1);
    assert.ok(rect.y0 > 200 && rect.y1 < 400, 'rows on screen come first');
    await close(page);
  });

  test('budget: too small is refused with the minimum, not a number is said, a new one makes a new core', async () => {
    const page = await open('ramp&w=256&h=256&n=6');
    await page.waitForFunction(() => !document.querySelector('#run').disabled);
    const budget = async (value) => {
      await page.fill('#memory', value);
      await page.keyboard.press('Enter');
      await settled(page);
    };
    await budget('100 KiB');
    assert.match(await text(page, '#plan'), /too small.*needs at least/);
    assert.equal(await page.locator('#run').isDisabled(), true);
    await budget('plenty');
    assert.match(await text(page, '#memory-error'), /“plenty” is not an amount of memory/);
    assert.equal(await page.locator('#run').isDisabled(), true);
    await budget('32 MiB');
    await page.click('#run');
    await done(page);
    assert.deepEqual(await page.evaluate(() => fake.calls.filter(([name]) => name === 'new').map(([, memory]) => memory)), [256 * 2 ** 20, 32 * 2 ** 20]);
    assert.match(page.url(), /mem=32%20MiB/);
    assert.match(await text(page, '#memory-used'), /of 32/);
    await close(page);
  });

  test('errors of opening and running are shown, a retired core can be replaced', async () => {
    let page = await open('fail=open&n=3');
    await page.waitForSelector('#notice[data-kind="error"]');
    assert.match(await text(page, '#notice'), /exposure_03\.fits is not FITS/);
    await close(page);

    page = await open('fail=empty&n=2&excluded=0,1');
    await page.waitForSelector('#notice[data-kind="error"]');
    assert.match(await text(page, '#notice'), /None of the 2 exposures can be used\. exposure_01\.fits: points 37/);
    await close(page);

    page = await open('fail=median&n=3&w=64&h=64', '&run=1');
    await page.waitForSelector('#notice[data-kind="error"]');
    assert.match(await text(page, '#notice'), /ended at byte 4096/);
    await close(page);

    page = await open('trap=2&n=3&w=64&h=256', '&run=1');
    await page.waitForSelector('#notice[data-kind="error"]');
    assert.match(await text(page, '#notice'), /core has stopped \(unreachable\)/);
    await page.getByRole('button', { name: 'Start a new core' }).click();
    await page.waitForFunction(() => !document.querySelector('#run').disabled);
    assert.equal(await page.evaluate(() => fake.calls.filter(([name]) => name === 'new').length), 2);
    await close(page);
  });

  test('a link restores stack, layer, look and place', async () => {
    const page = await open('w=600&h=400&n=5', '&run=1&v=count&s=sqrt&cm=cividis&inv=1&lim=p98&mem=64%20MiB&fly=16&c=150,300&z=3');
    await done(page);
    await settled(page);
    const got = await page.evaluate(() => {
      const { camera } = sectile.view;
      return [sectile.display.plane.name, camera.x, camera.y, camera.zoom, document.querySelector('input[name="colormap"]:checked').value, document.querySelector('#invert').checked, document.querySelector('#limits').value, document.querySelector('#memory').value, document.querySelector('#in-flight').value];
    });
    assert.deepEqual(got, ['count', 150.5, 300.5, 3, 'cividis', true, 'p98', '64 MiB', '16']);
    const link = page.url();
    for (const part of ['v=count', 's=sqrt', 'cm=cividis', 'inv=1', 'lim=p98', 'fly=16', 'c=150,300', 'z=3', 'run=1']) assert.ok(link.includes(part), `${part} in ${link}`);
    await page.keyboard.press('[');
    await settled(page);
    assert.ok(!page.url().includes('v=count'));
    assert.equal(await page.evaluate(() => history.length), 2, 'no history entries');
    await close(page);
  });

  test('dropped and chosen files are opened in the order of their names', async () => {
    const page = await open(null);
    await page.setInputFiles('#files', ['b_10.fits', 'b_2.fits', 'b_1.fits'].map((name) => ({ name, mimeType: 'application/fits', buffer: Buffer.alloc(2880) })));
    await page.waitForFunction(() => !document.querySelector('#run').disabled);
    assert.deepEqual(await page.evaluate(() => fake.calls.find(([name]) => name === 'open')[1]), ['b_1.fits', 'b_2.fits', 'b_10.fits']);
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(2880)], 'c.fits'));
      document.querySelector('#view').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await page.waitForFunction(() => fake.calls.some(([name, files]) => name === 'open' && files[0] === 'c.fits'));
    await settled(page);
    assert.doesNotMatch(page.url(), /src=/);
    await close(page);
  });

  test('an exposure behind one that is left out is the right one', async () => {
    const page = await open('ramp&w=64&h=64&n=4&excluded=1', '&v=exp-3');
    await page.waitForFunction(() => sectile.display.plane?.name === 'exp-3' && sectile.display.plane.complete);
    assert.equal(await page.evaluate(() => sectile.display.plane.valueAt(5, 0)), 5 + 2);
    await page.keyboard.press('[');
    await page.waitForFunction(() => sectile.display.plane?.name === 'exp-1' && sectile.display.plane.complete);
    await close(page);
  });

  test('limits by handle and by field', async () => {
    const page = await open('ramp&w=200&h=200&n=3', '&run=1');
    await done(page);
    await page.focus('[data-end="hi"]');
    const high = () => page.evaluate(() => sectile.display.limits.hi);
    const before = await high();
    await page.keyboard.press('ArrowLeft');
    assert.ok((await high()) < before);
    assert.equal(await page.inputValue('#limits'), 'user');
    await page.fill('#limit-lo', '1234.5');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => sectile.display.limits.lo), 1234.5);
    await settled(page);
    assert.match(page.url(), /lim=user&lo=1234\.5&hi=/);
    await close(page);
  });

  test('at phone size nothing overflows and the image comes first', async () => {
    const page = await open('n=12&w=512&h=512&excluded=3', '&run=1', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
    await done(page);
    for (const tab of ['stack', 'display']) {
      await page.tap(`#tab-${tab}`);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, tab);
    }
    const tops = await page.evaluate(() => ['#stage', '#panel-display'].map((id) => document.querySelector(id).getBoundingClientRect().top));
    assert.ok(tops[0] < tops[1]);
    const box = await page.locator('#view').boundingBox();
    assert.ok(box.width >= 388 && box.height > 300, 'a generous image');
    await page.touchscreen.tap(190, 250);
    await page.waitForFunction(() => /MJy/.test(document.querySelector('#read-value').textContent));
    await close(page);
  });

  test('everything has a name, and text stands out enough', async () => {
    const page = await open('n=4&w=64&h=64&excluded=1', '&run=1');
    await done(page);
    assert.deepEqual(await illegible(page, {
      controls: 'button, input, select, textarea, [role="slider"], meter, progress',
      texts: 'h1, h2, p, dt, dd, label, small, summary, button:enabled, .facts, .reason, figcaption, output',
    }), []);
    await close(page);
  });
});
