/** One run of an annotation: its workers, the shards that they pull, and how far all of it is. */
import { CoreError } from '../../core/errors.js';
import { Hand } from './hand.js';
import { Ledger } from './ledger.js';

/** Bytes below which a worker is not worth starting. */
const LEAST_SHARE = 16 << 20;
/** Shards a worker, so that all of them end at about the same time; and the fewest ions that make one. */
const [SHARDS_A_WORKER, LEAST_SHARD] = [6, 4096];
/** Requests at one time, of all workers together; and the fewest of one, so that it computes while it reads. */
const [IN_FLIGHT, LEAST_IN_FLIGHT] = [6, 2];
/** How long workers may take to hand in what they have finished when they are to stop, in milliseconds. */
const GRACE = 700;
/** How long a run goes on before its time is guessed, in milliseconds. */
const SETTLE = 1500;

export class Pool {
  /**
   * @param {{memory: number, workers: number, shards?: number, what: object, signal: AbortSignal,
   *   onProgress?: (progress: import('../annotator.js').Progress) => void, kept: Ledger | null}} options
   */
  constructor({ memory, workers, shards, what, signal, onProgress, kept }) {
    this.memory = memory;
    this.workers = Math.max(1, Math.min(workers, Math.floor(memory / LEAST_SHARE)));
    this.cut = shards;
    this.what = what;
    this.signal = signal;
    this.onProgress = onProgress ?? (() => {});
    /** What an earlier run left, or this one has so far. @type {Ledger | null} */
    this.ledger = kept;
    /** @type {(Hand | null)[]} */
    this.hands = [];
    /** The largest memory of each place's workers. @type {number[]} */
    this.peaks = [];
    /** Ions done of the shards at work, beyond what has been saved. @type {Map<object, number>} */
    this.ahead = new Map();
    this.cost = { requests: 0, bytes: 0 };
    /** Why the run ends early. @type {{error: unknown} | null} */
    this.failure = null;
    /** When the ions were begun with, and how many were done by then. @type {{at: number, done: number} | null} */
    this.begun = null;
    this.started = performance.now();
  }

  async run() {
    const cancel = () => this.fail(this.signal.reason);
    this.signal.addEventListener('abort', cancel, { once: true });
    try {
      return await this.through();
    } catch (error) {
      throw this.failure ? this.failure.error : error;
    } finally {
      this.signal.removeEventListener('abort', cancel);
    }
  }

  /** @private */
  async through() {
    const opened = await this.begin();
    const { info, identity } = opened;
    this.what = { ...this.what, name: opened.name, molecules: { file: opened.molecules } };
    this.info = info;
    if (this.ledger?.identity !== identity) this.ledger = new Ledger(identity, opened.shards);
    this.ledger.rest();
    await this.annotate();
    this.tell('fdr');
    const { rows, warnings, csv, json } = await this.hands.find(Boolean).results(this.ledger.saves);
    const run = {
      info,
      rows,
      warnings,
      seconds: (performance.now() - this.started) / 1000,
      ...this.cost,
      peakBytes: this.peak(),
      workers: this.workers,
      shards: this.ledger.shards.length,
    };
    return { run, files: { csv, json } };
  }

  /**
   * The first worker, opened with its share of the budget; where a share is too small for the plan, fewer workers
   * get larger ones.
   * @private
   */
  async begin() {
    for (;;) {
      try {
        return await this.open(0, ({ phase, done, total }) => this.tell(phase, done, total));
      } catch (error) {
        if (this.failure || error.code !== 'budget' || this.workers === 1) throw error;
        this.workers = Math.floor(this.workers / 2);
      }
    }
  }

  /** @private A fresh worker in this place, with everything opened. */
  async open(place, onProgress) {
    this.leave(place);
    const hand = new Hand(Math.floor(this.memory / this.workers));
    this.hands[place] = hand;
    const most = this.cut ?? (this.workers === 1 ? 1 : SHARDS_A_WORKER * this.workers);
    const cut = { most, least: this.cut ? 1 : LEAST_SHARD };
    const inFlight = Math.max(LEAST_IN_FLIGHT, Math.floor(IN_FLIGHT / this.workers));
    const opened = await hand.open({ ...this.what, cut, inFlight }, { onProgress });
    this.spent(opened);
    return opened;
  }

