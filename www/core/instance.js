/**
 * The wasm instance of this realm: one module, one memory, whose maximum is the budget.
 *
 * The binding keeps its state at module level, so there is one instance a realm. Several budgets
 * side by side live in several web workers; that is also the only way to give memory back.
 */
import glue, * as exports from '../pkg/sectile.js';
import { CoreError } from './errors.js';

/** Pages that the module starts with; the build's linker is told the same number. */
const INITIAL_PAGES = 6;
const PAGE = 65536;
/** Below this not even headers can be read. */
const LEAST = 2 << 20;
/** The module declares at most 1 GiB: no pointer ever has its top bit set. */
const MOST = 1 << 30;

/** @type {WebAssembly.Memory | undefined} */
let memory;
/** @type {Promise<void> | undefined} */
let starting;

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
export function init({ module, memory: budget = 256 * 1024 * 1024 } = {}) {
  starting ??= start(module, budget);
  return starting;
}

async function start(module, budget) {
  const pages = Math.floor(Math.min(budget, MOST) / PAGE);
  if (!(budget >= LEAST)) {
    throw new CoreError('budget', `the memory budget is ${budget} bytes; the program alone needs ${LEAST >> 20} MiB`);
  }
  memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: pages });
  const module_or_path = module ?? new URL('../pkg/sectile_bg.wasm', import.meta.url);
  await glue({ module_or_path, memory });
}

/** The core's exports; an error if {@link init} has not been called. */
export function core() {
  if (!memory) throw new CoreError('parameter', 'call init() and wait for it first');
  return exports;
}

/** Bytes of linear memory. It never shrinks, so this is the peak. */
export function memoryBytes() {
  return memory?.buffer.byteLength ?? 0;
}
