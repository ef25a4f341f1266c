/** One instance of the core, and what is open in it. */
import binding from '../pkg/edge/edge.js';
import module from '../pkg/edge/edge_bg.wasm';
import { CoreError } from '../core/errors.js';
import { Instance } from '../core/instance.js';

/** Half of what the platform gives an isolate: the other half is JavaScript's, and room to start anew. */
export const MEMORY = 64 << 20;

/** Milliseconds after which it is not believed any more that something is still being done; none may take as long. */
const LONGEST = 60_000;

/** After a trap all of it is given up at once: who waits is told so, and nothing calls into the instance again. */
export class Engine {
  static async start() {
    const core = binding();
    const instance = new Instance('the edge', { ...core, default: core }, undefined);
    await instance.init({ module, memory: MEMORY });
    return new Engine(core, instance);
  }

  /** @private */
  constructor(core, instance) {
    this.core = core;
    this.instance = instance;
    this.lost = false;
    /** The sources of open datasets, those used last at the end. @type {Map<string, any[]>} */
    this.sources = new Map();
    /** What is being done for all who want it. @type {Map<string, {until: number, done: Promise<any>}>} */
    this.flights = new Map();
    /** @type {Set<(reason: Error) => void>} */
    this.waiting = new Set();
  }

  /** Waits for work, but not longer than that and not longer than the instance lives: a trap settles no promise. */
  within(milliseconds, work) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(this.late(milliseconds)), milliseconds);
      this.waiting.add(reject);
      work.then(resolve, reject).finally(() => {
        clearTimeout(timer);
        this.waiting.delete(reject);
      });
    });
  }

  /** What is told of work that took too long. @param {number} milliseconds */
  late(milliseconds) {
    return new CoreError('busy', `it was not done within ${milliseconds / 1000} s; ask again`);
  }

  /** Does a thing once for all who want it at the same time. @param {string} what @param {() => Promise<any>} work */
  once(what, work) {
    const flight = this.flights.get(what);
    // One whose request the platform has ended never ends: nobody joins it for ever.
    if (flight && Date.now() < flight.until) return flight.done;
    const own = { until: Date.now() + LONGEST, done: undefined };
    own.done = work().finally(() => this.flights.get(what) === own && this.flights.delete(what));
    this.flights.set(what, own);
    return own.done;
  }

  /** A job of the core that refuses to go on once the instance is lost. */
  guarded(job) {
    const call = (name) => (...given) => {
      if (this.lost) throw gone();
      return job[name](...given);
    };
    return new Proxy(job, { get: (_, name) => call(name) });
  }

  /** Gives the instance up, and tells all who wait; hands back what they are told. */
  retire() {
    this.lost = true;
    this.instance.retire();
    for (const reject of this.waiting) reject(gone());
    return gone();
  }
}

function gone() {
  return new CoreError('retired', 'the core has stopped and is started anew; ask again');
}
