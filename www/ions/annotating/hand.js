/** One web worker of a pool: an instance of the core with the store and the list opened in it. */
import { Remote } from '../../core/remote.js';

/**
 * @typedef {object} Opened
 * @property {import('../annotator.js').Info} info
 * @property {string} identity of store, list and options: what was finished under one is not mixed with another's
 * @property {string} name of the list
 * @property {Blob} molecules the list itself, read once for all workers
 * @property {[number, number][]} shards ranges of the ions' order
 * @property {number} requests
 * @property {number} bytes
 *
 * @typedef {import('../../core/annotation.js').Saved} Saved
 */

export class Hand extends Remote {
  /** @param {number} memory bytes that its core may hold */
  constructor(memory) {
    super(new Worker(new URL('../annotate.js', import.meta.url), { type: 'module' }));
    this.memory = memory;
    /** Bytes of its memory, as last told. */
    this.peak = 0;
  }

  /**
   * @param {object} what options of an annotation, addresses absolute
   * @param {{signal?: AbortSignal}} how
   */
  check(what, { signal }) {
    return this.call('check', { memory: this.memory, what }, { signal });
  }

  /**
   * Reads list and store, and makes sure that the plan fits.
   * @param {object} what
   * @param {{onProgress?: (progress: {phase: 'list' | 'plan', done: number, total: number}) => void}} how
   * @returns {Promise<Opened>}
   */
  async open(what, { onProgress }) {
    const opened = await this.call('open', { memory: this.memory, what }, { on: { progress: onProgress } });
    this.peak = opened.memoryBytes;
    return opened;
  }

  /**
   * The ions of a shard from a position on, to its end or until {@link stop}.
   * @param {{from: number, to: number, position: number}} shard
   * @param {{onSave: (saved: Saved) => void, onProgress: (done: {ions: number}) => void}} how
   * @returns {Promise<{position: number, requests: number, bytes: number}>}
   */
  async run(shard, { onSave, onProgress }) {
    const ended = await this.call('run', shard, { on: { saved: onSave, progress: onProgress } });
    this.peak = ended.memoryBytes;
    return ended;
  }

  /** Ends what runs at the next point where everything can be handed in. */
  stop() {
    this.call('stop').catch(() => {});
  }

  /**
   * What all saves together come to.
   * @param {{targets: Uint8Array, decoys: Uint8Array}[]} saves
   * @returns {Promise<{rows: import('../annotator.js').Row[], warnings: string[], csv: Blob, json: Blob}>}
   */
  async results(saves) {
    const { memoryBytes, ...results } = await this.call('results', { saves });
    this.peak = memoryBytes;
    return results;
  }
}
