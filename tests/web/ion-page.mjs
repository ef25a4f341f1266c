/** The ion page in Chromium on the stand-in for its core: how tests open it, ask it and leave it. */
import assert from 'node:assert/strict';
import { launch } from './chromium.mjs';
import { servePages } from './serve.mjs';

/** What tests open by default; what the stand-in does is said in its query. */
export const STORE = 'https://example.org/kidney.sectile';

/** One browser and one server for the tests of a file. */
export class IonPages {
  static async start() {
    const pages = new IonPages();
    [pages.browser, pages.server] = [await launch(), await servePages()];
    return pages;
  }

  async stop() {
    await this.browser?.close();
    await this.server?.close();
  }

  /**
   * A page on a dataset described by a query, or by a whole address; null for none. `complaints` gathers errors and
   * breaches of the policy.
   */
  async open(query, more = '', options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    page.complaints = [];
    page.on('pageerror', (error) => page.complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && page.complaints.push(message.text()));
    const source = query === null ? '' : `#src=${encodeURIComponent(query.startsWith('http') ? query : `${STORE}?${query}`)}${more}`;
    await page.goto(`${this.server.base}ions.html${source}`);
    return page;
  }
}

/** Leaves a page, which must not have complained. */
export async function close(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

export const text = (page, selector) => page.locator(selector).textContent();
/** Time for the address to be written. */
export const settled = (page) => page.waitForTimeout(300);
/** Waits until so many ions are on show. */
export const shown = (page, n = 1) => page.waitForFunction((count) => sectile.display.layers.length === count && !document.querySelector('#stage').classList.contains('loading'), n);
/** The arguments of every call of a name that the stand-in has had. */
export const calls = (page, name) => page.evaluate((wanted) => fake.calls.filter(([call]) => call === wanted).map((call) => call.slice(1)), name);
/** The m/z of the last images asked for. */
export const asked = async (page) => (await calls(page, 'images')).at(-1)[0].map(({ mz }) => mz);
