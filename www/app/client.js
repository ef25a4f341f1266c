/** The page's end of the web worker: calls, events, cancel, and a new worker when one is lost. */
import { absolute, Remote } from '../core/remote.js';

/** One worker with one core, whose memory can never pass `memory` bytes. */
export class Compute extends Remote {
  /**
   * @param {{memory: number, onRetired?: (reason: string) => void}} options `onRetired` is called
   *   once, when the core has trapped and this object is of no more use
   */
  constructor({ memory, onRetired }) {
    super(new Worker(new URL('./compute.js', import.meta.url), { type: 'module' }), onRetired);
    this.memory = memory;
    this.started = this.call('start', { memory });
    this.started.catch(() => {});
  }

  /**
   * Reads all headers. Exposures that cannot be used are listed with the reason.
   * @param {({url: string} | {file: File})[]} entries
   */
  async open(entries, { signal, onExposure, ...options } = {}) {
    await this.started;
    const on = { exposure: ({ index, exposure }) => onExposure?.(index, exposure) };
    const seen = entries.map((entry) => (entry.url ? { ...entry, url: absolute(entry.url) } : entry));
    return this.call('open', { entries: seen, ...options }, { signal, on });
  }

  /** @param {object} wish rect, step, inFlight, memory */
  plan(wish = {}) {
    return this.call('plan', wish);
  }

  /** The median; sections come by `onSection` as they finish. Resolves to the tally. */
  async median(wish = {}, { signal, onSection, onProgress } = {}) {
    const planned = (await this.plan(wish)).payload_bytes;
    return this.call('median', { ...wish, planned }, { signal, on: { section: onSection, progress: onProgress } });
  }

  /** One exposure's own pixels, in the same way. */
  exposure(index, wish = {}, { signal, onSection, onProgress } = {}) {
    return this.call('exposure', { index, ...wish }, { signal, on: { section: onSection, progress: onProgress } });
  }

  /** @returns {Promise<[number, number] | null>} right ascension and declination in degrees */
  sky(x, y) {
    return this.call('sky', { x, y });
  }

  /** @param {Float32Array} samples @returns {Promise<[number, number]>} */
  zscale(samples) {
    return this.call('zscale', { samples });
  }

  /** @returns {Promise<Blob>} a 16-bit PNG */
  png(plane) {
    return this.call('png', plane);
  }

  /** @returns {Promise<Blob>} a FITS file */
  fits(plane) {
    return this.call('fits', plane);
  }
}
