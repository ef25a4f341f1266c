/** A packed store: opened by its first bytes, then images and spectra by ranges. */
import { checked, CoreError, release, told } from './errors.js';
import { budget, core, memoryBytes } from './ions-instance.js';
import { PairIndex } from './pair.js';
import { run, walk } from './session.js';
import { sourceOf } from './source.js';
import { Tally } from './tally.js';

/**
 * @typedef {{ppm: number} | {da: number}} Tolerance half-width of a closed window around an m/z
 *
 * @typedef {object} ImageOptions
 * @property {number} [slice] index into `info.slices`; 0 by default
 * @property {'none' | 'tic' | 'rms'} [normalise] divides by the total or the root mean square of each
 *   pixel, times their mean over all pixels
 * @property {number} [inFlight] requests at one time; 6 by default
 * @property {AbortSignal} [signal]
 *
 * @typedef {object} Reading how far the reading of a spectrum is
 * @property {'index' | 'peaks'} phase the XML of a pair, read once, then the peaks
 * @property {number} bytes
 * @property {number} total
 *
 * @typedef {object} IonImage row-major; row 0 is the top one
 * @property {number} mz
 * @property {[number, number]} window the closed window of m/z
 * @property {number} width
 * @property {number} height
 * @property {Float32Array} values sums of intensities; NaN where no spectrum was acquired
 * @property {number} hits peaks in the window, over the whole image
 * @property {number} max largest value; 0 where there is none
 * @property {number} requests that brought what this image needs; 0 if all was at hand
 * @property {number} bytes of them
 *
 * @typedef {object} Spectrum ascending in m/z
 * @property {Float64Array} mz
 * @property {Float64Array} intensity
 * @property {'pair' | 'store'} from
 * @property {number} pixels how many acquired pixels it is of
 * @property {number} requests
 * @property {number} bytes
 */

/** One dataset as a segment store. */
export class IonStore {
  /**
   * Reads the store's head: one range of 256 KiB, and a second one where the head is longer.
   *
   * @param {string | URL | Blob | import('./source.js').Source} what
   * @param {object} [options]
   * @param {{imzml: any, ibd: any}} [options.pair] the dataset that was packed: spectra of pixels come from it,
   *   without those that packing has left out
   * @param {number} [options.memory] bytes that this store may use; the instance's budget by default
   * @param {AbortSignal} [options.signal]
   * @returns {Promise<IonStore>}
   */
  static async open(what, { pair, memory = budget(), signal } = {}) {
    const source = sourceOf(what);
    const tally = new Tally();
    const machine = checked(() => new (core().OpenStore)(source.key, memory));
    try {
      await walk(machine, source, { signal, tally });
      const inner = checked(() => machine.store(memory));
      return new IonStore(inner, source, { pair, memory, opening: tally.now() });
    } catch (error) {
      throw told(error);
    } finally {
      release(machine);
    }
  }

  /** @private */
  constructor(inner, source, { pair, memory, opening }) {
    this.inner = inner;
    this.source = source;
    this.memory = memory;
    /** What reading the head cost. */
    this.opening = opening;
    /**
     * What the head says.
     * @type {{width: number, height: number, slices: number[], peaks: number, spectra: number,
     *   mz: [number, number] | null, pixelSize: [number, number] | null, polarity: string, representation: string,
     *   instrument: string | null, source: string, writer: string, origin: [number, number],
     *   counts: Record<string, number>, warnings: string[], bytes: number, blocks: number}}
     */
    this.info = checked(() => inner.describe());
    /** @private @type {PairIndex | null} */
    this.index = null;
    /** @private */
    this.pair = pair ? { imzml: sourceOf(pair.imzml), ibd: sourceOf(pair.ibd) } : null;
    /** @private @type {object | null} */
    this.mean = null;
  }

  /**
   * One ion image.
   * @param {number} mz
   * @param {Tolerance} tolerance
   * @param {ImageOptions} [options]
   * @returns {Promise<IonImage>}
   */
  async image(mz, tolerance, options) {
    const [image] = await this.images([{ mz, ...tolerance }], options);
    return image;
  }

  /**
   * Several ion images, in the order of `wanted`. What several of them need is read once.
   * @param {({mz: number} & Tolerance)[]} wanted
   * @param {ImageOptions} [options]
   * @returns {Promise<IonImage[]>}
   */
  async images(wanted, options = {}) {
    const { slice = 0, normalise = 'none', inFlight = 6, signal } = options;
    signal?.throwIfAborted();
    if (normalise !== 'none') await this.norms(normalise, signal);
    const wish = { slice, normalise, memory: this.memory, in_flight: inFlight };
    const job = checked(() => this.inner.images(flat(wanted), wish));
    const images = new Array(wanted.length);
    const tally = new Tally();
    try {
      for await (const image of run(job, [this.source], { inFlight, signal, tally, memoryBytes })) {
        const { index, ...rest } = image;
        images[index] = { mz: wanted[index].mz, ...rest };
      }
      return images;
    } finally {
      release(job);
    }
  }

  /**
   * What images would cost, before anything is fetched: requests, bytes, peak.
   * @param {({mz: number} & Tolerance)[]} wanted
   * @param {ImageOptions} [options]
   */
  plan(wanted, { slice = 0, normalise = 'none', inFlight = 6 } = {}) {
    const wish = { slice, normalise, memory: this.memory, in_flight: inFlight };
    return checked(() => this.inner.plan(flat(wanted), wish));
  }

