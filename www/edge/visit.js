/** One request: what it asks, and what it has cost. */
import { Tally } from '../core/tally.js';

export class Visit {
  /** @param {Request} request @param {ExecutionContext} context */
  constructor(request, context) {
    this.request = request;
    this.context = context;
    this.tally = new Tally();
    this.cache = 'miss';
    /** Milliseconds by what they went to. The clock stands still while the processor works: it tells waiting. */
    this.spent = { open: 0, wait: 0, fetch: 0 };
  }

  /** The request as the core takes it. */
  asking() {
    const { method, url, headers } = this.request;
    const names = ['authorization', 'content-type', 'if-none-match', 'if-range', 'origin', 'range'];
    return [method, url.slice(url.indexOf('/', 8)), ...names.map((name) => headers.get(name) ?? undefined)];
  }

  /** Waits for work, and counts the time. @template T @param {'open' | 'wait' | 'fetch'} what @param {Promise<T>} work */
  async time(what, work) {
    const start = Date.now();
    try {
      return await work;
    } finally {
      this.spent[what] += Date.now() - start;
    }
  }

  /** Headers that tell what the answer has cost, and the most that its isolate has held. @param {Record<string, number>} held */
  told(held) {
    const spent = Object.entries(this.spent).map(([what, milliseconds]) => `${what};dur=${milliseconds}`);
    const bytes = Object.entries(held).map(([what, most]) => `${what};desc=${most}`);
    return [
      ['Server-Timing', [...spent, `cache;desc=${this.cache}`, ...bytes].join(', ')],
      ['X-Upstream-Requests', `${this.tally.requests}`],
      ['X-Upstream-Bytes', `${this.tally.bytes_fetched}`],
    ];
  }
}
