/** The panel of annotations in Chromium on the stand-ins for both cores: how tests open it, run it and read its table. */
import { IonPages, shown, text } from './ion-page.mjs';

/** A page with the panel of annotations; the list has been counted. @param {IonPages} pages */
export async function listed(pages, query, more = '', options = {}) {
  const page = await pages.open(query === null ? null : `iso&${query}`, `&mz=885.5493&side=annotations${more}`, options);
  if (query === null) await page.click('#side-annotations');
  else await shown(page);
  await page.waitForFunction(() => sectile.annotations.search.counted !== null && /formulas/.test(document.querySelector('#molecules-note').textContent));
  return page;
}

/** The same, annotated. @param {IonPages} pages */
export async function annotatedPage(pages, query = '', more = '', options = {}) {
  const page = await listed(pages, query, more, options);
  await page.click('#annotate');
  await page.waitForSelector('#results:not([hidden])');
  return page;
}

/** A column of the rows that exist. */
export const cells = (page, name) => page.locator(`#annotations-room .grid-row .c-${name}`).allTextContents();
/** The chosen ion, as in a link. */
export const chosen = (page) => page.evaluate(() => sectile.annotations.row && `${sectile.annotations.row.formula}${sectile.annotations.row.adduct}`);
export const count = (page) => text(page, '#results-count');
