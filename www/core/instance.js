/**
 * The wasm instances of this realm: one of each kind at most, each with one memory whose maximum is
 * its budget.
 *
 * A binding keeps its state at module level, so there is one instance of a kind a realm. Several
 * budgets side by side live in several web workers; that is also the only way to give memory back.
 */
import { CoreError } from './errors.js';

/** Pages that every module starts with; the build's linker is told the same number. */
const INITIAL_PAGES = 6;
const PAGE = 65536;
/** Below this not even headers can be read. */
const LEAST = 2 << 20;
/** The modules declare at most 1 GiB: no pointer ever has its top bit set. */
const MOST = 1 << 30;

/** The instances that run, in the order in which they were started. @type {Instance[]} */
const running = [];

/** One kind of core: its binding, where its wasm lies, and the instance once it is started. */
export class Instance {
  /**
   * @param {string} kind for messages
   * @param {{default: Function}} binding the module that wasm-bindgen wrote
   * @param {URL} place of its wasm
   */
  constructor(kind, binding, place) {
    this.kind = kind;
    this.binding = binding;
    this.place = place;
    /** @type {WebAssembly.Memory | undefined} */
    this.memory = undefined;
    /** @type {number} */
    this.budget = 0;
    /** @type {Promise<void> | undefined} */
    this.starting = undefined;
  }

  /**
   * Starts the core. Calling it again does nothing, whatever is passed.
   *
   * @param {object} [options]
   * @param {WebAssembly.Module | URL | Request | string | BufferSource} [options.module] the compiled
   *   module or where it lies; beside this library by default
   * @param {number} [options.memory] the budget in bytes: the instance can never hold more;
   *   256 MiB by default
   * @returns {Promise<void>}
   */
  init({ module, memory = 256 * 1024 * 1024 } = {}) {
    this.starting ??= this.start(module, memory);
    return this.starting;
  }

  /** @private */
  async start(module, budget) {
    if (!(budget >= LEAST)) {
      throw new CoreError('budget', `the memory budget is ${budget} bytes; the program alone needs ${LEAST >> 20} MiB`);
    }
    const pages = Math.floor(Math.min(budget, MOST) / PAGE);
    const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: pages });
    await this.binding.default({ module_or_path: module ?? this.place, memory });
    this.memory = memory;
    this.budget = pages * PAGE;
    running.push(this);
  }

  /** Gives the instance up, after a trap: it is asked for nothing any more. */
  retire() {
    this.memory = undefined;
    const at = running.indexOf(this);
    if (at >= 0) running.splice(at, 1);
  }

  /** The binding's exports; an error if {@link init} has not been called. */
  core() {
    if (!this.memory) throw new CoreError('parameter', `call init() of ${this.kind} and wait for it first`);
    return this.binding;
  }

  /** Bytes of linear memory. It never shrinks, so this is the peak. */
  memoryBytes() {
    return this.memory?.buffer.byteLength ?? 0;
  }
}

/** A running core of any kind, for what all of them can do. */
export function anyCore() {
  if (running.length === 0) throw new CoreError('parameter', 'call init() and wait for it first');
  return running[0].binding;
}
