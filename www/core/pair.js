/** An imzML pair: its index, read from the XML as it streams by, and what tells it from another pair. */
import { checked, release, told } from './errors.js';
import { core } from './ions-instance.js';
import { Tally } from './tally.js';
import { through } from './through.js';

/** The index of a dataset: where each spectrum lies in the .ibd, 48 bytes each. */
export class PairIndex {
  /**
   * Reads the whole XML once, and 16 bytes of the .ibd.
   *
   * @param {any} imzml a source
   * @param {any} ibd a source
   * @param {{signal?: AbortSignal, tally?: Tally, memory: number, skipBad?: boolean,
   *   onProgress?: (done: number, total: number) => void}} options `memory`: bytes that the index may take
   * @returns {Promise<PairIndex>}
   */
  static async read(imzml, ibd, { signal, tally = new Tally(), memory, skipBad = false, onProgress }) {
    const reader = checked(() => new (core().Imzml)(imzml.key, memory));
    try {
      await through(imzml, { signal, tally, onProgress, take: (piece) => checked(() => reader.push(piece)) });
      const inner = checked(() => reader.finish());
      try {
        await settle(inner, ibd, { signal, tally, skipBad });
      } catch (error) {
        release(inner);
        throw error;
      }
      return new PairIndex(inner);
    } catch (error) {
      throw told(error);
    } finally {
      release(reader);
    }
  }

  /** @private */
  constructor(inner) {
    this.inner = inner;
    this.info = checked(() => inner.describe());
  }

  free() {
    release(this.inner);
  }
}

/** Compares the index with the .ibd: that every array lies inside it, and whether they belong together. */
async function settle(dataset, ibd, { signal, tally, skipBad }) {
  const head = await ibd.read(0, ibd.size === undefined ? 16 : Math.min(16, ibd.size), signal, tally);
  let size = ibd.size;
  if (size === undefined && head.length < 16) size = head.length;
  if (size === undefined) size = await probe(ibd, checked(() => dataset.end()), signal, tally);
  checked(() => dataset.settle(ibd.key, size, head, skipBad));
}

/** The size where a server hides it: whether the last byte that the index names is there. */
async function probe(ibd, end, signal, tally) {
  if (end <= 16) return 16;
  const last = await ibd.read(end - 1, end, signal, tally);
  return last.length === 1 ? end : (ibd.size ?? end - 1);
}

/**
 * What tells a pair from another one or from itself before it was changed: names, sizes, dates or tags.
 * Of a file on a server 16 bytes are read to learn them, unless something has been read before.
 * @param {any} imzml a source
 * @param {any} ibd a source
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>}
 */
export async function identify(imzml, ibd, signal) {
  for (const source of [imzml, ibd]) {
    if (source.size === undefined) await source.read(0, 16, signal);
  }
  return JSON.stringify([imzml, ibd].map(({ key, size, blob, known }) => ({
    name: key,
    size: size ?? null,
    modified: blob?.lastModified ?? known?.modified ?? null,
    etag: known?.etag ?? null,
  })));
}
