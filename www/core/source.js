/**
 * Sources: where bytes come from.
 *
 * A source is any object with `key` (a name to show), `read(start, end, signal)` that resolves to
 * the bytes `[start, end)`, and, if it knows it, `size`. Fewer bytes than asked for mean that the
 * source ends there. The sources here also have `stream`, which hands pieces on as they arrive, so
 * that no body is ever held whole; a source with `read` alone is served by {@link pieces}.
 *
 * @typedef {object} Source
 * @property {string} key
 * @property {number} [size]
 * @property {(start: number, end: number, signal?: AbortSignal) => Promise<Uint8Array>} read
 *
 * @typedef {object} Errand what a driver gives along with a range
 * @property {AbortSignal} [signal]
 * @property {Tally} tally
 * @property {(offset: number, piece: Uint8Array) => void} sink offset counts from `start`
 * @property {() => void} [slowDown] called when a server asks for fewer requests
 */
import { CoreError } from './errors.js';
import { Part } from './policy.js';
import { Tally } from './tally.js';

/** Largest piece handed on at one time: what a body holds on its way is counted in the plan. */
const PIECE = 64 * 1024;

/** A file on a web server, by range requests. */
export class FetchSource {
  /**
   * @param {string | URL} url
   * @param {{headers?: Record<string, string>, name?: string}} [options] `headers` go with each
   *   request, for instance an Authorization; browsers drop that one on a redirect to another origin
   */
  constructor(url, options = {}) {
    this.url = String(url);
    this.key = options.name ?? this.url;
    this.headers = options.headers ?? {};
    /** What the answers so far have told: ETag, date, size. Every later answer is held against it. */
    this.known = {};
  }

  /** The file's size, once an answer has told it. */
  get size() {
    return this.known.total ?? undefined;
  }

  /**
   * @param {number} start
   * @param {number} end
   * @param {Errand} errand
   * @returns {Promise<number>} bytes handed on; fewer than asked for if the file ends there
   */
  async stream(start, end, errand) {
    const part = new Part(this, start, this.size === undefined ? end : Math.min(end, this.size));
    while (!part.done) {
      errand.signal?.throwIfAborted();
      const controller = new AbortController();
      const stop = () => controller.abort(errand.signal?.reason);
      errand.signal?.addEventListener('abort', stop, { once: true });
      try {
        await this.once(part, start, controller, errand);
      } finally {
        errand.signal?.removeEventListener('abort', stop);
      }
    }
    return part.at - start;
  }

  /**
   * @protected Sends the request.
   * @param {RequestInit} request
   * @returns {Promise<Response>}
   */
  fetch(request) {
    // The browser's cache has been seen to answer one range with another; bodies are large.
    return fetch(this.url, { ...request, cache: 'no-store' });
  }

  /** @private One request and its answer. */
  async once(part, start, controller, errand) {
    const { signal, tally } = errand;
    tally.requests += 1;
    part.sent();
    let response;
    try {
      response = await this.fetch({
        headers: { ...this.headers, Range: `bytes=${part.at}-${part.end - 1}`, 'Accept-Encoding': 'identity' },
        signal: controller.signal,
      });
    } catch (error) {
      signal?.throwIfAborted();
      // Refused by us and not lost on the way: it would be refused again.
      if (error instanceof CoreError) throw error;
      await part.lost(error, errand);
      return;
    }
    if (!(await part.head(response, () => controller.abort(), errand))) return;
    const from = part.at;
    let body;
    try {
      body = await drain(response, part, start, errand);
    } catch (error) {
      controller.abort();
      throw error;
    }
    // Closes the connection only where bytes are left that nobody wants: one that has been read to
    // its end serves the next request.
    if (!body.ended) controller.abort();
    tally.bytes_fetched += body.received;
    await part.body(from, body.received, body.ended, errand);
  }

  /**
   * @param {number} start
   * @param {number} end
   * @param {AbortSignal} [signal]
   * @param {Tally} [tally]
   */
  read(start, end, signal, tally) {
    return collect(this, start, end, signal, tally);
  }
}

