/** The table of annotations on the ion page, on stand-ins for both cores: what it shows, sorted, filtered, by keyboard, at any length. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { annotatedPage, cells, chosen, count } from './annotation-page.mjs';
import { calls, close, IonPages, settled, shown, text } from './ion-page.mjs';

describe('the table of annotations', { timeout: 600_000 }, () => {
  let pages;
  const annotated = (...how) => annotatedPage(pages, ...how);

  before(async () => {
    pages = await IonPages.start();
  });

  after(() => pages?.stop());

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
});
