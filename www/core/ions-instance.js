/** The core of ion images: module and memory of this realm. */
import * as binding from '../pkg/ions/ions.js';
import { Instance } from './instance.js';

const ions = new Instance('ion images', binding, new URL('../pkg/ions/ions_bg.wasm', import.meta.url));

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
  return ions.init(options);
}

/** The core's exports; an error if {@link init} has not been called. */
export function core() {
  return ions.core();
}

/** Bytes of linear memory. It never shrinks, so this is the peak. */
export function memoryBytes() {
  return ions.memoryBytes();
}

/** Bytes that this realm's core can ever hold. */
export function budget() {
  return ions.budget;
}

/**
 * A part of the core's memory, until it grows: to be used before anything else is asked of the core.
 * @param {number} pointer
 * @param {number} length
 */
export function memoryView(pointer, length) {
  return new Uint8Array(ions.memory.buffer, pointer, length);
}
