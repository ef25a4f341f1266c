/**
 * What a page owes to all its readers: its controls without a name, and its texts with a contrast below 4.5 to 1.
 * @param {import('playwright-core').Page} page
 * @param {{controls: string, texts: string, own?: boolean}} selectors `own`: only elements that hold text themselves, not
 *   those that have it by what is inside them
 * @returns {Promise<string[]>}
 */
export const illegible = (page, selectors) => page.evaluate(({ controls, texts, own = false }) => {
  const found = [];
  for (const control of document.querySelectorAll(controls)) {
    const named = control.getAttribute('aria-label') || control.textContent.trim() || control.labels?.length > 0 || control.getAttribute('aria-labelledby');
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
  const holds = (element) => (own ? [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()) : element.textContent.trim());
  for (const element of document.querySelectorAll(texts)) {
    if (!holds(element) || !element.checkVisibility() || element.closest(':disabled, svg')) continue;
    const [a, b] = [light(rgb(getComputedStyle(element).color)), light(ground(element))].sort((p, q) => q - p);
    if ((a + 0.05) / (b + 0.05) < 4.5) found.push(`faint: ${element.tagName}.${element.className} ${element.textContent.trim().slice(0, 40)}`);
  }
  return found;
}, selectors);
