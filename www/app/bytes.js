/** Byte counts as people write and read them. */

const UNITS = { '': 1, b: 1, k: 1e3, kb: 1e3, m: 1e6, mb: 1e6, g: 1e9, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 };

/**
 * Bytes meant by a text such as "64 MiB", "1.5GB" or "67108864"; a unit of 1,000 or of 1,024 as written.
 * @param {string} text
 * @returns {number} whole bytes
 * @throws {RangeError} when it is not a number with a known unit, or not within 1 byte … 1 GiB
 */
export function parseBytes(text) {
  const match = /^\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*$/i.exec(text);
  const unit = match && UNITS[match[2].toLowerCase()];
  if (!unit) throw new RangeError(`“${text.trim()}” is not an amount of memory. Write it like 64 MiB or 0.5 GB.`);
  const bytes = Math.floor(Number(match[1]) * unit);
  if (bytes < 1) throw new RangeError('The memory budget must be more than nothing. Write it like 64 MiB.');
  if (bytes > 2 ** 30) throw new RangeError('In a page the core can hold 1 GiB at most. Write a smaller budget, like 512 MiB.');
  return bytes;
}

/** Bytes with a unit of 1,024, three figures: 1.41 GiB. */
export function formatBytes(bytes) {
  if (!Number.isFinite(bytes)) return '–';
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${trim(value.toFixed(digits))}\u202f${['B', 'KiB', 'MiB', 'GiB', 'TiB'][unit]}`;
}

function trim(text) {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
