/** Annotations on the ion page in Chromium, on stand-ins for both cores: what is shown, and by what it is steered. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { asked, calls, close, IonPages, settled, shown, text } from './ion-page.mjs';
import { illegible } from './legible.mjs';

describe('annotations of the ion page', { timeout: 600_000 }, () => {
  let pages;

  before(async () => {
    pages = await IonPages.start();
  });

  after(() => pages?.stop());

  /** A page with the panel of annotations; the list has been counted. */
  async function open(query, more = '', options = {}) {
    const page = await pages.open(query === null ? null : `iso&${query}`, `&mz=885.5493&side=annotations${more}`, options);
    if (query === null) await page.click('#side-annotations');
    else await shown(page);
    await page.waitForFunction(() => sectile.annotations.search.counted !== null && /formulas/.test(document.querySelector('#molecules-note').textContent));
    return page;
  }

  /** The same, annotated. */
  async function annotated(query = '', more = '', options = {}) {
    const page = await open(query, more, options);
    await page.click('#annotate');
    await page.waitForSelector('#results:not([hidden])');
    return page;
  }

  const cells = (page, name) => page.locator(`#annotations-room .grid-row .c-${name}`).allTextContents();
  const chosen = (page) => page.evaluate(() => sectile.annotations.row && `${sectile.annotations.row.formula}${sectile.annotations.row.adduct}`);
  const count = (page) => text(page, '#results-count');
  const csv = (name, body) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(body) });

  test('nothing opened: the panel says what it is for, the list can be looked at, nothing can be run', async () => {
    const page = await open(null);
    assert.match(await text(page, '#search-closed'), /Open a dataset first.*FDR.*METASPACE/s);
    assert.equal(await page.locator('#search-closed').isVisible(), true);
    assert.match(await text(page, '#molecules-note'), /412 formulas, 655 molecules/);
    assert.equal(await page.locator('#annotate').isDisabled(), true);
    assert.equal(await page.locator('#results').isVisible(), false);
    await close(page);
  });

  test('polarity, adducts and analyzer are those of the file; the run is asked for with what is shown', async () => {
    const page = await open('inst=Bruker%20timsTOF%20fleX&pol=negative');
    assert.equal(await page.locator('input[name="polarity"][value="negative"]').isChecked(), true);
    assert.equal(await text(page, '#polarity-from'), 'as the file says');
    assert.equal(await page.locator('input[name="analyzer"][value="tof"]').isChecked(), true);
    assert.match(await text(page, '#analyzer-from'), /timsTOF/);
    assert.equal(await page.inputValue('#resolving'), '140000');
    assert.deepEqual(await page.locator('#adducts .chip[aria-pressed="true"]').allTextContents(), ['−H', '+Cl']);
    assert.match(await text(page, '#search-size'), /824 ions and 16,480 decoys, in 128.MiB/);
    await page.fill('#adducts-more', '-H2O-H');
    await page.fill('#ppm', '8');
    await page.fill('#resolving', '35 000');
    await page.click('#search-more summary');
    await page.selectOption('#scoring', 'metaspace-v1');
    await page.check('#hotspots');
    await page.fill('#decoys', '10');
    assert.match(await text(page, '#search-warning'), /10 decoys/);
    await page.waitForFunction(() => /12,360 decoys/.test(document.querySelector('#search-size').textContent));
    await page.click('#annotate');
    await page.waitForSelector('#results:not([hidden])');
    const [[wish]] = await calls(page, 'annotate');
    assert.deepEqual({ ...wish, store: null }, {
      store: null, molecules: 'built-in', name: 'molecules.csv', adducts: ['-H', '+Cl', '-H2O-H'], decoys: 10, scoring: 'metaspace-v1', analyzer: 'tof', resolvingPower: 35000, ppm: 8, hotspot: true, charge: -1, slice: 0,
    });
    assert.match(wish.store.url, /kidney\.sectile/);
    const [[memory]] = await calls(page, 'annotator');
    assert.equal(memory, 128 * 2 ** 20, 'half of the memory');
    assert.match(await text(page, '#results-warnings'), /FDR from 10 decoys is coarse/);
    await settled(page);
    for (const part of ['side=annotations', 'ad=-H,%2BCl,-H2O-H', 'rp=35000', 'appm=8', 'sco=metaspace-v1', 'dec=10', 'ahot=1']) assert.ok(page.url().includes(part), `${part} in ${page.url()}`);
    await close(page);
  });

  test('a resolving power that the file states is taken, unless another is written', async () => {
    const page = await open(`inst=${encodeURIComponent('simulated Orbitrap, resolving power 70,000 at m/z 200')}`);
    assert.equal(await page.inputValue('#resolving'), '70000');
    await page.fill('#resolving', '140000');
    await settled(page);
    assert.match(page.url(), /rp=140000/, 'a link holds what is not as usual');
    await page.fill('#resolving', '70,000');
    await settled(page);
    assert.doesNotMatch(page.url(), /rp=/);
    await page.click('#annotate');
    await page.waitForSelector('#results:not([hidden])');
    assert.equal((await calls(page, 'annotate'))[0][0].resolvingPower, 70000);
    await close(page);
  });

  test('a polarity that contradicts the file and adducts of the other polarity are warned of, mistakes are said at once', async () => {
    const page = await open('pol=negative');
    await page.check('input[name="polarity"][value="positive"]');
    assert.match(await text(page, '#polarity-warning'), /The file says that its ions are negative/);
    assert.deepEqual(await page.locator('#adducts .chip').allTextContents(), ['+H', '+Na', '+K', '+NH4']);
    await page.fill('#adducts-more', '+Cl');
    assert.match(await text(page, '#adducts-warning'), /\+Cl makes an ion of the other polarity/);
    await page.fill('#adducts-more', '-H2O+');
    assert.match(await text(page, '#adducts-error'), /“\+” in “-H2O\+”: an element has to follow/);
    assert.equal(await page.locator('#annotate').isDisabled(), true);
    await page.fill('#adducts-more', '+Xx');
    assert.match(await text(page, '#adducts-error'), /no element “Xx”/);
    await page.fill('#adducts-more', '');
    assert.equal(await page.locator('#adducts-error').isVisible(), false);
    await page.fill('#ppm', 'wide');
    assert.match(await text(page, '#search-error'), /“wide” is not a tolerance/);
    assert.equal(await page.getAttribute('#ppm', 'aria-invalid'), 'true');
    await page.fill('#ppm', '3');
    for (const adduct of ['+H', '+Na', '+K']) await page.click(`[data-adduct="${adduct}"]`);
    assert.match(await text(page, '#adducts-warning'), /one adduct at least/);
    assert.equal(await page.locator('#annotate').isDisabled(), true);
    await page.click('[data-adduct="+NH4"]');
    await page.waitForFunction(() => !document.querySelector('#annotate').disabled);
    await close(page);
  });

  test('a list of one\'s own: chosen or dropped, left-out rows with line and reason, a useless one is refused', async () => {
    const page = await open('');
    await page.setInputFiles('#molecules-file', csv('lipids.csv', 'id,name,formula\n1,PA,C39H75O8P\n2,nothing,\n3,<b>odd</b>,C5Xx2\n4,PC,C42H82NO8P\n'));
    await page.waitForFunction(() => /2 formulas/.test(document.querySelector('#molecules-note').textContent));
    assert.equal(await page.inputValue('#molecules'), 'lipids.csv');
    assert.equal(await text(page, '#rejected-summary'), '2 rows left out');
    await page.click('#rejected-summary');
    assert.match(await text(page, '#rejected-list'), /Line 3: the formula is empty.*Line 4: “C5Xx2” is not a formula 3,<b>odd<\/b>/);
    assert.equal(await page.locator('#rejected-list b').count(), 2, 'text of a file is no markup');
    await page.setInputFiles('#molecules-file', csv('other.csv', 'a;b\n1;2\n'));
    await page.waitForSelector('#molecules-error:not([hidden])');
    assert.match(await text(page, '#molecules-error'), /other\.csv: line 1: no column is named formula/);
    assert.equal(await page.locator('#annotate').isDisabled(), true);
    await page.selectOption('#molecules', '');
    await page.waitForFunction(() => /412 formulas/.test(document.querySelector('#molecules-note').textContent));
    assert.equal(await page.locator('#molecules-error').isVisible(), false);
    // Dropped anywhere, also while the other panel is in front.
    await page.click('#side-ions');
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(['formula\tname\nC6H12O6\tglucose\n'], 'sugars.tsv'));
      document.documentElement.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await page.waitForFunction(() => /1 formula, 1 molecule/.test(document.querySelector('#molecules-note').textContent));
    assert.equal(await page.locator('#panel-annotations').isVisible(), true);
    assert.equal((await calls(page, 'open')).length, 1, 'a list is not opened as a dataset');
    await close(page);
  });

  test('a run says phase, ions and time; cancelled it can be gone on with, or discarded', async () => {
    const page = await open('adelay=120&asteps=12');
    await page.click('#annotate');
    await page.waitForFunction(() => /^Scoring ions · [\d,]+ of 17,304/.test(document.querySelector('#annotating-text').textContent));
    await page.waitForFunction(() => document.querySelector('#annotating-bar').value > 0.3);
    assert.match(await text(page, '#annotating-text'), /\d s left/);
    assert.match(await text(page, '#annotating-part'), /\d %/);
    assert.equal(await page.locator('#search').evaluate((box) => box.open), false);
    assert.match(await text(page, '#search-summary'), /Common metabolites and lipids · −H \+Cl · 3 ppm/);
    await page.click('#annotating-cancel');
    await page.waitForSelector('#annotating-resume:not([hidden])');
    assert.match(await text(page, '#annotating'), /^\s*Cancelled/);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'annotating-resume');
    assert.match(await text(page, '#annotating-text'), /[\d,]+ of 17,304 ions are done and kept/);
    await page.click('#annotating-resume');
    await page.waitForSelector('#results:not([hidden])');
    const runs = await calls(page, 'annotate');
    assert.deepEqual(runs[0], runs[1], 'the same is asked for');
    assert.equal(await page.locator('#annotating').isVisible(), false);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'annotations', 'on in the table');

    // Settings changed meanwhile are those of the next run, not of the one that goes on.
    await page.click('#search > summary');
    await page.click('#annotate');
    await page.waitForFunction(() => document.querySelector('#annotating-bar').value > 0);
    await page.click('#annotating-cancel');
    await page.click('#annotating-discard');
    assert.equal(await page.locator('#annotating').isVisible(), false);
    await page.waitForFunction(() => !document.querySelector('#annotate').disabled);
    await close(page);
  });

  test('after a cancelled run Annotate takes the settings of now, and Go on those of then', async () => {
    const page = await open('adelay=100&asteps=10');
    const halt = async () => {
      await page.waitForFunction(() => document.querySelector('#annotating-bar').value > 0);
      await page.click('#annotating-cancel');
      await page.waitForSelector('#annotating-resume:not([hidden])');
    };
    await page.click('#annotate');
    await halt();
    await page.click('#search > summary');
    await page.fill('#ppm', '8');
    await page.setInputFiles('#molecules-file', csv('mine.csv', 'formula\nC6H12O6\n'));
    await page.waitForFunction(() => !document.querySelector('#annotate').disabled);
    await page.click('#annotating-resume');
    await page.waitForSelector('#results:not([hidden])');
    assert.match(await text(page, '#results-from'), /^Common metabolites and lipids · /, 'the list of then');
    await settled(page);
    assert.doesNotMatch(page.url(), /run=1/, 'a link with the settings of now would find something else');
    await page.evaluate(() => { document.querySelector('#search').open = true; });
    await page.waitForFunction(() => !document.querySelector('#annotate').disabled);
    await page.click('#annotate');
    await halt();
    await page.click('#search > summary');
    await page.fill('#ppm', '5');
    await page.waitForFunction(() => !document.querySelector('#annotate').disabled);
    await page.click('#annotate');
    await page.waitForFunction(() => /^mine\.csv/.test(document.querySelector('#results-from').textContent));
    const wishes = (await calls(page, 'annotate')).map(([{ ppm, molecules }]) => `${molecules} ${ppm}`);
    assert.deepEqual(wishes, ['built-in 3', 'built-in 3', 'mine.csv 8', 'mine.csv 5']);
    await close(page);
  });

  test('settings changed while it runs are counted after it; lists are counted one at a time, and never beside a run', async () => {
    const page = await open('adelay=60&asteps=10');
    await page.click('#annotate');
    await page.waitForFunction(() => document.querySelector('#annotating-bar').value > 0);
    await page.click('#search > summary');
    await page.click('[data-adduct="+Na"], [data-adduct="+Cl"]');
    await page.waitForSelector('#results:not([hidden])');
    await page.waitForFunction(() => !document.querySelector('#annotate').disabled && /ions and/.test(document.querySelector('#search-size').textContent));
    await page.evaluate(() => { fake.checkDelay = 800; });
    for (const adduct of ['+Cl', '-H']) {
      const had = (await calls(page, 'check')).length;
      await page.click(`[data-adduct="${adduct}"]`);
      await page.waitForFunction((n) => fake.calls.filter(([name]) => name === 'check').length > n, had);
    }
    await page.evaluate(() => sectile.annotations.search.run(sectile.annotations.search.wished()));
    assert.deepEqual(await page.evaluate(() => [fake.mostChecking, fake.together ?? false]), [1, false]);
    await close(page);
  });

  test('a run that fails says why, and can be tried again; what cannot be is said', async () => {
    const page = await open('afail=worker&asteps=10');
    await page.click('#annotate');
    await page.waitForSelector('#annotating-error:not([hidden])');
    assert.match(await text(page, '#annotating'), /Stopped.*a worker was lost twice/s);
    assert.equal(await page.locator('#results-none').isVisible(), false, 'one message at a time');
    await page.click('#annotating-resume');
    await page.waitForSelector('#results:not([hidden])');
    await close(page);
    const other = await open('afail=store');
    await other.click('#annotate');
    await other.waitForSelector('#annotating-error:not([hidden])');
    assert.match(await text(other, '#annotating-error'), /format version 9.*Use a newer Sectile/);
    await close(other);
  });

  test('nothing found says what to try; nothing at a level says so too', async () => {
    const page = await annotated('zero');
    assert.match(await text(page, '#annotations-none'), /None of these molecules was found.*polarity.*tolerance/);
    assert.equal(await count(page), '0 of 0 annotations');
    await close(page);
    const other = await annotated('rows=400');
    await other.selectOption('#filter-adduct', '+Cl');
    await other.fill('#filter-text', 'no such thing');
    assert.match(await text(other, '#annotations-none'), /No annotation passes/);
    await close(other);
  });

  test('the table: formula with subscripts, names, scores; the FDR as a chip; the best row is shown', async () => {
    const page = await annotated('rows=400');
    assert.equal(await page.locator('#annotations-room .c-formula').first().innerHTML(), 'C<sub>47</sub>H<sub>83</sub>O<sub>13</sub>P');
    assert.deepEqual((await cells(page, 'name')).slice(0, 2), ['PI(38:4)+3', 'SHexCer(42:1)+1']);
    assert.equal((await cells(page, 'fdr'))[0], '5\u202f%');
    assert.equal(await page.locator('#annotations-room .level-5').count() > 5, true);
    assert.equal(await page.locator('#annotations-room .c-chaos').first().isVisible(), false, 'no room for it at this size');
    assert.equal(await chosen(page), 'C47H83O13P-H');
    assert.equal(await count(page), '160 of 400 annotations');
    await page.setViewportSize({ width: 1920, height: 1000 });
    assert.equal(await page.locator('#annotations-room .c-chaos').first().isVisible(), true);
    await close(page);
  });

  test('sorted by any column, with aria-sort; filtered by level, adduct and text', async () => {
    const page = await annotated('rows=400');
    assert.equal(await page.getAttribute('.grid-head .c-fdr', 'aria-sort'), 'ascending', 'as results come');
    await page.click('.grid-head .c-mz button');
    assert.equal(await page.getAttribute('.grid-head .c-mz', 'aria-sort'), 'ascending');
    const mz = async () => (await cells(page, 'mz')).map(Number);
    assert.deepEqual(await mz(), (await mz()).toSorted((a, b) => a - b));
    await page.click('.grid-head .c-mz button');
    assert.equal(await page.getAttribute('.grid-head .c-mz', 'aria-sort'), 'descending');
    assert.deepEqual(await mz(), (await mz()).toSorted((a, b) => b - a));
    await page.click('.grid-head .c-msm button');
    assert.equal(await page.getAttribute('.grid-head .c-msm', 'aria-sort'), 'descending', 'the best first');
    assert.equal(await page.locator('[aria-sort]').count(), 1);
    await page.selectOption('#filter-fdr', '100');
    assert.equal(await count(page), '400 of 400 annotations');
    await page.selectOption('#filter-fdr', '5');
    assert.equal(await count(page), '20 of 400 annotations');
    await page.selectOption('#filter-adduct', '+Cl');
    assert.deepEqual([...new Set(await cells(page, 'adduct'))], ['+Cl']);
    await page.selectOption('#filter-adduct', '');
    await page.fill('#filter-text', 'pi(3');
    assert.deepEqual((await cells(page, 'name')).map((name) => name.replace(/\+\d$/, '')), ['PI(38:4)', 'PI(36:4)', 'PI(36:1)']);
    await page.fill('#filter-text', 'c45h79');
    assert.deepEqual(await cells(page, 'formula'), ['C45H79O13P']);
    await settled(page);
    assert.match(page.url(), /lvl=5/);
    await close(page);
  });

  test('by keyboard: arrows, pages, ends, Enter, slash; the chosen row is in sight and said', async () => {
    const page = await annotated('rows=4000', '&lvl=100');
    await page.focus('#annotations');
    const active = () => page.evaluate(() => {
      const grid = document.querySelector('#annotations');
      const row = document.getElementById(grid.getAttribute('aria-activedescendant'));
      const [box, body] = [row?.getBoundingClientRect(), document.querySelector('#annotations-body').getBoundingClientRect()];
      return row && { index: Number(row.getAttribute('aria-rowindex')), selected: row.getAttribute('aria-selected'), seen: box.top >= body.top - 1 && box.bottom <= body.bottom + 1 };
    });
    const at = async (index) => assert.deepEqual(await active(), { index, selected: 'true', seen: true });
    await at(2);
    await page.keyboard.press('ArrowDown');
    await at(3);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await at(2);
    await page.keyboard.press('PageDown');
    const { index } = await active();
    assert.ok(index > 10 && index < 40, `a page is ${index} rows`);
    await page.keyboard.press('End');
    await at(4001);
    assert.equal(await page.getAttribute('#annotations', 'aria-rowcount'), '4001');
    await page.keyboard.press('PageUp');
    assert.ok((await active()).seen);
    await page.keyboard.press('Home');
    await at(2);
    // One stop of the tab key, though the body scrolls: its keys are those of the table.
    await page.focus('.grid-head .c-fdr button');
    await page.keyboard.press('Tab');
    assert.notEqual(await page.evaluate(() => document.activeElement.id), 'annotations-body');
    await page.evaluate(() => document.querySelector('#annotations-body').focus());
    await page.keyboard.press('ArrowDown');
    await at(3);
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'filter-text');
    await page.keyboard.type('stearic');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'annotations');
    assert.equal(await chosen(page), 'C18H36O2-H');
    assert.equal(await page.evaluate(() => sectile.readout.pinned), null, 'keys of the table do not move the cursor of the image');
    await page.focus('#view');
    await page.keyboard.press('a');
    assert.equal(await page.locator('#panel-ions').isVisible(), true);
    await page.keyboard.press('/');
    assert.equal(await page.locator('#panel-annotations').isVisible(), true);
    await close(page);
  });

  test('a key held down runs through the rows and fetches images only where it rests', async () => {
    const page = await annotated('rows=4000', '&lvl=100');
    await shown(page);
    const before = (await calls(page, 'images')).length;
    await page.focus('#annotations');
    // Held down, a key repeats: playwright marks a second down as a repeat.
    for (let i = 0; i < 26; i += 1) await page.keyboard.down('ArrowDown');
    await page.keyboard.up('ArrowDown');
    await page.waitForFunction(() => Math.abs(sectile.display.layers[0]?.plane.ion.mz - sectile.annotations.row.mz) < 1e-9);
    assert.equal(await chosen(page), 'C49H83O13P-H');
    const made = (await calls(page, 'images')).length - before;
    assert.ok(made <= 4, `${made} calls for 26 rows`);
    await close(page);
  });

  test('100,000 rows: only those in sight exist, both ends can be reached, and scrolling is quick', async () => {
    const page = await annotated('rows=100000', '&lvl=100');
    assert.equal(await count(page), '100,000 of 100,000 annotations');
    const made = () => page.locator('#annotations-room .grid-row').count();
    assert.ok((await made()) < 60);
    const usual = await page.evaluate(async () => {
      const body = document.querySelector('#annotations-body');
      const spent = [];
      for (let i = 0; i < 60; i += 1) {
        const from = performance.now();
        body.scrollTop = (body.scrollHeight * i) / 60;
        await new Promise(requestAnimationFrame);
        sectile.annotations.table.draw();
        spent.push(performance.now() - from);
      }
      // The slowest say how busy the machine is.
      return spent.sort((a, b) => a - b)[30];
    });
    assert.ok(usual < 100, `${usual} ms for a jump`);
    assert.ok((await made()) < 60);
    await page.focus('#annotations');
    await page.keyboard.press('End');
    assert.equal(await page.getAttribute('#annotations-room .chosen', 'aria-rowindex'), '100001');
    const spent = await page.evaluate(() => {
      const from = performance.now();
      sectile.annotations.sort('formula', false);
      sectile.annotations.narrow({ text: 'isomer 3' });
      return performance.now() - from;
    });
    assert.ok(spent < 4000, `${spent} ms to sort and filter`);
    // Beyond the height that browsers draw a place in the bar is a part of the whole.
    const ends = await page.evaluate(async () => {
      const { table, rows } = sectile.annotations;
      table.show(Array.from({ length: 700000 }, () => rows[0]), null);
      const seen = () => [...document.querySelectorAll('#annotations-room .grid-row')].filter((row) => {
        const [box, body] = [row.getBoundingClientRect(), table.body.getBoundingClientRect()];
        return box.top >= body.top - 1 && box.bottom <= body.bottom + 1;
      }).map((row) => Number(row.getAttribute('aria-rowindex'))).sort((a, b) => a - b);
      const found = [seen()[0]];
      table.body.scrollTop = table.body.scrollHeight;
      await new Promise((done) => setTimeout(done, 50));
      found.push(seen().at(-1));
      table.choose(350000, false);
      found.push(seen().includes(350002));
      table.choose(350001, false);
      found.push(seen().includes(350003));
      return found;
    });
    assert.deepEqual(ends, [2, 700001, true, true]);
    await close(page);
  });

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