  /** @private */
  spent({ requests, bytes }) {
    this.cost.requests += requests;
    this.cost.bytes += bytes;
  }

  /** @private Ends the worker of a place. */
  leave(place) {
    const hand = this.hands[place];
    if (!hand) return;
    this.peaks[place] = Math.max(this.peaks[place] ?? 0, hand.peak);
    hand.close();
    this.hands[place] = null;
  }

  /** @private All that is left of the ions, by all workers. */
  async annotate() {
    this.begun = { at: performance.now(), done: this.ledger.done };
    this.report();
    const all = Array.from({ length: this.workers }, (_, place) => this.work(place).catch((error) => this.fail(error)));
    await Promise.all(all);
    if (this.failure) throw this.failure.error;
  }

  /** @private One worker: opened unless it is the first, then shard after shard. */
  async work(place) {
    for (let shard = this.ledger.next(); shard && !this.failure; shard = this.ledger.next()) {
      try {
        if (!this.hands[place]) await this.same(place);
        await this.shard(this.hands[place], shard);
      } catch (error) {
        if (this.failure || error.code !== 'retired') throw error;
        this.again(place, shard, error);
      } finally {
        shard.taken = false;
        this.ahead.delete(shard);
      }
    }
  }

  /** @private A worker that must see the same as the first. */
  async same(place) {
    const { identity } = await this.open(place);
    if (identity !== this.ledger.identity) {
      throw new CoreError('changed', 'the store was changed while it was read; start again');
    }
  }

  /** @private */
  async shard(hand, shard) {
    const ended = await hand.run({ from: shard.from, to: shard.to, position: shard.position }, {
      onSave: (saved) => {
        this.ledger.take(shard, saved);
        this.ahead.delete(shard);
        this.report();
      },
      onProgress: ({ ions }) => {
        this.ahead.set(shard, ions);
        this.report();
      },
    });
    this.spent(ended);
  }

  /** @private After a worker was lost over a shard: once more by a fresh one, from where it was saved last. */
  again(place, shard, error) {
    this.leave(place);
    shard.lost += 1;
    if (shard.lost < 2) return;
    const { position, to } = shard;
    throw new CoreError('retired', `ions ${position} to ${to}: two workers in a row were lost (${error.message}); what was finished is kept: run it again with more memory or fewer workers`);
  }

  /** @private The run ends early: every worker hands in what it has finished, but has not long for it. */
  fail(error) {
    if (this.failure) return;
    this.failure = { error };
    if (!this.begun) {
      this.close();
      return;
    }
    for (const hand of this.hands) hand?.stop();
    this.ending = setTimeout(() => this.close(), GRACE);
  }

  /** Ends all workers at once. */
  close() {
    clearTimeout(this.ending);
    for (const place of this.hands.keys()) this.leave(place);
  }

  /** @private */
  peak() {
    const now = this.hands.map((hand, place) => Math.max(hand?.peak ?? 0, this.peaks[place] ?? 0));
    return now.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** @private How far the ions are. */
  report() {
    let { done } = this.ledger;
    for (const ions of this.ahead.values()) done += ions;
    this.tell('ions', done, this.ledger.total);
  }

  /** @private */
  tell(phase, done = 0, total = 0) {
    const { targets = 0, decoys = 0 } = this.ledger ?? {};
    const secondsLeft = phase === 'ions' ? this.secondsLeft(done, total) : null;
    this.onProgress({ phase, done, total, secondsLeft, targets, decoys, ...(this.info ? { info: this.info } : {}) });
  }

  /** @private By the pace of this run so far. */
  secondsLeft(done, total) {
    const spent = performance.now() - this.begun.at;
    const won = done - this.begun.done;
    return spent < SETTLE || won <= 0 ? null : (spent / 1000) * ((total - done) / won);
  }
}
