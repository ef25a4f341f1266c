/** Tiles on their way and those that have come: as many under way as allowed, as many kept as fit the budget. */
import { Problem } from './asking.js';
import { readPng16 } from './png16.js';

/**
 * A tile's codes, top row first, with the scale that is its own.
 * @typedef {{width: number, height: number, codes: Uint16Array, bzero: number, bscale: number}} Tile
 * What is wanted: `key` names it among all, `url` is where it is.
 * @typedef {{key: string, url: string}} Wish
 */

/** Until a tile that is being computed as a job is asked for again, in milliseconds, where the server does not say. */
const JOB = 5000;

/** Bytes of a tile of 256 × 256 pixels: no more of them are wanted at a time than can be kept. */
const TILE = 2 * 256 * 256 + 128;

export class Loading {
  /**
   * @param {object} parts
   * @param {import('./asking.js').Asking} parts.asking
   * @param {number} parts.edge pixels along a tile
   * @param {() => number} parts.budget bytes of tiles that may be kept
   * @param {(key: string) => void} parts.came a tile is there
   * @param {(problem: Error, key: string) => void} parts.failed a tile cannot be had; it is not asked for again until {@link retry}
   * @param {() => void} parts.moved something began or ended
   */
  constructor(parts) {
    Object.assign(this, parts);
    /** @type {Map<string, Tile | null>} least recently used first; null: there is nothing there */
    this.kept = new Map();
    this.bytes = 0;
    /** @type {Map<string, AbortController>} */
    this.under = new Map();
    /** @type {Wish[]} */
    this.wishes = [];
    /** @type {Map<string, Error>} */
    this.broken = new Map();
    this.timer = 0;
  }

  /** A tile that is there, and counts as used; undefined when it is not there. @param {string} key */
  tile(key) {
    const tile = this.kept.get(key);
    if (tile === undefined) return undefined;
    this.kept.delete(key);
    this.kept.set(key, tile);
    return tile;
  }

  /** Says all that is wanted, most wanted first. What is under way and no longer wanted is aborted. @param {Wish[]} wishes */
  want(wishes) {
    this.wishes = wishes.slice(0, Math.max(1, Math.floor(this.budget() / TILE)));
    const keys = new Set(this.wishes.map(({ key }) => key));
    for (const key of keys) this.tile(key);
    for (const [key, ending] of this.under) {
      if (keys.has(key)) continue;
      this.under.delete(key);
      ending.abort();
    }
    this.next();
  }

  /** How many of the wanted tiles are not there yet. */
  get missing() {
    return this.wishes.filter(({ key }) => !this.kept.has(key) && !this.broken.has(key)).length;
  }

  next() {
    for (const wish of this.wishes) {
      if (this.under.size >= this.asking.most()) break;
      const { key } = wish;
      if (!this.kept.has(key) && !this.under.has(key) && !this.broken.has(key)) this.fetch(wish);
    }
    this.moved();
  }

  async fetch({ key, url }) {
    const ending = new AbortController();
    this.under.set(key, ending);
    try {
      const { status, bytes } = await this.asking.get(url, ending.signal);
      const tile = status === 204 ? null : await readPng16(bytes);
      if (tile && (tile.width !== this.edge || tile.height !== this.edge)) {
        throw new TypeError(`A tile has ${tile.width} × ${tile.height} pixels and not ${this.edge} × ${this.edge}.`);
      }
      if (ending.signal.aborted) return;
      this.under.delete(key);
      this.keep(key, tile);
      this.came(key);
    } catch (error) {
      if (ending.signal.aborted) return;
      this.under.delete(key);
      this.broken.set(key, error);
      if (error instanceof Problem && error.status === 202) this.later(error);
      this.failed(error, key);
    }
    this.next();
  }

  /** A job computes it: all such tiles are asked for again after a while, as long as they are wanted. */
  later({ seconds }) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.retry(), Number.isNaN(seconds) ? JOB : 1000 * seconds);
  }

  /** Asks again for what could not be had. */
  retry() {
    this.broken.clear();
    this.next();
  }

  keep(key, tile) {
    this.kept.set(key, tile);
    this.bytes += sizeOf(tile);
    const most = this.budget();
    for (const [old, kept] of this.kept) {
      if (this.bytes <= most || old === key) return;
      this.kept.delete(old);
      this.bytes -= sizeOf(kept);
    }
  }

  /** Aborts everything and forgets it. */
  close() {
    clearTimeout(this.timer);
    this.want([]);
    this.kept.clear();
    this.broken.clear();
    this.bytes = 0;
  }
}

/** Bytes that a kept tile takes; an empty one takes its place in the list. */
function sizeOf(tile) {
  return (tile?.codes.byteLength ?? 0) + 128;
}
