/** The search of the annotations on the ion page, on stand-ins for both cores: its fields, its list, its runs. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listed } from './annotation-page.mjs';
import { calls, close, IonPages, settled, text } from './ion-page.mjs';

describe('the search of the annotations', { timeout: 600_000 }, () => {
  let pages;
  const open = (...how) => listed(pages, ...how);

  before(async () => {
    pages = await IonPages.start();
  });

  after(() => pages?.stop());

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
});
