/** Molecules of a list, looked for in a store. */
import { budget, core, memoryBytes } from './annotations-instance.js';
import { checked, isTrap, release, told } from './errors.js';
import { Molecules, readMolecules } from './molecules.js';
import { Breath, run, walk } from './session.js';
import { sourceOf } from './source.js';
import { Tally } from './tally.js';

/** Rows that are turned into objects or text at one time. */
const ROWS = 1024;
/** How often what has been finished is handed out, in milliseconds. */
const SAVE_EVERY = 2000;
/** Of the instance's memory, the part that a run leaves to what comes in pieces that fit nowhere: one in so many. */
const SLACK = 16;

/**
 * @typedef {object} Options of an annotation
 * @property {Molecules | string | URL | Blob | import('./source.js').Source} molecules a list, or where it lies: a string
 *   is an address
 * @property {string} [name] of the list, for messages and provenance; the file's own by default
 * @property {string[]} adducts such as `+H`, `-H2O+H`, `[M]+`: the targets' modifiers
 * @property {number} [decoys] decoy adducts of each target; 20 by default
 * @property {'metaspace-v1' | 'metaspace-v2' | 'metaspace-v3'} [scoring] `metaspace-v3` by default
 * @property {'tof' | 'orbitrap' | 'fticr'} [analyzer] `orbitrap` by default
 * @property {number} [resolvingPower] at m/z 200; 140,000 by default
 * @property {number} [ppm] half-width of the windows; 3 by default
 * @property {boolean} [hotspot] clips images at their 99th percentile before they are scored, as METASPACE can
 * @property {1 | -1} [charge] of the ions; by default as the adducts have it, or else the store; contradictions are warned of
 * @property {number} [slice] index into the store's slices; 0 by default
 *
 * @typedef {object} Info what is looked for
 * @property {number} formulas distinct ones
 * @property {number} molecules named by them
 * @property {{line: number, text: string, what: string}[]} rejected rows of the list that hold no formula: the first ones
 * @property {number} rejectedRows how many there are in all
 * @property {string[]} adducts as they are written in rows
 * @property {1 | -1} charge
 * @property {number} targets formulas times adducts that can be
 * @property {number} decoys
 * @property {number} ions targets and decoys
 * @property {number} impossible formulas times modifiers that take away what is not there
 * @property {string[]} warnings
 *
 * @typedef {object} Saved what has been finished since the save before
 * @property {Uint8Array} targets scores of targets with MSM > 0, as the core writes them
 * @property {Uint8Array} decoys those of decoys
 * @property {number} position up to which everything is in this and earlier saves
 * @property {number} found targets in it
 * @property {number} decoysFound decoys in it
 *
 * @typedef {object} Peak one isotope of a row
 * @property {number} mz
 * @property {number} theory its height, of 100
 * @property {number} total sum of its image
 * @property {number} min smallest value of its image, pixels without a peak (0) among them
 * @property {number} max largest one
 *
 * @typedef {object} Row a target with MSM > 0
 * @property {string} formula as the list has it
 * @property {string} adduct as it was asked for, neutral loss included
 * @property {string} ion its atoms, neutral loss and adduct applied
 * @property {number} mz of the first isotope
 * @property {number} msm
 * @property {number} fdr 0 to 1
 * @property {number} chaos
 * @property {number} spatial
 * @property {number} spectral
 * @property {number} mzErrAbs measured less theoretical m/z of the first isotope, in Da
 * @property {number} mzErrRel that of the other isotopes beyond it
 * @property {Peak[]} peaks up to four, ascending in m/z
 * @property {boolean} overlap whether windows of its isotopes overlap
 * @property {{id: string | null, name: string | null}[]} molecules
 */

