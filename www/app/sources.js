/** What the user pasted, chose or dropped, as entries for the core. @typedef {{url: string} | {file: File}} Entry */

/**
 * Addresses of a text, one a line; empty lines and lines starting with # are left out.
 * @param {string} text
 * @returns {string[]} as written
 */
export function addresses(text) {
  return text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

/**
 * Absolute http(s) addresses.
 * @param {string[]} written
 * @param {string} base what relative ones are relative to
 * @returns {Entry[]}
 * @throws {TypeError} for one that is not an address a page may fetch
 */
export function urlEntries(written, base) {
  return written.map((text) => {
    let url;
    try {
      url = new URL(text, base);
    } catch {
      throw new TypeError(`“${text}” is not an address. Paste one URL a line.`);
    }
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new TypeError(`“${text}”: a page can only read http and https addresses. Drop local files here instead.`);
    }
    return { url: url.href };
  });
}

/** Chosen or dropped files in the order of their names, numbers by value. @param {Iterable<File>} files @returns {Entry[]} */
export function fileEntries(files) {
  const order = new Intl.Collator('en', { numeric: true });
  return [...files].sort((a, b) => order.compare(a.name, b.name)).map((file) => ({ file }));
}

/**
 * Files dropped anywhere on the page, and links dragged from another window.
 * @param {HTMLElement} area
 * @param {{files(files: File[]): void, text(text: string): void}} on
 */
export function watchDrops(area, on) {
  let depth = 0;
  const show = (value) => area.classList.toggle('drop-target', value);
  area.addEventListener('dragenter', (event) => {
    event.preventDefault();
    depth += 1;
    show(true);
  });
  area.addEventListener('dragover', (event) => event.preventDefault());
  area.addEventListener('dragleave', () => {
    depth = Math.max(0, depth - 1);
    if (depth === 0) show(false);
  });
  area.addEventListener('drop', (event) => {
    event.preventDefault();
    depth = 0;
    show(false);
    const files = [...(event.dataTransfer?.files ?? [])];
    const text = event.dataTransfer?.getData('text/uri-list') || event.dataTransfer?.getData('text/plain') || '';
    if (files.length > 0) on.files(files);
    else if (text.trim() !== '') on.text(text);
  });
}
