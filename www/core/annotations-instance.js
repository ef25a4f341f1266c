/** The core of annotation: module and memory of this realm. */
import * as binding from '../pkg/annotate/annotate.js';
import { Instance } from './instance.js';

const annotations = new Instance('annotations', binding, new URL('../pkg/annotate/annotate_bg.wasm', import.meta.url));

/**
 * Starts the core. Calling it again does nothing, whatever is passed.
 *
 * @param {object} [options]
 * @param {WebAssembly.Module | URL | Request | string | BufferSource} [options.module] the compiled
 *   module or where it lies; beside this file by default
 * @param {number} [options.memory] the budget in bytes: the instance can never hold more;
 *   256 MiB by default
 * @returns {Promise<void>}
 */
export function init(options) {
  return annotations.init(options);
}

/** The core's exports; an error if {@link init} has not been called. */
export function core() {
  return annotations.core();
}

/** Bytes of linear memory. It never shrinks, so this is the peak. */
export function memoryBytes() {
  return annotations.memoryBytes();
}

/** Bytes that this realm's core can ever hold. */
export function budget() {
  return annotations.budget;
}
