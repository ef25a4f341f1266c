import { IonCompute } from './client.js';
import { IonPlane } from './plane.js';

/** Bytes of images kept at most, so that going back to an ion costs nothing. */
const KEPT_IMAGES = 96 * 2 ** 20;

/** The part of the budget that is the core's of images and packing; the rest is for the workers that annotate. */
const SHARE = 1 / 2;

/**
 * One dataset: what was opened, its images and spectra, and the core that computes them.
 *
 * Events: `opening` {source}, `packing` (how far), `opened`, `closed` {error} when opening failed or was cancelled,
 * `busy`, `retired` {reason}.
 */
export class Session extends EventTarget {
  /** @param {number} memory budget of the page in bytes */
  constructor(memory) {
    super();
    this.memory = memory;
    /** @type {IonCompute | null} */
    this.compute = null;
    this.source = null;
    this.info = null;
    this.mean = null;
    /** @type {Map<string, IonPlane>} the latest ones last */
    this.planes = new Map();
    this.opening = null;
    this.loading = null;
    this.running = 0;
  }

  tell(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** Bytes that the core of images may take; the workers that annotate get as many. */
  get share() {
    return Math.floor(this.memory * SHARE);
  }

  /** The core; a new one when there is none or the last one has stopped. */
  core() {
    if (this.compute) return this.compute;
    const compute = new IonCompute({
      memory: this.share,
      onRetired: (reason) => {
        if (this.compute !== compute) return;
        compute.close();
        this.compute = null;
        this.info = null;
        this.tell('retired', { reason: String(reason) });
      },
    });
    this.compute = compute;
    return compute;
  }

  /** Ends what runs and gives the core back. */
  close() {
    this.opening?.abort();
    this.loading?.abort();
    this.opening = null;
    this.loading = null;
    this.compute?.close();
    this.compute = null;
    this.forget();
  }

  forget() {
    this.info = null;
    this.mean = null;
    this.planes.clear();
  }

  /**
   * Opens a dataset; a pair is packed first. Rejects when cancelled or when it cannot be opened.
   * @param {import('./pair.js').Source} source
   * @param {{memory: number, keep: boolean, skipBad: boolean, first?: (info: object) => {ions: object[], how: object}}} how
   *   the page's budget in bytes (a new one takes a new core), whether the packed store stays on this computer, whether
   *   bad spectra are left out, and the images that will be wanted first: they are fetched along with the mean spectrum
   */
  async open(source, { memory, keep, skipBad, first }) {
    if (memory !== this.memory) this.close();
    this.opening?.abort();
    this.loading?.abort();
    this.forget();
    Object.assign(this, { source, memory });
    const ending = new AbortController();
    this.opening = ending;
    this.tell('opening', { source });
    try {
      const compute = this.core();
      const info = await compute.open(source, {
        keep,
        skipBad,
        signal: ending.signal,
        onProgress: (state) => ending.signal.aborted || this.tell('packing', state),
      });
      ending.signal.throwIfAborted();
      const { ions, how } = first?.(info) ?? { ions: [] };
      // Should they fail, they do again when they are shown, and then it is said.
      const images = ions.length > 0 ? this.images(ions, how).catch(() => {}) : null;
      const mean = await compute.meanSpectrum({ signal: ending.signal });
      await images;
      ending.signal.throwIfAborted();
      if (this.compute !== compute) throw new Error('the core has stopped');
      Object.assign(this, { info, mean });
    } catch (error) {
      if (this.opening === ending) {
        this.opening = null;
        this.tell('closed', { error });
      }
      throw error;
    }
    this.opening = null;
    this.tell('opened');
  }

  /** Stops packing or opening. */
  cancel() {
    this.opening?.abort(new DOMException('cancelled', 'AbortError'));
  }

  /**
   * The images of ions, from memory or from the store; those that are missing share their reads. An earlier call that
   * still runs is ended: only the latest wish counts.
   * @param {{mz: number, ppm?: number, da?: number}[]} ions
   * @param {{slice: number, normalise: string}} how
   * @returns {Promise<IonPlane[]>}
   */
  async images(ions, how) {
    this.loading?.abort();
    const ending = new AbortController();
    this.loading = ending;
    const wishes = ions.map((ion) => ({ ...ion, ...how }));
    const missing = wishes.filter((wish) => !this.planes.has(keyOf(wish)));
    if (missing.length === 0) return wishes.map((wish) => this.touch(keyOf(wish)));
    this.busy(1);
    try {
      const compute = this.core();
      const { signal } = ending;
      const found = missing.length === 1 ? [await compute.image(missing[0], { signal })] : await compute.images(missing, { signal });
      signal.throwIfAborted();
      for (const [i, image] of found.entries()) this.planes.set(keyOf(missing[i]), new IonPlane(image, missing[i]));
      const planes = wishes.map((wish) => this.touch(keyOf(wish)));
      this.trim(planes);
      return planes;
    } finally {
      this.busy(-1);
    }
  }

  /** An image that is held already, or null. */
  held(ion, how) {
    return this.planes.get(keyOf({ ...ion, ...how })) ?? null;
  }

  touch(key) {
    const plane = this.planes.get(key);
    this.planes.delete(key);
    this.planes.set(key, plane);
    return plane;
  }

  trim(used) {
    let held = 0;
    for (const plane of this.planes.values()) held += plane.bytes;
    for (const [key, plane] of this.planes) {
      if (held <= KEPT_IMAGES) return;
      if (used.includes(plane)) continue;
      held -= plane.bytes;
      this.planes.delete(key);
    }
  }

  busy(by) {
    this.running += by;
    this.tell('busy');
  }

  /** Whether another core is needed before anything can be asked. */
  get stopped() {
    return this.compute === null && this.source !== null;
  }
}

function keyOf({ mz, ppm, da, slice, normalise }) {
  return [mz, ppm ?? '', da ?? '', slice, normalise].join(' ');
}
