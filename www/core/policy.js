/**
 * One range on its way. What an answer means is decided by the core, by the same pure functions that
 * the command line uses; here are only the waiting and the book-keeping.
 */
import { checked, CoreError } from './errors.js';
import { anyCore } from './instance.js';

/** Waits, or stops waiting at once when the signal says so. */
function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** What a driver knows of one part: how far it has come, and how often it was tried. */
export class Part {
  /**
   * @param {{key: string, known: object, patience?: object}} source `known` is what earlier answers told of the file;
   *   `patience` how often it is asked again, `{tries, first_wait_ms, longest_wait_ms}`
   * @param {number} start
   * @param {number} end
   */
  constructor(source, start, end) {
    this.source = source;
    this.at = start;
    this.end = end;
    this.tries = 0;
    this.afterShort = false;
    /** How to use the body at hand. */
    this.take = null;
    this.done = end <= start;
  }

  /** @private */
  asked(start = this.at) {
    return {
      start,
      end: this.end,
      known: this.source.known,
      tries: this.tries,
      after_short: this.afterShort,
      patience: this.source.patience,
      // fetch() undoes a content encoding before anybody sees the bytes.
      decodes: true,
    };
  }

  /** Says that a request goes out. */
  sent() {
    if (!this.afterShort) this.tries += 1;
    this.take = null;
  }

  /**
   * Decides about an answer's head; `true` if its body is to be read.
   * @param {Response} response
   * @param {() => void} drop closes the connection
   */
  async head(response, drop, { signal, tally, slowDown }) {
    const field = (name) => response.headers.get(name);
    const head = {
      status: response.status,
      content_range: field('Content-Range'),
      content_encoding: field('Content-Encoding'),
      content_length: field('Content-Length'),
      content_type: field('Content-Type'),
      etag: field('ETag'),
      last_modified: field('Last-Modified'),
      retry_after: field('Retry-After'),
    };
    const now = Date.now() / 1000;
    const verdict = checked(() => anyCore().judge(this.asked(), head, Math.random(), now));
    if (verdict.do === 'take') {
      this.take = verdict;
      this.source.known = verdict.known;
      return true;
    }
    drop();
    await this.follow(verdict, signal, tally, slowDown);
    return false;
  }

  /** A request that got no answer at all. */
  async lost(error, { signal, tally, slowDown }) {
    const why = error instanceof Error ? error.message : String(error);
    const verdict = checked(() => anyCore().judge_lost(this.asked(), why, Math.random()));
    await this.follow(verdict, signal, tally, slowDown);
  }

  /**
   * A body that has ended, in order or not, or that has brought all that was wanted.
   * @param {number} from where its request started
   * @param {number} received its bytes, those to skip included
   */
  async body(from, received, ended, { signal, tally, slowDown }) {
    const after = checked(() => anyCore().judge_body(this.asked(from), this.take, received, ended, Math.random()));
    await this.follow(after, signal, tally, slowDown);
  }

  /** @private */
  async follow(verdict, signal, tally, slowDown) {
    this.afterShort = verdict.do === 'continue';
    const { total } = verdict;
    if (total !== undefined && total !== null) this.source.known = { ...this.source.known, total };
    switch (verdict.do) {
      case 'done':
      case 'end':
        this.done = true;
        break;
      case 'clip':
        this.end = verdict.end;
        this.done = this.at >= this.end;
        break;
      case 'continue':
        break;
      case 'retry':
        tally.retries += 1;
        if (verdict.slow_down) slowDown?.();
        await pause(verdict.wait_ms, signal);
        break;
      default:
        throw refused(this.source.key, verdict, this.at);
    }
  }
}

/** Words for a fault, with what a page can add to them. */
function refused(key, { kind, what, status }, at) {
  const code = { changed: 'changed', lost: 'network' }[kind] ?? 'http';
  const advice =
    kind === 'lost'
      ? '. The server may be down, redirect in a circle, or not allow this page to read it (CORS); download the file and drop it here, or ask for CORS headers.'
      : '';
  return Object.assign(new CoreError(code, `${key}: ${what}${advice}`, at), { status: status ?? undefined });
}