/** One store, one list, one set of options. */
export class Annotation {
  /**
   * Reads the store's head and the list.
   *
   * @param {string | URL | Blob | import('./source.js').Source} what a packed `.sectile`
   * @param {Options} options
   * @param {{signal?: AbortSignal}} [how]
   * @returns {Promise<Annotation>}
   */
  static async open(what, options, { signal } = {}) {
    const source = sourceOf(what);
    const tally = new Tally();
    const machine = checked(() => new (core().OpenStore)(source.key, budget()));
    let store;
    try {
      await walk(machine, source, { signal, tally });
      store = checked(() => machine.store(budget()));
      const { polarity } = store.describe();
      const { ions, name } = await ionsOf(options, { store: source.key, polarity }, signal, tally);
      return new Annotation(store, ions, source, { name, opening: tally.now() });
    } catch (error) {
      release(store);
      throw told(error);
    } finally {
      release(machine);
    }
  }

  /** @private */
  constructor(store, ions, source, { name, opening }) {
    this.store = store;
    this.ions = ions;
    this.source = source;
    this.name = name;
    /** What reading head and list cost. */
    this.opening = opening;
    /** @type {Info} */
    this.info = checked(() => ions.describe());
    /**
     * Of the list, the options and the store's head, which has a checksum of each block: what was finished under one
     * identity must not be mixed with what was under another.
     * @type {string}
     */
    this.identity = checked(() => ions.fingerprint(store));
    /** @private What was taken; it lies outside the core's budget. @type {{targets: Uint8Array, decoys: Uint8Array}[]} */
    this.saves = [];
    /** @private What it comes to, until more is taken. */
    this.made = null;
  }

  /**
   * Ranges of the ions' order, about as many as asked for, that can be run apart from each other.
   * @param {number} count
   * @returns {[number, number][]}
   */
  shards(count) {
    const flat = checked(() => this.ions.shards(count));
    return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]);
  }

  /**
   * What a run will cost, before anything is fetched: batches, blocks, requests, bytes, peak, minimum. It takes as
   * long as the isotope patterns of the shard; the minimum of an empty one is that of any, at once.
   * @param {{shard?: [number, number], memory?: number, inFlight?: number}} [wish] all ions and the instance's budget by default
   */
  plan({ shard = [0, this.info.ions], memory = usual(), inFlight = 6 } = {}) {
    return checked(() => this.ions.plan(this.store, ...shard, { memory, in_flight: inFlight }));
  }

  /**
   * Scores the ions of a shard.
   *
   * @param {object} [options]
   * @param {[number, number]} [options.shard] all ions by default
   * @param {number} [options.from] position to go on from: that of the last save
   * @param {number} [options.memory] budget in bytes; the instance's by default
   * @param {number} [options.inFlight] requests at one time; 6 by default
   * @param {AbortSignal} [options.signal] ends it at once
   * @param {AbortSignal} [options.halt] ends it, without an error, at the next position where everything can be saved
   * @param {number} [options.saveEvery] milliseconds between saves; 2,000 by default
   * @param {(done: {ions: number, tally: object}) => void} [options.onProgress] ions done of this run
   * @param {(saved: Saved) => void} [options.onSave] gets what is finished, in place of {@link take}
   * @returns {Promise<{position: number, tally: object}>}
   */
  async run(options = {}) {
    const { shard = [0, this.info.ions], from = shard[0], memory = usual(), inFlight = 6, signal, halt, saveEvery = SAVE_EVERY } = options;
    const { onProgress, onSave = (saved) => this.take(saved) } = options;
    const tally = new Tally();
    const breath = new Breath();
    const job = checked(() => this.ions.annotate(this.store, ...shard, from, { memory, in_flight: inFlight }));
    const stop = () => checked(() => job.stop_soon());
    if (halt?.aborted) stop();
    halt?.addEventListener('abort', stop, { once: true });
    let ions = 0;
    let last = performance.now();
    try {
      for await (const item of run(job, [this.source], { inFlight, signal, tally, memoryBytes })) {
        if (item.targets) {
          onSave(item);
          last = performance.now();
        } else {
          ions += item.ions;
          onProgress?.({ ions, tally });
          if (performance.now() - last >= saveEvery) {
            checked(() => job.save_soon());
            last = performance.now();
          }
        }
        await breath.take();
      }
      tally.peak_bytes = memoryBytes();
      return { position: checked(() => job.position()), tally: tally.now() };
    } catch (error) {
      if (!isTrap(error)) rescue(job, onSave);
      throw error;
    } finally {
      halt?.removeEventListener('abort', stop);
      release(job);
    }
  }

  /**
   * Takes what a run has saved, here or in another realm; the order does not matter.
   * @param {{targets: Uint8Array, decoys: Uint8Array}} saved
   */
  take({ targets, decoys }) {
    this.forget();
    this.saves.push({ targets, decoys });
  }

  /**
   * What all that was taken comes to: scores and the false discovery rate of each target with MSM > 0.
   * Several runs may have been taken; more may be, and then it is asked for again.
   * @returns {{rows: Row[], warnings: string[]}}
   */
  results() {
    const found = this.found();
    const rows = pieces(found, (from, to) => found.rows(from, to)).flat();
    return { rows, warnings: checked(() => found.warnings()) };
  }

  /** The rows as the command line's `results.csv`. @returns {Blob} */
  csv() {
    const found = this.found();
    return new Blob([checked(() => found.csv_head()), ...pieces(found, (from, to) => found.csv_rows(from, to))], { type: 'text/csv' });
  }

  /** The rows and where they come from, as the command line's `annotations.json`. @returns {Blob} */
  json() {
    const found = this.found();
    const rows = pieces(found, (from, to) => found.json_rows(from, to));
    return new Blob([checked(() => found.json_head()), ...rows, checked(() => found.json_tail())], { type: 'application/json' });
  }

  /** @private */
  found() {
    if (this.made) return this.made;
    const table = checked(() => this.ions.table(usual()));
    try {
      for (const { targets, decoys } of this.saves) checked(() => table.take(targets, decoys));
      this.made = checked(() => this.ions.results(table, this.store, this.name));
      return this.made;
    } finally {
      release(table);
    }
  }

  /** @private */
  forget() {
    release(this.made ?? undefined);
    this.made = null;
  }

  /** Gives its memory back to the core. */
  free() {
    this.forget();
    this.saves = [];
    release(this.ions);
    release(this.store);
  }

  [Symbol.dispose ?? Symbol.for('dispose')]() {
    this.free();
  }
}