/** Reads a body into the sink until all wanted bytes are there or the body ends. */
async function drain(response, part, start, { signal, tally, sink }) {
  const { skip, take, body } = part.take;
  // A body that should end with what is wanted is read to its end; then it shows if it is longer.
  const exact = body === undefined || body === null || body === skip + take;
  const reader = response.body?.getReader();
  let received = 0;
  while (reader && (received < skip + take || (exact && received === skip + take))) {
    let turn;
    try {
      turn = await reader.read();
    } catch {
      signal?.throwIfAborted();
      return { received, ended: false };
    }
    if (turn.done) return { received, ended: true };
    const wanted = turn.value.subarray(Math.max(0, skip - received), skip + take - received);
    received += turn.value.length;
    for (let i = 0; i < wanted.length; i += PIECE) {
      const piece = wanted.subarray(i, i + PIECE);
      sink(part.at - start, piece);
      part.at += piece.length;
      tally.bytes_payload += piece.length;
    }
  }
  return { received, ended: false };
}

/** A file from the person's own disk, or any Blob. Nothing leaves the machine. */
export class BlobSource {
  /**
   * @param {Blob} blob
   * @param {string} [name]
   */
  constructor(blob, name) {
    this.blob = blob;
    this.key = name ?? (typeof File !== 'undefined' && blob instanceof File ? blob.name : 'blob');
    this.size = blob.size;
  }

  /**
   * @param {number} start
   * @param {number} end
   * @param {Errand} errand
   */
  async stream(start, end, { signal, tally, sink }) {
    const stop = Math.min(end, this.size);
    let at = start;
    // One slice a piece: a stream over a large slice reads ahead without a limit of ours.
    const bite = 4 * 1024 * 1024;
    tally.requests += 1;
    while (at < stop) {
      signal?.throwIfAborted();
      const reader = this.blob.slice(at, Math.min(at + bite, stop)).stream().getReader();
      for (;;) {
        let turn;
        try {
          turn = await reader.read();
        } catch (error) {
          throw new CoreError('changed', `${this.key}: byte ${at}: the file can no longer be read (${error.message}); it may have been changed or moved; choose it again`, at);
        }
        if (turn.done) break;
        if (signal?.aborted) {
          reader.cancel().catch(() => {});
          throw signal.reason;
        }
        sink(at - start, turn.value);
        at += turn.value.length;
        tally.bytes_fetched += turn.value.length;
        tally.bytes_payload += turn.value.length;
      }
    }
    return at - start;
  }

  /**
   * @param {number} start
   * @param {number} end
   * @param {AbortSignal} [signal]
   * @param {Tally} [tally]
   */
  read(start, end, signal, tally) {
    return collect(this, start, end, signal, tally);
  }
}

/**
 * A source from what a person gives.
 * @param {string | URL | Blob | Source | {url: string | URL, headers?: Record<string, string>} | {file: Blob} | {source: Source}} what
 * @returns {any}
 */
export function sourceOf(what) {
  if (typeof what === 'string' || what instanceof URL) return new FetchSource(what);
  if (what instanceof Blob) return new BlobSource(what);
  const { read, url, file, source, headers } = /** @type {any} */ (what ?? {});
  if (typeof read === 'function') return what;
  if (url) return new FetchSource(url, { headers });
  if (file) return new BlobSource(file);
  if (source) return source;
  throw new CoreError('parameter', 'a source is a URL, a file, or an object with read(start, end)');
}

/** Reads a range whole, by a source's `stream`; shorter only where the source ends. */
export async function collect(source, start, end, signal, tally) {
  const bytes = new Uint8Array(end - start);
  const length = await source.stream(start, end, {
    signal,
    tally: tally ?? new Tally(),
    sink: (offset, piece) => bytes.set(piece, offset),
  });
  return bytes.subarray(0, length);
}

/**
 * `stream` for a source that only has `read`.
 * @param {Source} source
 * @param {number} start
 * @param {number} end
 * @param {Errand} errand
 */
export async function pieces(source, start, end, { signal, tally, sink }) {
  tally.requests += 1;
  const bytes = await source.read(start, end, signal);
  signal?.throwIfAborted();
  if (bytes.length > end - start) {
    throw new CoreError('unexpected', `${source.key}: byte ${start}: asked for ${end - start} bytes, got ${bytes.length}`, start);
  }
  tally.bytes_fetched += bytes.length;
  tally.bytes_payload += bytes.length;
  if (bytes.length > 0) sink(0, bytes);
  return bytes.length;
}
