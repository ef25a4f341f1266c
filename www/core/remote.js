/** The page's end of a web worker with a core: calls, events, cancel, and its end when the core is lost. */
import { CoreError } from './errors.js';

/** One worker; {@link answer} is its other end. */
export class Remote {
  /**
   * @param {Worker} worker
   * @param {(reason: string) => void} [onRetired] called once, when the core has trapped and this
   *   object is of no more use
   */
  constructor(worker, onRetired) {
    this.onRetired = onRetired;
    this.calls = new Map();
    this.next = 1;
    /** @type {string | null} */
    this.retired = null;
    this.take(worker);
  }

  /** @protected Goes on with this worker; what runs in the one before is stopped at once. @param {Worker} worker */
  take(worker) {
    if (this.worker) this.close();
    /** @type {Worker} */
    this.worker = worker;
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.retire(event.message ?? 'the worker could not be started');
    };
  }

  /** Ends the worker; whatever runs is stopped at once. */
  close() {
    this.worker.terminate();
    this.settle(new DOMException('closed', 'AbortError'));
  }

  /**
   * @protected
   * @param {string} call
   * @param {object} [args]
   * @param {{signal?: AbortSignal, on?: Record<string, ((data: any) => void) | undefined>}} [options]
   * @returns {Promise<any>}
   */
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

/** An address is meant as seen from the page, not from the worker's script. */
export function absolute(url) {
  return URL.canParse(url, document.baseURI) ? new URL(url, document.baseURI).href : url;
}