/**
 * What would be looked for, and which rows of the list hold no formula, without a store.
 * @param {Options['molecules']} molecules
 * @param {Omit<Options, 'molecules'>} options
 * @param {{signal?: AbortSignal}} [how]
 * @returns {Promise<Info>}
 */
export async function checkAnnotation(molecules, options, { signal } = {}) {
  const { ions } = await ionsOf({ ...options, molecules }, {}, signal, new Tally());
  try {
    return checked(() => ions.describe());
  } finally {
    release(ions);
  }
}

/** All ions of a list, as the options wish. */
async function ionsOf({ molecules, name, ...options }, { store, polarity }, signal, tally) {
  const list = molecules instanceof Molecules ? molecules : await readMolecules(molecules, { name, signal });
  if (list !== molecules) {
    tally.requests += list.reading.requests;
    tally.bytes_fetched += list.reading.bytes_fetched;
  }
  const { adducts, decoys, scoring, analyzer, resolvingPower, ppm, hotspot, charge, slice } = options;
  try {
    const wish = { adducts, decoys, scoring, analyzer, resolving_power: resolvingPower, ppm, hotspot, charge, slice, store, polarity };
    return { ions: checked(() => new (core().Ions)(list.inner, wish, budget())), name: name ?? list.name };
  } finally {
    if (list !== molecules) list.free();
  }
}

/** Hands out what was finished before something went wrong. */
function rescue(job, onSave) {
  try {
    job.save_soon();
    const item = job.ready();
    if (item?.targets) onSave(item);
  } catch {
    // What went wrong first is what matters.
  }
}

/** What is made of some rows at a time, of all of them. */
function pieces(found, make) {
  const length = checked(() => found.length());
  return Array.from({ length: Math.ceil(length / ROWS) }, (_, i) => checked(() => make(i * ROWS, Math.min(length, (i + 1) * ROWS))));
}

/** The budget of a run. */
function usual() {
  return budget() - Math.floor(budget() / SLACK);
}
