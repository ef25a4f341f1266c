/** The page's end of the web worker of ion images. */
import { absolute, Remote } from '../core/remote.js';

/**
 * @typedef {object} Progress of packing
 * @property {string} phase `index` while the XML is read, `plan` once, then those of the job
 * @property {number} done of this phase
 * @property {number} total in the same unit as `done`
 * @property {number} overall part of the whole that is done, 0 to 1; it never goes back
 * @property {number | null} seconds_left of the whole, once there is something to go by
 * @property {number} peak_bytes of the core's memory so far
 * @property {object} [plan] with the phase `plan`: what packing will read, hold and write
 *
 * @typedef {{url: string} | {file: File}} Entry
 * @typedef {Entry | {pair: {imzml: Entry, ibd: Entry}} | {kept: string}} Opening
 *
 * @typedef {object} ImageWish
 * @property {number} mz
 * @property {number} [ppm] half-width of the window in parts per million
 * @property {number} [da] half-width of the window in Da, in place of `ppm`
 * @property {number} [slice] index into `info.slices`; 0 by default
 * @property {'none' | 'tic' | 'rms'} [normalise]
 */

/** One worker with one core and one opened store. */
export class IonCompute extends Remote {
  /**
   * @param {{memory: number, onRetired?: (reason: string) => void}} options `onRetired` is called
   *   once, when the core has trapped and this object is of no more use
   */
  constructor({ memory, onRetired }) {
    super(worker(), onRetired);
    this.memory = memory;
    /** @private Whether something was opened by the worker at hand. */
    this.used = false;
    this.start();
  }

  /** @private */
  start() {
    this.started = this.call('start', { memory: this.memory });
    this.started.catch(() => {});
  }

  /** @private A core that is fresh: nothing gives memory back to the system but the end of a worker. */
  async renew() {
    // What was packed and is not kept goes; a packing that runs is left so that it can be gone on with.
    await this.call('shut');
    if (this.retired) return;
    this.take(worker());
    this.used = false;
    this.start();
  }

  /**
   * Opens a store, or packs an imzML pair into one first. What was open before is given up.
   *
   * A pair is packed into the browser's own storage. A packing that was cancelled, or that ended with
   * the page, goes on when the same pair is opened again. With `keep` the store stays there under the
   * pair's name until {@link remove}; without, it goes with the next `open` or with {@link close}.
   *
   * @param {Opening} what
   * @param {{signal?: AbortSignal, onProgress?: (progress: Progress) => void, keep?: boolean, skipBad?: boolean}} [options]
   * @returns {Promise<object>} `IonStore.info`, `packed`: the report of packing or `null`, and
   *   `opening`: requests and bytes
   */
  async open(what, { signal, onProgress, keep = false, skipBad = false } = {}) {
    if (this.used) await this.renew();
    this.used = true;
    await this.started;
    // What is kept is to outlive a browser that tidies up; a browser may still say no.
    if (keep) await navigator.storage?.persist?.().catch(() => false);
    return this.call('open', { what: seen(what), keep, skipBad }, { signal, on: { progress: onProgress } });
  }

  /**
   * @param {ImageWish} wish
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<object>} `{mz, window, width, height, values, hits, max, requests, bytes}`; row 0 of
   *   `values` is the top one, NaN where no spectrum was acquired
   */
  async image(wish, options) {
    const [image] = await this.images([wish], options);
    return image;
  }

  /**
   * Several images that share their reads, at one tolerance each but one slice and one normalisation:
   * those of the first.
   * @param {ImageWish[]} wishes
   * @param {{signal?: AbortSignal}} [options]
   */
  images(wishes, { signal } = {}) {
    return this.call('images', { wishes }, { signal });
  }

  /**
   * The mean and the largest intensity over all spectra, in bins of m/z that hold anything.
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<{mz: Float64Array, mean: Float32Array, max: Float32Array}>}
   */
  meanSpectrum({ signal } = {}) {
    return this.call('meanSpectrum', {}, { signal });
  }

  /**
   * The spectrum of one pixel. From the imzML pair where it was opened by one; otherwise the whole store
   * is read: {@link planSpectrum} says how much that is.
   * @param {{x: number, y: number, slice?: number}} where row 0 is the top one
   * @param {{signal?: AbortSignal, onProgress?: (reading: import('../core/ion-store.js').Reading) => void}} [options]
   * @returns {Promise<{mz: Float64Array, intensity: Float64Array, from: 'pair' | 'store', requests: number, bytes: number}>}
   */
  spectrum(where, { signal, onProgress } = {}) {
    return this.call('spectrum', where, { signal, on: { progress: onProgress } });
  }

  /**
   * What a spectrum costs: `{from, pixels, requests, bytes}`, the numbers `null` where the pair's index has not
   * been read yet.
   * @param {{x: number, y: number, slice?: number} | {rect?: number[], polygon?: number[][], slice?: number}} [where]
   */
  planSpectrum(where = { x: 0, y: 0 }) {
    return this.call('planSpectrum', where);
  }

  /**
   * The mean spectrum of the acquired pixels in a rectangle (`[x0, y0, x1, y1]`, half-open) or a polygon
   * (`[[x, y], …]`).
   * @param {{rect?: number[], polygon?: number[][], slice?: number}} where
   * @param {{signal?: AbortSignal, onProgress?: (reading: import('../core/ion-store.js').Reading) => void}} [options]
   */
  region(where, { signal, onProgress } = {}) {
    return this.call('region', where, { signal, on: { progress: onProgress } });
  }

  /** @param {object} image @param {{alpha?: boolean, shares?: boolean}} [options] @returns {Promise<Blob>} a 16-bit PNG */
  png(image, { alpha = false, shares = false } = {}) {
    return this.call('png', { image, alpha, shares });
  }

  /** @param {object} image @returns {Promise<Blob>} a table of x, y and intensity */
  csv(image) {
    return this.call('csv', { image });
  }

  /** Stores that are kept in this browser. @returns {Promise<{name: string, bytes: number}[]>} */
  async kept() {
    await this.started;
    return this.call('kept');
  }

  /** What {@link clean} would remove. @returns {Promise<{count: number, bytes: number}>} */
  async leftovers() {
    await this.started;
    return this.call('leftovers');
  }

  /** Removes a kept store. @param {string} name */
  remove(name) {
    return this.call('remove', { name });
  }

  /** The opened store as a file to download, where it lies in this browser. @returns {Promise<Blob | null>} */
  store() {
    return this.call('store');
  }

  /** Keeps the opened store that was packed here, after the fact. */
  async keep() {
    await navigator.storage?.persist?.().catch(() => false);
    return this.call('keep');
  }

  /** Removes what packings left behind here that are not running now. @returns {Promise<{removed: number, bytes: number}>} */
  async clean() {
    await this.started;
    return this.call('clean');
  }
}

/** Addresses made absolute, for the worker has another base. */
function seen(what) {
  if ('pair' in what) return { pair: { imzml: seen(what.pair.imzml), ibd: seen(what.pair.ibd) } };
  return 'url' in what && what.url ? { ...what, url: absolute(what.url) } : what;
}

function worker() {
  return new Worker(new URL('./compute.js', import.meta.url), { type: 'module' });
}
