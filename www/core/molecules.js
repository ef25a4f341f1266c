/** A list of molecules, read as it streams by. */
import { budget, core } from './annotations-instance.js';
import { checked, release, told } from './errors.js';
import { sourceOf } from './source.js';
import { Tally } from './tally.js';
import { through } from './through.js';

/** Of the instance's budget, the part that a list may take: one in so many. */
const PART = 4;

/**
 * @typedef {object} ListInfo what a list holds
 * @property {number} rows that are not empty, the header's not counted
 * @property {number} formulas distinct ones
 * @property {number} molecules
 * @property {{line: number, text: string, what: string}[]} rejected rows that hold no formula: the first ones
 * @property {number} rejectedRows how many there are in all
 * @property {string[]} warnings
 */

/** A list that was read; it lies in the core until {@link free}. */
export class Molecules {
  /** @private */
  constructor(inner, name, tally) {
    this.inner = inner;
    this.name = name;
    /** What reading it cost. */
    this.reading = tally;
    /** @type {ListInfo} */
    this.info = checked(() => inner.describe());
  }

  /** Gives its memory back to the core, once no annotation uses it any more. */
  free() {
    release(this.inner);
  }

  [Symbol.dispose ?? Symbol.for('dispose')]() {
    this.free();
  }
}

/**
 * Reads a list: CSV or TSV with a column of formulas (`formula`, `sf`), or one formula a line.
 *
 * @param {string | URL | Blob | import('./source.js').Source} what a string is an address
 * @param {{name?: string, memory?: number, signal?: AbortSignal, onProgress?: (done: number, total: number) => void}} [options]
 *   `name` for messages; `memory`: bytes that it may take, a quarter of the budget by default
 * @returns {Promise<Molecules>}
 */
export async function readMolecules(what, { name, memory = Math.floor(budget() / PART), signal, onProgress } = {}) {
  const source = sourceOf(what);
  const tally = new Tally();
  const reader = checked(() => new (core().MoleculeList)(name ?? source.key, memory));
  try {
    await through(source, { signal, tally, onProgress, take: (piece) => checked(() => reader.push(piece)) });
    return new Molecules(checked(() => reader.finish()), name ?? source.key, tally.now());
  } catch (error) {
    throw told(error);
  } finally {
    release(reader);
  }
}
