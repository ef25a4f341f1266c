/** Where the Worker's bytes come from: objects of the bucket, and files of origins that the catalog allows. */
import { CoreError } from '../core/errors.js';
import { collect, FetchSource } from '../core/source.js';

/** Bytes of a body that are on their way at one time, for each request in flight. */
export const PIECE = 64 * 1024;
/** How often anything is asked for: a caller waits, and the platform has tried again already. */
const PATIENCE = { tries: 3, first_wait_ms: 100, longest_wait_ms: 2000 };

/** An object of the bucket, in the version that the first answer or the catalog tells. */
export class BucketSource {
  /**
   * @param {R2Bucket} bucket
   * @param {string} key
   * @param {{total?: number, etag?: string, modified?: string}} known
   */
  constructor(bucket, key, known) {
    this.bucket = bucket;
    this.key = key;
    this.known = known;
  }

  get size() {
    return this.known.total ?? undefined;
  }

  /**
   * @param {number} start
   * @param {number} end
   * @param {import('../core/source.js').Errand} errand
   */
  async stream(start, end, { signal, tally, sink }) {
    let [at, tries] = [start, 0];
    const stop = Math.min(end, this.size ?? end);
    while (at < stop) {
      signal?.throwIfAborted();
      tally.requests += 1;
      try {
        for await (const piece of this.body(at, stop)) {
          sink(at - start, piece);
          at += piece.length;
          tally.bytes_fetched += piece.length;
          tally.bytes_payload += piece.length;
          signal?.throwIfAborted();
        }
        break;
      } catch (error) {
        signal?.throwIfAborted();
        tries += 1;
        if (!isOutage(error)) throw error;
        if (tries >= PATIENCE.tries) throw new CoreError('network', `${this.key}: byte ${at}: the bucket gave ${error.message}`, at);
        tally.retries += 1;
        await new Promise((resolve) => setTimeout(resolve, PATIENCE.first_wait_ms << tries));
      }
    }
    return at - start;
  }

  /** @private Pieces of `[start, end)`; fewer where the object ends there. */
  async *body(start, end) {
    const { etag, total } = this.known;
    // A condition on the bucket's own tag has no quotes; the catalog's, as in HTTP, has.
    const onlyIf = etag ? { etagMatches: etag.replace(/^(W\/)?"(.*)"$/, '$2') } : undefined;
    const object = await this.bucket.get(this.key, { range: { offset: start, length: end - start }, onlyIf });
    if (!object) throw new CoreError('missing', `${this.key}: the bucket has no such object`);
    const { size, httpEtag } = object;
    if (!('body' in object)) throw new CoreError('changed', `${this.key}: the object was changed: its tag was ${etag} and is ${httpEtag}`, start);
    if (size !== (total ?? size)) {
      await object.body.cancel();
      throw new CoreError('changed', `${this.key}: the object was changed: it had ${total} bytes and has ${size}`, start);
    }
    this.known = { ...this.known, total: size, etag: etag ?? httpEtag };
    const reader = object.body.getReader({ mode: 'byob' });
    let left = Math.min(end, size) - start;
    let room = new ArrayBuffer(Math.max(1, Math.min(PIECE, left)));
    while (left > 0) {
      const { value, done } = await reader.read(new Uint8Array(room, 0, Math.min(room.byteLength, left)));
      if (done) throw new Error(`${left} bytes fewer than it promised`);
      yield value;
      left -= value.length;
      room = value.buffer;
    }
    await reader.cancel();
  }

  /** @param {number} start @param {number} end @param {AbortSignal} signal @param {import('../core/tally.js').Tally} tally */
  read(start, end, signal, tally) {
    return collect(this, start, end, signal, tally);
  }
}

/** Whether the bucket may do better when asked again: neither our own refusals nor a lost core are of that kind. */
function isOutage(error) {
  return !(error instanceof CoreError) && !(error instanceof WebAssembly.RuntimeError) && Object.getPrototypeOf(error) !== Object.prototype;
}

/** A file of an origin that the catalog allows. The address is the catalog's and never that of an answer. */
export class OriginSource extends FetchSource {
  /** @param {unknown} bucket not needed @param {string} url @param {object} known */
  constructor(bucket, url, known) {
    // A query may be a signature: errors are told to whoever asks.
    super(url, { name: url.split(/[?#]/)[0] });
    this.known = known;
    this.patience = PATIENCE;
  }

  /** @protected @param {RequestInit} request */
  async fetch(request) {
    const response = await fetch(this.url, { ...request, redirect: 'manual' });
    const { status } = response;
    const refusal = status >= 300 && status < 400 ? 'redirects, which are not followed' : status === 200 ? 'has no ranges' : undefined;
    if (!refusal) return response;
    await response.body?.cancel();
    throw Object.assign(new CoreError('http', `${this.key}: the server answered ${status}: it ${refusal}`), { status });
  }
}
