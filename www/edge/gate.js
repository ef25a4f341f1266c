/** What one isolate may hold: linear memory by plan, and bytes of JavaScript by count. */
import { CoreError } from '../core/errors.js';

/** Longest that anything may keep its place: a request whose client has gone may never come to give it back. */
const LEASE = 60_000;

/** Lets work in while what all of it plans to hold fits; the rest waits in the order in which it came. */
export class Gate {
  /** @param {number} room bytes @param {{most: number, wait: number}} queue its length, and the longest wait in ms */
  constructor(room, { most, wait }) {
    Object.assign(this, { room, most, wait });
    /** @type {Map<object, {bytes: number, until: number}>} */
    this.inside = new Map();
    /** @type {{bytes: number, admit: () => void}[]} */
    this.queue = [];
    this.peak = 0;
  }

  /** Bytes of all that is inside. */
  get held() {
    let sum = 0;
    for (const [pass, { bytes, until }] of this.inside) {
      if (until < Date.now()) this.inside.delete(pass);
      else sum += bytes;
    }
    return sum;
  }

  /**
   * Waits for room.
   * @param {number} bytes
   * @param {number} [lease] the longest that it keeps its place, in ms
   * @returns {Promise<() => void>} gives the place back; calling it again does nothing
   */
  async enter(bytes, lease) {
    if (this.queue.length === 0 && this.held + bytes <= this.room) return this.hold(bytes, lease);
    if (bytes > this.room || this.queue.length >= this.most) throw busy();
    return this.turn(bytes, lease);
  }

  /** Counts bytes that are there already, whether there is room or not; otherwise as {@link enter}. */
  hold(bytes, lease = LEASE) {
    const pass = {};
    this.inside.set(pass, { bytes, until: Date.now() + lease });
    this.peak = Math.max(this.peak, this.held);
    return () => {
      if (this.inside.delete(pass)) this.next();
    };
  }

  /** @private */
  turn(bytes, lease) {
    return new Promise((resolve, reject) => {
      const admit = () => {
        clearTimeout(timer);
        // Held at once: others may leave, and let more in, before whoever waits here has heard of it.
        resolve(this.hold(bytes, lease));
      };
      const place = { bytes, admit };
      const timer = setTimeout(() => {
        this.queue = this.queue.filter((other) => other !== place);
        reject(busy());
        this.next();
      }, this.wait);
      this.queue.push(place);
    });
  }

  /** @private */
  next() {
    while (this.queue.length > 0 && this.held + this.queue[0].bytes <= this.room) this.queue.shift().admit();
  }
}

function busy() {
  return new CoreError('busy', 'this place computes as much as it can hold; ask again in a moment');
}