  /**
   * Mean and largest intensity over all spectra, in bins of m/z that hold any peak.
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<{mz: Float64Array, mean: Float32Array, max: Float32Array}>}
   */
  async meanSpectrum({ signal } = {}) {
    if (!this.mean) {
      const bytes = await this.table(checked(() => this.inner.bin_table()), signal);
      const [mz, mean, max] = checked(() => this.inner.mean_spectrum(bytes));
      this.mean = { mz, mean, max };
    }
    return this.mean;
  }

  /**
   * The spectrum of one pixel: from the pair where the store was opened with it, otherwise by reading the
   * whole store.
   * @param {number} x column
   * @param {number} y row; 0 is the top one
   * @param {{slice?: number, inFlight?: number, signal?: AbortSignal, onProgress?: (done: Reading) => void}} [options]
   * @returns {Promise<Spectrum>}
   */
  spectrum(x, y, options) {
    return this.spectrumOf({ pixel: [x, y] }, options);
  }

  /**
   * The mean spectrum over the acquired pixels of a rectangle or a polygon.
   * @param {{rect: [number, number, number, number]} | {polygon: [number, number][]}} region `rect` is x0, y0, x1,
   *   y1, half-open; a polygon holds the pixels whose centres (x + ½, y + ½) are inside
   * @param {{slice?: number, inFlight?: number, signal?: AbortSignal, onProgress?: (done: Reading) => void}} [options]
   * @returns {Promise<Spectrum & {mean: Float64Array}>}
   */
  async region(region, options) {
    const found = await this.spectrumOf(region, options);
    return { ...found, mean: found.intensity };
  }

  /** @private */
  async spectrumOf(region, { slice = 0, inFlight = 6, signal, onProgress } = {}) {
    signal?.throwIfAborted();
    const tally = new Tally();
    const wish = { ...numbers(region), slice, memory: this.memory, in_flight: inFlight };
    const index = this.pair ? await this.indexed(signal, tally, onProgress) : null;
    const [from, source] = index ? ['pair', this.pair.ibd] : ['store', this.source];
    const job = checked(() => (index ? index.spectrum(this.inner, wish) : this.inner.spectrum(wish)));
    try {
      const total = job.plan().bytes;
      const before = tally.bytes_payload;
      const progress = onProgress && (() => onProgress({ phase: 'peaks', bytes: tally.bytes_payload - before, total }));
      let found;
      for await (const item of run(job, [source], { inFlight, signal, tally, memoryBytes, onProgress: progress })) found = item;
      return { ...found, from, requests: tally.requests, bytes: tally.bytes_fetched };
    } finally {
      release(job);
    }
  }

  /**
   * What the spectrum of a pixel or a region costs, before any of it is read. From a pair that is known once
   * its index has been read; until then `null`.
   * @param {{pixel: [number, number]} | {rect: [number, number, number, number]} | {polygon: [number, number][]}} [region] the
   *   first pixel by default: any costs the same from a store
   * @param {{slice?: number, inFlight?: number}} [options]
   * @returns {{from: 'pair' | 'store', pixels: number | null, requests: number | null, bytes: number | null}}
   */
  planSpectrum(region = { pixel: [0, 0] }, { slice = 0, inFlight = 6 } = {}) {
    if (this.pair && !this.index) return { from: 'pair', pixels: null, requests: null, bytes: null };
    const wish = { ...numbers(region), slice, memory: this.memory, in_flight: inFlight };
    const job = checked(() => (this.index ? this.index.inner.spectrum(this.inner, wish) : this.inner.spectrum(wish)));
    try {
      return { from: this.index ? 'pair' : 'store', ...job.plan() };
    } finally {
      release(job);
    }
  }

  /** @private The pair's index, read when it is first needed. */
  async indexed(signal, tally, onProgress) {
    this.index ??= await PairIndex.read(this.pair.imzml, this.pair.ibd, {
      signal,
      tally,
      skipBad: this.info.counts.bad_spectra > 0,
      memory: Math.floor(this.memory / 2),
      onProgress: onProgress && ((bytes, total) => onProgress({ phase: 'index', bytes, total })),
    });
    return this.index.inner;
  }

  /** @private Reads the norms once. */
  async norms(kind, signal) {
    const range = checked(() => this.inner.norms_needed(kind));
    if (!range) return;
    const bytes = await this.table(range, signal);
    checked(() => this.inner.take_norms(bytes));
  }

  /** @private */
  async table([start, end], signal) {
    const bytes = await this.source.read(start, end, signal);
    if (bytes.length !== end - start) {
      throw new CoreError('unexpected', `${this.source.key}: byte ${start}: asked for ${end - start} bytes, got ${bytes.length}: the file was cut short`, start);
    }
    return bytes;
  }

  /** Gives the store's memory back to the core. */
  free() {
    release(this.inner);
    this.index?.free();
    this.index = null;
  }

  [Symbol.dispose ?? Symbol.for('dispose')]() {
    this.free();
  }
}

/** `[mz, half-width, 0 for ppm or 1 for Da]` of each window. */
function flat(wanted) {
  return Float64Array.from(wanted.flatMap(({ mz, ppm, da }) => {
    if ((ppm === undefined) === (da === undefined)) throw new CoreError('parameter', `m/z ${mz}: give either ppm or da`);
    return da === undefined ? [mz, ppm, 0] : [mz, da, 1];
  }));
}

/** A region's numbers as the core takes them. */
function numbers(region) {
  return Object.fromEntries(Object.entries(region).map(([name, value]) => [name, Float64Array.from(value.flat())]));
}
