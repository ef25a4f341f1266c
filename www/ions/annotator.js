/** The page's end of annotation: a pool of web workers that share one budget and pull shards. */
import { CoreError } from '../core/errors.js';
import { absolute } from '../core/remote.js';
import { Hand } from './annotating/hand.js';
import { Pool } from './annotating/pool.js';

/**
 * @typedef {{url: string, headers?: Record<string, string>} | {file: Blob}} Place of a file: as seen from the page
 *
 * @typedef {object} Files of an annotation
 * @property {Place} store a packed `.sectile`
 * @property {Place | Blob} molecules a list: CSV, TSV, or one formula a line
 *
 * @typedef {Omit<import('../core/annotation.js').Options, 'molecules'> & Files} Options of an annotation
 *
 * @typedef {import('../core/annotation.js').Info} Info what is going to be looked for
 *
 * @typedef {object} Progress
 * @property {'list' | 'plan' | 'ions' | 'fdr'} phase
 * @property {number} done of `list` bytes, of `ions` ions; 0 elsewhere
 * @property {number} total in the same unit; 0 where it is not known
 * @property {number | null} secondsLeft of the phase `ions`, once there is something to go by
 * @property {number} targets with MSM > 0 so far
 * @property {number} decoys with MSM > 0 so far
 * @property {Info} [info] from the phase `plan` on
 *
 * @typedef {import('../core/annotation.js').Peak} Peak one isotope of a row
 * @typedef {import('../core/annotation.js').Row} Row a target with MSM > 0
 *
 * @typedef {object} Run what came of an annotation
 * @property {Info} info
 * @property {Row[]} rows by FDR, then MSM from high to low, then formula and adduct
 * @property {string[]} warnings
 * @property {number} seconds of this call
 * @property {number} requests of this call
 * @property {number} bytes of their bodies
 * @property {number} peakBytes of all workers' memories together
 * @property {number} workers
 * @property {number} shards
 */

/**
 * Annotations of one page, one at a time.
 *
 * What has been finished when a run is cancelled or fails stays here: the next call with the same store, list and
 * options goes on from there.
 */
export class Annotator {
  /**
   * @param {object} [options]
   * @param {number} [options.memory] bytes that all workers may hold together; 256 MiB by default
   * @param {number} [options.workers] as many as the machine has processors by default; fewer where the budget
   *   does not go round
   * @param {number} [options.shards] parts that the ions are cut into; the result does not depend on it
   */
  constructor({ memory = 256 << 20, workers = navigator.hardwareConcurrency || 1, shards } = {}) {
    this.memory = memory;
    this.workers = Math.max(1, Math.floor(workers));
    this.shards = shards;
    /** @private @type {AbortController | null} */
    this.running = null;
    /** @private @type {import('./annotating/ledger.js').Ledger | null} */
    this.ledger = null;
    /** @private @type {{csv: Blob, json: Blob} | null} */
    this.files = null;
  }

  /** How far a run came that was cancelled or failed, in ions, and that can be gone on with. @returns {{done: number, total: number} | null} */
  get unfinished() {
    return this.ledger && { done: this.ledger.done, total: this.ledger.total };
  }

  /**
   * What would be looked for, and which rows of the list hold no formula; the store is not touched and need not
   * be given.
   * @param {Omit<Options, 'store'>} options
   * @param {{signal?: AbortSignal}} [how]
   * @returns {Promise<Info>}
   */
  async check(options, { signal } = {}) {
    signal?.throwIfAborted();
    const hand = new Hand(this.memory);
    // At once: the next call may take the same memory.
    const stop = () => hand.close();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await hand.check(sent(options), { signal });
    } finally {
      signal?.removeEventListener('abort', stop);
      hand.close();
    }
  }

  /**
   * Annotates a store.
   *
   * Cancelling takes less than a second. An error has a `code` as every error of the library; where a worker was
   * lost twice over the same ions it is `retired`.
   *
   * @param {Options} options
   * @param {{signal?: AbortSignal, onProgress?: (progress: Progress) => void}} [how]
   * @returns {Promise<Run>}
   */
  async annotate(options, { signal, onProgress } = {}) {
    if (this.running) throw new CoreError('parameter', 'an annotation is running; cancel it first');
    signal?.throwIfAborted();
    const { memory, workers, shards } = this;
    const ending = new AbortController();
    const stop = () => ending.abort(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    this.running = ending;
    this.files = null;
    const pool = new Pool({ memory, workers, shards, what: sent(options), signal: ending.signal, onProgress, kept: this.ledger });
    try {
      const { run, files } = await pool.run();
      this.ledger = null;
      this.files = files;
      return run;
    } catch (error) {
      this.ledger = this.running ? pool.ledger : null;
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
      pool.close();
      this.running = null;
    }
  }

  /** The rows of the last run as the command line's `results.csv`. @returns {Blob} */
  csv() {
    return this.made().csv;
  }

  /** The last run as the command line's `annotations.json`. @returns {Blob} */
  json() {
    return this.made().json;
  }

  /** @private */
  made() {
    if (!this.files) throw new CoreError('parameter', 'annotate something first');
    return this.files;
  }

  /** Ends what runs and forgets what was kept. */
  close() {
    this.running?.abort(new DOMException('closed', 'AbortError'));
    this.running = null;
    this.ledger = null;
    this.files = null;
  }
}

/** Options as a worker takes them: addresses made absolute, for it has another base. */
function sent({ store, molecules, ...rest }) {
  return { ...rest, molecules: seen(molecules), ...(store ? { store: seen(store) } : {}) };
}

function seen(what) {
  if (what instanceof Blob) return { file: what };
  return 'url' in what && what.url ? { ...what, url: absolute(what.url) } : what;
}
