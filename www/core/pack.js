/** Packing: an imzML pair becomes a segment store, sorted by m/z within the budget. */
import { checked, release, told } from './errors.js';
import { fileSource, MemoryFile } from './files.js';
import { budget, core, memoryBytes, memoryView } from './ions-instance.js';
import { identify, PairIndex } from './pair.js';
import { Breath, run } from './session.js';
import { sourceOf } from './source.js';
import { Tally } from './tally.js';

/** Of the budget, what the index may take at most while it is read. */
const INDEX_SHARE = 0.5;
/** XML that is read in the time that one peak takes to be read or to be sorted, in bytes. */
const XML_A_PEAK = 8;
/** Bytes of the .ibd that a peak takes at most, more or less: for as long as the peaks have not been counted. */
const IBD_A_PEAK = 12;
/** How long a packing goes on before it is said how long it will take, in milliseconds. */
const FORESIGHT = 400;
/** How often progress is told, in milliseconds. */
const BEAT = 100;

/** Numbers of the files that a job writes. */
const [SPILL, STORE, STATE] = [0, 1, 2];

/**
 * @typedef {import('./files.js').RandomFile} RandomFile
 *
 * @typedef {object} Progress
 * @property {string} phase `index` while the XML is read, then those of the job
 * @property {number} done of this phase
 * @property {number} total in the same unit as `done`
 * @property {number} overall part of the whole that is done, 0 to 1; it never goes back
 * @property {number | null} seconds_left of the whole, once there is something to go by
 * @property {number} peak_bytes of the core's memory so far
 *
 * @typedef {object} PackOptions
 * @property {number} [memory] bytes that packing may use; the instance's budget by default
 * @property {number} [inFlight] requests at one time; 6 by default
 * @property {boolean} [skipBad] leaves spectra that cannot be read out, and counts them, in place of failing
 * @property {AbortSignal} [signal]
 */

/**
 * What packing a pair will read, hold and write. Reads the XML, but no peaks.
 *
 * @param {any} imzml URL, Blob or source
 * @param {any} ibd URL, Blob or source
 * @param {PackOptions & {onProgress?: (progress: Progress) => void}} [options]
 * @returns {Promise<object>} spectra, rows, partitions, spill_bytes, requests, payload_bytes,
 *   store_bytes_estimate, peak_bytes, minimum_bytes, warnings
 */
export async function planPack(imzml, ibd, options = {}) {
  const packing = await Packing.open(imzml, ibd, options);
  try {
    return packing.plan;
  } finally {
    packing.free();
  }
}

/**
 * Packs a pair.
 *
 * @param {any} imzml URL, Blob or source
 * @param {any} ibd URL, Blob or source
 * @param {RandomFile} target where the store goes; it is whole when this has resolved
 * @param {PackOptions & {spill?: RandomFile, state?: import('./checkpoint.js').Checkpoint,
 *   onProgress?: (progress: Progress) => void}} [options] `spill` and `state` make it possible to go on after
 *   a cancel or a crash, with the same pair and the same three files; in memory by default
 * @returns {Promise<{report: object}>}
 */
export async function pack(imzml, ibd, target, { spill = new MemoryFile(), state, ...options } = {}) {
  const packing = await Packing.open(imzml, ibd, options);
  try {
    return await packing.into(target, { spill, state });
  } finally {
    packing.free();
  }
}

/** A pair whose index has been read, and the plan of packing it. */
export class Packing {
  /**
   * @param {any} imzml
   * @param {any} ibd
   * @param {PackOptions & {onProgress?: (progress: Progress) => void}} options
   * @returns {Promise<Packing>}
   */
  static async open(imzml, ibd, options) {
    const pair = { imzml: sourceOf(imzml), ibd: sourceOf(ibd) };
    const memory = options.memory ?? budget();
    const tally = new Tally();
    const beat = new Beat(options.onProgress, pair);
    const packing = new Packing(pair, { ...options, memory }, tally, beat);
    await packing.read();
    try {
      packing.plan = checked(() => packing.index.inner.plan(packing.wish));
      beat.counted(packing.plan.rows);
    } catch (error) {
      packing.free();
      throw error;
    }
    packing.identity = await identify(pair.imzml, pair.ibd, options.signal);
    return packing;
  }

  /** @private */
  constructor(pair, options, tally, beat) {
    this.pair = pair;
    /** @type {PairIndex | null} */
    this.index = null;
    /** What packing costs. @type {any} */
    this.plan = null;
    /** What tells this pair from another. */
    this.identity = '';
    this.options = options;
    this.tally = tally;
    this.beat = beat;
    const { memory, inFlight = 6, skipBad = false } = options;
    this.wish = { memory, in_flight: inFlight, skip_bad: skipBad };
  }

  /** @private */
  async read() {
    const { signal, memory, skipBad } = this.options;
    this.index = await PairIndex.read(this.pair.imzml, this.pair.ibd, {
      signal,
      skipBad,
      tally: this.tally,
      memory: Math.floor(memory * INDEX_SHARE),
      onProgress: (done, total) => this.beat.tell('index', done, total),
    });
  }

