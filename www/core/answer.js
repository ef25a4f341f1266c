/**
 * A web worker's end of the calls that {@link import('./remote.js').Remote} makes.
 *
 * Messages in: `{id, call, args}` and `{id, cancel: true}`. Messages out: `{id, event, data}` while
 * a call runs, then `{id, result}` or `{id, error}`; `{retired}` when the instance is lost.
 */
import { CoreError, isTrap } from './errors.js';

/**
 * @typedef {object} Context
 * @property {AbortSignal} signal
 * @property {(event: string, data: any, transfer?: Transferable[]) => void} tell
 */

/** A result whose buffers go over to the page and are lost here. */
export class Handover {
  /**
   * @param {any} result
   * @param {Transferable[]} transfer
   */
  constructor(result, transfer) {
    this.result = result;
    this.transfer = transfer;
  }
}

/**
 * Answers calls by these functions.
 * @param {Record<string, (args: any, context: Context) => any>} calls
 */
export function answer(calls) {
  /** @type {Map<number, AbortController>} */
  const running = new Map();
  self.onmessage = async ({ data: { id, call, args, cancel } }) => {
    if (cancel) {
      running.get(id)?.abort(new DOMException('cancelled', 'AbortError'));
      return;
    }
    const controller = new AbortController();
    running.set(id, controller);
    const tell = (event, data, transfer = []) => self.postMessage({ id, event, data }, transfer);
    try {
      const result = await calls[call](args ?? {}, { signal: controller.signal, tell });
      if (result instanceof Handover) self.postMessage({ id, result: result.result }, result.transfer);
      else self.postMessage({ id, result });
    } catch (error) {
      // A core that has trapped answers no call any more, this one included.
      if (isTrap(error)) self.postMessage({ retired: plain(error).message });
      else self.postMessage({ id, error: plain(error) });
    } finally {
      running.delete(id);
    }
  };
}

/** Errors as plain data: a page shows their text as text. */
function plain(error) {
  if (error instanceof CoreError) return { code: error.code, message: error.message, at: error.at };
  if (error?.name === 'AbortError') return { code: 'aborted', message: 'cancelled' };
  return { code: 'internal', message: String(error?.message ?? error) };
}
