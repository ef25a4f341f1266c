import { formatBytes } from '../app/bytes.js';

const REFUSED = /^the memory budget is (\d+) bytes, but (.+) needs (\d+) bytes; give at least --memory \d+KiB$/;
const LIST = /^the molecule list$/i;
const MEBIBYTE = 2 ** 20;

/**
 * What an error says, for somebody at a page. A core that has too little memory speaks of its own part of the budget, and
 * of an option that a page does not have: here it is the whole budget, of which a core has half, and the field for it.
 * @param {any} error
 * @param {number} memory the page's budget in bytes
 */
export function refusal(error, memory) {
  const text = error?.message || String(error);
  const found = error?.code === 'budget' ? REFUSED.exec(text) : null;
  if (!found) return text;
  const least = leastOf(Number(found[1]), Number(found[3]), memory, LIST.test(found[2]));
  const what = found[2].charAt(0).toUpperCase() + found[2].slice(1);
  return `${what} does not fit into half of ${formatBytes(memory)}, which is its part of the memory. Write ${least} MiB or more under “Memory, at most”, and open it again.`;
}

/** Mebibytes of the whole budget that would do, as far as that can be told. */
function leastOf(have, need, memory, list) {
  // A list is refused where it has grown too large, with the rest of it still to come.
  if (list) return Math.ceil((2 * memory) / MEBIBYTE);
  // More than there is in one piece, though not in all: how much would do is not known.
  if (need <= have) return 2 * Math.ceil(memory / MEBIBYTE);
  return 2 * Math.ceil((need + Math.max(0, memory / 2 - have)) / MEBIBYTE);
}