  /**
   * @param {RandomFile} target
   * @param {{spill: RandomFile, state?: import('./checkpoint.js').Checkpoint}} files
   * @returns {Promise<{report: object}>}
   */
  async into(target, { spill, state }) {
    const job = await this.begin(target, spill, state);
    const { inFlight = 6, signal } = this.options;
    const sources = [this.pair.ibd, fileSource(spill, 'the spill')];
    const breath = new Breath();
    const dirty = new Set();
    const memory = job.memory();
    const { tally } = this;
    try {
      const beat = () => this.beat.job(job);
      const lent = (slot, read) => memoryView(...checked(() => job.place(slot, read)));
      for await (const put of run(job, sources, { inFlight, signal, tally, memoryBytes, lent, borrowed: true, onProgress: beat })) {
        await this.put(put, { target, spill, state, dirty, memory });
        beat();
        await breath.take();
        signal?.throwIfAborted();
      }
      const report = checked(() => job.report());
      await target.truncate(report.store_bytes);
      await target.flush();
      await state?.clear();
      return { report: { ...report, ...tally.now(), peak_bytes: memoryBytes() } };
    } catch (error) {
      throw told(error);
    } finally {
      release(job);
    }
  }

  /** @private The job, gone on with where there is a checkpoint of the same pair. */
  async begin(target, spill, state) {
    const saved = unwrap(await state?.load(), this.identity);
    // Files that were made smaller since, or are others, are no good.
    if (saved && saved.memory <= this.wish.memory && saved.spill <= spill.size && saved.store <= target.size) {
      try {
        return checked(() => this.index.inner.pack({ ...this.wish, memory: saved.memory }, saved.state));
      } catch (error) {
        if (error.code !== 'parameter') throw error;
        // A checkpoint of another version or another plan: nothing is lost but time. The index went with it.
        this.free();
        await this.read();
      }
    }
    await state?.clear();
    await spill.truncate(0);
    await target.truncate(0);
    return checked(() => this.index.inner.pack(this.wish, undefined));
  }

  /** @private Carries out what the job wants written. */
  async put([file, at, pointer, length], { target, spill, state, dirty, memory }) {
    const bytes = memoryView(pointer, length);
    if (file === STATE) {
      if (!state) return;
      const content = wrap(bytes, { identity: this.identity, memory, spill: spill.size, store: target.size });
      // What the checkpoint relies on must be safe before it is.
      for (const written of dirty) await written.flush();
      dirty.clear();
      await state.save(content);
      return;
    }
    const into = file === SPILL ? spill : target;
    dirty.add(into);
    await into.write(at, into.sync ? bytes : bytes.slice());
  }

  free() {
    this.index?.free();
    this.index = null;
  }
}

/**
 * Tells progress now and then, with the time that is left by the pace so far.
 *
 * The phases are parts of one whole: their shares are the work that they take, in peaks. Those of a .ibd are estimated
 * until the index has been read.
 */
class Beat {
  /** @param {((progress: Progress) => void) | undefined} onProgress @param {{imzml: any, ibd: any}} pair sources */
  constructor(onProgress, pair) {
    this.onProgress = onProgress;
    this.last = 0;
    this.phase = '';
    this.began = { time: 0, work: 0 };
    /** Where the run at hand began, and what was done of it then. @private */
    this.start = null;
    this.overall = 0;
    const xml = (pair.imzml.size ?? 0) / XML_A_PEAK;
    this.shares = { index: xml, read: 0, sort: 0 };
    this.counted((pair.ibd.size ?? pair.imzml.size ?? 0) / IBD_A_PEAK);
  }

  /** How many peaks there are. @param {number} peaks */
  counted(peaks) {
    this.shares.read = peaks;
    this.shares.sort = peaks;
  }

  /** @param {any} job */
  job(job) {
    if (!this.onProgress || performance.now() - this.last < BEAT) return;
    const { phase, done, total } = checked(() => job.progress());
    this.tell(phase, done, total);
  }

  tell(phase, done, total) {
    const now = performance.now();
    const { index, read, sort } = this.shares;
    const whole = index + read + sort;
    const [begin, share] = { index: [0, index], read: [index, read], sort: [index + read, sort] }[phase] ?? [whole, 0];
    const end = begin + share;
    const work = begin + share * (total > 0 ? Math.min(1, done / total) : 0);
    if (phase !== this.phase) {
      this.phase = phase;
      this.began = { time: now, work };
      // What was packed by an earlier run says nothing about the pace of this one.
      this.start = this.start && phase !== 'read' ? this.start : { time: now, work };
      this.last = 0;
    }
    if (!this.onProgress || now - this.last < BEAT) return;
    this.last = now;
    this.overall = Math.max(this.overall, whole > 0 ? Math.min(1, work / whole) : 0);
    this.onProgress({ phase, done, total, overall: this.overall, seconds_left: this.left(now, work, end, whole), peak_bytes: memoryBytes() });
  }

  /** @private Seconds: the rest of this phase at its own pace, what comes then at the pace of this run. */
  left(now, work, end, whole) {
    if (now - this.start.time < FORESIGHT) return null;
    const run = (work - this.start.work) / (now - this.start.time);
    const phase = now - this.began.time < FORESIGHT ? run : (work - this.began.work) / (now - this.began.time);
    return run > 0 && phase > 0 ? ((end - work) / phase + (whole - end) / run) / 1000 : null;
  }
}

/** A checkpoint behind what must be known to go on from it. */
function wrap(state, about) {
  const head = new TextEncoder().encode(JSON.stringify(about));
  const content = new Uint8Array(4 + head.length + state.length);
  new DataView(content.buffer).setUint32(0, head.length, true);
  content.set(head, 4);
  content.set(state, 4 + head.length);
  return content;
}

/**
 * The job's part of a checkpoint, the memory that its plan was made for, and the sizes of the files then; nothing
 * where it is of another pair.
 */
function unwrap(content, wanted) {
  if (!content) return undefined;
  const length = new DataView(content.buffer, content.byteOffset).getUint32(0, true);
  const { identity, ...about } = JSON.parse(new TextDecoder().decode(content.subarray(4, 4 + length)));
  return identity === wanted ? { ...about, state: content.slice(4 + length) } : undefined;
}
