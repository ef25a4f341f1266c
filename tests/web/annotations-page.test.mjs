/** Annotations on the ion page in Chromium, on stand-ins for both cores: the chosen one, what is saved and opened again, links, other datasets. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { annotatedPage, cells, chosen, count, listed } from './annotation-page.mjs';
import { asked, calls, close, IonPages, settled, shown, text } from './ion-page.mjs';
import { illegible } from './legible.mjs';

describe('annotations of the ion page', { timeout: 600_000 }, () => {
  let pages;
  const open = (...how) => listed(pages, ...how);
  const annotated = (...how) => annotatedPage(pages, ...how);

  before(async () => {
    pages = await IonPages.start();
  });

  after(() => pages?.stop());

  test('the chosen row: its image in the view, four isotope images, theory against measured, scores, molecules', async () => {
    const page = await annotated('rows=100');
    await page.waitForFunction(() => Math.abs(sectile.display.layers[0]?.plane.ion.mz - 885.5493) < 1e-9 && sectile.annotations.detail.planes.length === 4);
    assert.equal((await asked(page)).length >= 3, true, 'isotopes share one call');
    const ink = await page.evaluate(() => [...document.querySelectorAll('#isotope-images canvas')].map((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return [canvas.width, canvas.height, data.some((v, i) => i % 4 !== 3 && v > 100), data.some((v, i) => i % 4 === 3 && v === 0)];
    }));
    assert.deepEqual(ink, Array.from({ length: 4 }, () => [60, 45, true, true]), 'painted, transparent outside');
    assert.match(await text(page, '#isotope-images'), /885\.5493.*886\.5526.*887\.5560.*888\.5593/);
    const bright = () => page.evaluate(() => {
      const canvas = document.querySelectorAll('#isotope-images canvas')[2];
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return data.reduce((sum, v, i) => sum + (i % 4 === 1 ? v : 0), 0);
    });
    const own = await bright();
    await page.check('input[name="isotope-scale"][value="common"]');
    assert.ok((await bright()) < own * 0.75, 'dark on the scale of the strongest');
    assert.match(await page.getAttribute('#isotope-plot svg', 'aria-label'), /theory and measured.*m\/z 885\.5493: 100\.0 and 100\.0; m\/z 886\.5526: 48\.0 and 44\.0/);
    assert.equal(await page.locator('#isotope-plot .measured').count(), 5, 'four bars and a key');
    assert.match(await text(page, '#annotation-scores'), /MSM0\.970FDR5.%chaos0\.994.*m\/z error−1\.00 ppm.*\+0\.40 mDa/);
    assert.equal(await text(page, '#annotation-name'), '[C47H83O13P − H]−');
    assert.match(await text(page, '#annotation-molecules'), /PI\(38:4\) HMDB0001000PI\(38:4\) isomer 2/);
    assert.equal(await page.locator('#annotation-overlap').isVisible(), false);
    assert.match(await text(page, '#colorbar-unit'), /C₄₇H₈₃O₁₃P −H · 885\.5493/);
    assert.match(await page.getAttribute('#view', 'aria-label'), /C₄₇H₈₃O₁₃P/);

    await page.click('#annotations-room [aria-rowindex="4"]');
    assert.match(await text(page, '#annotation-overlap'), /windows overlap.*scores may be too high/);
    await page.click('#annotations-room [aria-rowindex="7"]');
    assert.match(await text(page, '#annotation-scores'), /m\/z error–/);

    // Another isotope in the large image.
    await page.click('#isotope-images li:nth-child(2) button');
    await page.waitForFunction(() => Math.abs(sectile.display.layers[0].plane.ion.mz - sectile.annotations.row.peaks[1].mz) < 1e-9);
    assert.equal(await page.getAttribute('#isotope-images li:nth-child(2) button', 'aria-pressed'), 'true');
    // The spectrum in place of the isotopes, with their windows.
    await page.click('#below-spectrum');
    assert.equal(await page.locator('#panel-spectrum').isVisible(), true);
    await page.waitForFunction(() => sectile.spectrum.plot.windows.length === 4);
    await page.click('#below-isotopes');
    assert.equal(await page.locator('#panel-isotopes').isVisible(), true);
    await close(page);
  });

  test('annotations in red, green and blue, beside ions of the list; the list takes the view back', async () => {
    const page = await annotated('rows=100');
    await page.click('#isotopes-layers .red');
    await shown(page, 1);
    assert.equal(await page.evaluate(() => sectile.state.rgb), true);
    assert.equal(await page.getAttribute('#isotopes-layers .red', 'aria-pressed'), 'true');
    await page.click('#annotations-room [aria-rowindex="3"]');
    await page.waitForFunction(() => !sectile.state.rgb && Math.abs(sectile.display.layers[0].plane.ion.mz - 888.6239) < 1e-9);
    await page.click('#isotopes-layers .green');
    await shown(page, 2);
    assert.match(await text(page, '#legend'), /C₄₇H₈₃O₁₃P −H · 885\.5493.*C₄₈H₉₁NO₁₁S −H · 888\.6239/);
    await page.click('#isotopes-layers .green');
    await shown(page, 1);
    assert.equal(await page.getAttribute('#isotopes-layers .green', 'aria-pressed'), 'false');
    await page.click('#annotations-room [aria-rowindex="5"]');
    await page.waitForFunction(() => !sectile.state.rgb);
    await page.click('#side-ions');
    assert.equal(await page.locator('#ions .chosen').count(), 0, 'the view shows an annotation');
    await page.click('#ions li:first-child .choose');
    await page.waitForFunction(() => Math.abs(sectile.display.layers[0].plane.ion.mz - 885.5493) < 1e-9 && !sectile.annotations.leading);
    assert.equal(await page.locator('#ions .chosen').count(), 1);
    await close(page);
  });

  test('what is saved: rows on show, all rows, the file for this page, and images as one ZIP', async () => {
    const page = await annotated('rows=100');
    await page.evaluate(() => { delete window.showSaveFilePicker; });
    const save = async (kind) => {
      await page.click('#save');
      const [file] = await Promise.all([page.waitForEvent('download'), page.click(`#save-${kind}`)]);
      return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
    };
    await page.fill('#filter-text', 'pi(3');
    await page.click('#save');
    assert.match(await text(page, '#save-menu'), /3 by the filters.*100, at any FDR/s);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#save-menu').isVisible(), false);
    const some = await save('shown');
    assert.equal(some.name, 'kidney_annotations_filtered.csv');
    assert.match(some.bytes.toString(), /^formula,adduct,.*\nC47H83O13P,-H,"PI\(38:4\)\nin two lines"\nC45H79O13P,-H,"PI\(36:4\)\nin two lines"\nC45H85O13P,.*\n.*\n$/);
    const all = await save('csv');
    assert.deepEqual([all.name, all.bytes.toString().match(/in two lines/g).length], ['kidney_annotations.csv', 100]);
    const json = await save('json');
    assert.equal(json.name, 'kidney_annotations.json');
    assert.equal(JSON.parse(json.bytes).rows.length, 100);
    const zip = await save('zip');
    assert.equal(zip.name, 'kidney_images.zip');
    const names = [...zip.bytes.toString('latin1').matchAll(/PK\x01\x02.{42}([\w+.-]+?\.png)/gs)].map(([, name]) => name);
    assert.equal(names.length, 12);
    assert.deepEqual(names.slice(0, 4), ['', '_1', '_2', '_3'].map((k) => `C47H83O13P-H${k}.png`));
    assert.equal(await page.locator('#saving').isVisible(), false);
    assert.ok((await calls(page, 'png')).every(([, , , kind]) => kind === 'shares'), 'as METASPACE and the command line');
    await close(page);
  });

  test('saving images says how far it is, and can be cancelled; straight to disk where the browser lets', async () => {
    const page = await annotated('rows=100&delay=60');
    await page.evaluate(() => {
      window.written = { bytes: 0, closed: false, aborted: false };
      window.showSaveFilePicker = async ({ suggestedName }) => {
        written.name = suggestedName;
        return { createWritable: async () => new WritableStream({ write: (piece) => { written.bytes += piece.byteLength; }, close: () => { written.closed = true; }, abort: () => { written.aborted = true; } }) };
      };
    });
    await page.click('#save');
    await page.click('#save-zip');
    await page.waitForFunction(() => /^[1-9]\d* of \d+ ions · \d+ images/.test(document.querySelector('#saving-text').textContent));
    await page.click('#saving-cancel');
    await page.waitForFunction(() => written.aborted && document.querySelector('#saving').hidden);
    assert.equal(await page.locator('#notice').isVisible(), false, 'who cancels is not told of an error');
    await page.fill('#filter-text', 'pi(38');
    await page.click('#save');
    await page.click('#save-zip');
    await page.waitForFunction(() => written.closed);
    assert.ok((await page.evaluate(() => written)).bytes > 100);
    await close(page);
  });

  test('images that cannot be read end the archive with the reason; another dataset ends it in silence', async () => {
    const page = await annotated('rows=100&slices=3');
    await page.evaluate(() => {
      delete window.showSaveFilePicker;
      sectile.state.sl = 2;
      sectile.session.core().query.set('fail', 'image');
    });
    const archive = async () => {
      await page.click('#save');
      await page.click('#save-zip');
    };
    await archive();
    await page.waitForSelector('#notice:not([hidden])');
    assert.match(await text(page, '#notice'), /byte 81920: the server does not answer/);
    assert.equal(await page.locator('#saving').isVisible(), false);
    await page.click('#notice .quiet');
    const before = (await calls(page, 'images')).length;
    await page.evaluate(() => {
      const { query } = sectile.session.core();
      query.delete('fail');
      sectile.session.core().delay = 60;
    });
    await archive();
    await page.waitForFunction(() => /^[1-9]\d* of 40 ions/.test(document.querySelector('#saving-text').textContent));
    await page.evaluate(() => sectile.open.address('https://example.org/other.sectile?iso'));
    await page.waitForFunction(() => document.querySelector('#saving').hidden);
    const slices = (await calls(page, 'images')).slice(before).map(([[{ slice }]]) => slice);
    assert.equal(slices[0], 0, 'of the slice that was annotated');
    await shown(page);
    await settled(page);
    assert.equal(await page.locator('#notice').isVisible(), false);
    await close(page);
  });

  test('an annotations.json of an earlier run: its table beside the dataset, or without one', async () => {
    const page = await pages.open(null);
    const rows = [{ formula: 'C47H83O13P', modifier: '-H', adduct: '-H', ion: '', mz: 885.5493, msm: 0.9, fdr: 0.05, chaos: 1, spatial: 0.9, spectral: 1, mz_err_abs: null, mz_err_rel: null, overlap: false, peaks: [885.5493, 886.55265].map((mz, k) => ({ mz, theory: [100, 48][k], total: [10, 5][k], min: 0, max: 1 })), molecules: [{ id: 'L1', name: '<i>PI</i>(38:4)' }] }];
    const json = (name, content) => ({ name, mimeType: 'application/json', buffer: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)) });
    await page.click('#side-annotations');
    await page.setInputFiles('#results-file', json('annotations.json', { version: 1, store: { source: 'liver.imzML', width: 60, height: 45 }, options: { ppm: 5, charge: -1 }, warnings: [], rows }));
    await page.waitForSelector('#results:not([hidden])');
    assert.equal(await count(page), '1 of 1 annotations');
    assert.match(await text(page, '#annotation-molecules'), /<i>PI<\/i>\(38:4\)/, 'text of a file is no markup');
    assert.match(await text(page, '#isotope-images'), /open the dataset/);
    await page.click('#save');
    assert.equal(await page.locator('#save-zip').isDisabled(), true);
    await page.keyboard.press('Escape');
    await page.evaluate(() => sectile.open.address('https://example.org/kidney.sectile?iso'));
    await page.waitForFunction(() => sectile.annotations.detail.planes.length === 2);
    assert.deepEqual((await calls(page, 'images')).at(-1)[0].map(({ ppm }) => ppm), [5, 5], 'the windows of that run');
    assert.equal(await count(page), '1 of 1 annotations', 'it stays when a dataset is opened');
    assert.match(await text(page, '#results-warnings'), /These results are of liver\.imzML \(60 × 45 pixels\), not of the dataset that is open/);
    await page.setInputFiles('#results-file', json('annotations.json', { rows: [{ ...rows[0], molecules: [{ id: '', name: '' }, { id: 'L2', name: '' }] }] }));
    await page.waitForFunction(() => /These results are of another dataset, not of/.test(document.querySelector('#results-warnings').textContent));
    assert.deepEqual(await cells(page, 'name'), ['L2']);
    assert.equal(await text(page, '#annotation-molecules'), 'L2');
    for (const [content, message] of [['{"a":', /not JSON/], ['{}', /holds no annotations/], [{ rows: [{ formula: 'C' }] }, /annotation 1: it has no formula or no modifier/]]) {
      await page.setInputFiles('#results-file', json('bad.json', content));
      await page.waitForFunction(() => !document.querySelector('#notice').hidden);
      assert.match(await text(page, '#notice'), message);
      await page.click('#notice .quiet');
    }
    assert.equal(await count(page), '1 of 1 annotations', 'what was open stays');
    await close(page);
  });

  test('a link restores settings, filter and the chosen ion once it has been annotated again', async () => {
    const page = await annotated('rows=100', '&ad=-H&lvl=20&ann=C18H36O2-H&appm=4');
    assert.equal(await chosen(page), 'C18H36O2-H');
    assert.deepEqual((await calls(page, 'annotate'))[0][0].adducts, ['-H']);
    assert.equal(await page.inputValue('#filter-fdr'), '20');
    await settled(page);
    for (const part of ['ad=-H', 'lvl=20', 'ann=C18H36O2-H', 'appm=4', 'side=annotations']) assert.ok(page.url().includes(part), `${part} in ${page.url()}`);
    await page.evaluate(() => {
      location.hash = location.hash.replace('C18H36O2-H', 'C18H34O2-H');
    });
    await page.waitForFunction(() => sectile.annotations.row.formula === 'C18H34O2');
    await close(page);
  });

  test('a link can annotate by itself with the built-in list, and one to what was found does', async () => {
    const page = await open('rows=100', '&ad=-H&run=1');
    await page.waitForSelector('#results:not([hidden])');
    assert.equal((await calls(page, 'annotate')).length, 1);
    await settled(page);
    assert.match(page.url(), /run=1/);
    await page.evaluate(() => { document.querySelector('#search').open = true; });
    await page.waitForFunction(() => !document.querySelector('#annotate').disabled);
    // It was meant for that dataset, not for whatever is opened next.
    await page.evaluate(() => sectile.open.address('https://example.org/other.sectile?iso'));
    await shown(page);
    await settled(page);
    assert.equal((await calls(page, 'annotate')).length, 1);
    assert.doesNotMatch(page.url(), /run=1/);
    await close(page);
  });

  test('a link that was cancelled does not annotate the next dataset', async () => {
    const page = await pages.open('iso&adelay=100', '&mz=885.5493&side=annotations&run=1');
    await page.waitForFunction(() => document.querySelector('#annotating-bar').value > 0);
    await page.click('#annotating-cancel');
    await page.evaluate(() => sectile.open.address('https://example.org/other.sectile?iso'));
    await shown(page);
    await settled(page);
    assert.equal((await calls(page, 'annotate')).length, 1);
    await close(page);
  });

  test('another dataset: its annotations go, and the workers with them', async () => {
    const page = await annotated('rows=100');
    await page.evaluate(() => sectile.open.address('https://example.org/other.sectile?iso'));
    await shown(page);
    assert.equal(await page.locator('#results').isVisible(), false);
    assert.equal(await page.locator('#results-none').isVisible(), true);
    assert.equal((await calls(page, 'annotator closed')).length, 1);
    await close(page);
  });

  test('a store that was packed here is given to the workers as a file', async () => {
    const page = await pages.open(null, '');
    await page.setInputFiles('#files', [{ name: 'liver.imzML', mimeType: '', buffer: Buffer.from('x') }, { name: 'liver.ibd', mimeType: '', buffer: Buffer.from('x') }]);
    await page.waitForFunction(() => sectile.session.info);
    await page.click('#side-annotations');
    await page.waitForFunction(() => !document.querySelector('#annotate').disabled);
    await page.click('#annotate');
    await page.waitForSelector('#results:not([hidden])');
    const [[wish]] = await calls(page, 'annotate');
    assert.ok('file' in wish.store);
    await close(page);
  });

  test('at phone size nothing overflows; the table, the isotopes and the molecules follow each other', async () => {
    const page = await annotated('rows=400', '', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    const tops = await page.evaluate(() => ['#panel-annotations', '#panel-isotopes', '#panel-annotation'].map((id) => document.querySelector(id).getBoundingClientRect().top));
    assert.deepEqual(tops, tops.toSorted((a, b) => a - b));
    assert.equal(await page.locator('#annotations-room .c-name').first().isVisible(), true);
    await page.tap('#annotations-room [aria-rowindex="3"]');
    assert.equal(await chosen(page), 'C48H91NO11S-H');
    for (const tab of ['spectrum', 'display', 'ions', 'annotations']) {
      await page.tap(`#tab-${tab}`);
      assert.equal(await page.locator(`#panel-${tab}`).isVisible(), true, tab);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, tab);
      assert.equal(await page.locator('#panel-isotopes').isVisible(), tab === 'annotations');
    }
    await close(page);
  });

  test('everything has a name, and text stands out enough', async () => {
    const page = await annotated('rows=400', '&lvl=100&dec=5');
    await page.evaluate(() => { document.querySelector('#search').open = true; });
    await page.click('#annotations-room [aria-rowindex="4"]');
    assert.deepEqual(await illegible(page, {
      controls: 'button, input, select, [role="grid"], progress:not([aria-hidden="true"] *)',
      texts: '#panel-annotations *, #panel-isotopes *, #panel-annotation *',
      own: true,
    }), []);
    const twice = await page.evaluate(() => {
      const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
      return ids.filter((id, i) => ids.indexOf(id) !== i);
    });
    assert.deepEqual(twice, []);
    await close(page);
  });
});
