/** The page's end of the web worker: calls, events, cancel, and a new worker when one is lost. */
import { CoreError } from '../core/errors.js';

/** One worker with one core, whose memory can never pass `memory` bytes. */
export class Compute {
  /**
   * @param {{memory: number, onRetired?: (reason: string) => void}} options `onRetired` is called
   *   once, when the core has trapped and this object is of no more use
   */
  constructor({ memory, onRetired }) {
    this.memory = memory;
    this.onRetired = onRetired;
    this.calls = new Map();
    this.next = 1;
    /** @type {string | null} */
    this.retired = null;
    this.worker = new Worker(new URL('./compute.js', import.meta.url), { type: 'module' });
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.retire(event.message ?? 'the worker could not be started');
    };
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
    // An address is meant as seen from the page, not from the worker's script.
    const absolute = (url) => (URL.canParse(url, document.baseURI) ? new URL(url, document.baseURI).href : url);
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

  /** Ends the worker; whatever runs is stopped at once. */
  close() {
    this.worker.terminate();
    this.settle(new DOMException('closed', 'AbortError'));
  }

  /** @private */
  call(call, args, { signal, on = {} } = {}) {
    if (this.retired) return Promise.reject(new CoreError('retired', this.retired));
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.next++;
    return new Promise((resolve, reject) => {
      const cancel = () => this.worker.postMessage({ id, cancel: true });
      signal?.addEventListener('abort', cancel, { once: true });
      const done = () => signal?.removeEventListener('abort', cancel);
      this.calls.set(id, { resolve, reject, on, done });
      this.worker.postMessage({ id, call, args });
    });
  }

  /** @private */
  receive({ id, event, data, result, error, retired }) {
    if (retired) {
      this.retire(retired);
      return;
    }
    const call = this.calls.get(id);
    if (!call) return;
    if (event) {
      call.on[event]?.(data);
      return;
    }
    this.calls.delete(id);
    call.done();
    if (!error) call.resolve(result);
    else if (error.code === 'aborted') call.reject(new DOMException('cancelled', 'AbortError'));
    else call.reject(new CoreError(error.code, error.message, error.at));
  }

  /** @private A core that has trapped is never used again. */
  retire(reason) {
    if (this.retired) return;
    this.retired = `the core has stopped (${reason}); start a new one`;
    this.worker.terminate();
    this.settle(new CoreError('retired', this.retired));
    this.onRetired?.(this.retired);
  }

  /** @private */
  settle(error) {
    for (const { reject, done } of this.calls.values()) {
      done();
      reject(error);
    }
    this.calls.clear();
  }
}
