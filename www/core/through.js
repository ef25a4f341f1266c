/** A source from its first byte to its last. */
import { CoreError } from './errors.js';
import { Breath } from './session.js';

/** Bytes of the first read, which tells the file's size. */
const FIRST = 64 << 10;
/** Bytes of later reads where a server hides the size. */
const NEXT = 1 << 20;

/**
 * Hands on all of a source, in one request after the first where its size is known.
 * @param {any} source
 * @param {{signal?: AbortSignal, tally: import('./tally.js').Tally, take: (piece: Uint8Array) => void,
 *   onProgress?: (done: number, total: number) => void}} options
 */
export async function through(source, { signal, tally, take, onProgress }) {
  const breath = new Breath();
  let at = 0;
  const piece = (bytes) => {
    take(bytes);
    at += bytes.length;
    onProgress?.(at, source.size ?? at);
  };
  const first = await source.read(0, source.size === undefined ? FIRST : Math.min(FIRST, source.size), signal, tally);
  piece(first);
  if (first.length < FIRST) return;
  if (source.size !== undefined && source.stream) {
    await source.stream(at, source.size, { signal, tally, sink: (_, bytes) => piece(bytes) });
    if (at !== source.size) throw new CoreError('unexpected', `${source.key}: byte ${at}: the file ends here, and not after ${source.size} bytes`, at);
    return;
  }
  for (;;) {
    await breath.take();
    signal?.throwIfAborted();
    const end = source.size === undefined ? at + NEXT : Math.min(at + NEXT, source.size);
    const bytes = end > at ? await source.read(at, end, signal, tally) : new Uint8Array(0);
    const wanted = end - at;
    if (bytes.length > 0) piece(bytes);
    if (bytes.length < wanted || end === source.size) return;
  }
}

/**
 * All of a source as a file, outside the core's budget.
 * @param {any} source
 * @param {{signal?: AbortSignal, tally: import('./tally.js').Tally, limit: number,
 *   onProgress?: (done: number, total: number) => void}} options `limit`: the most bytes that it may have
 * @returns {Promise<Blob>}
 */
export async function readBlob(source, { signal, tally, limit, onProgress }) {
  const parts = [];
  let length = 0;
  const take = (piece) => {
    length += piece.length;
    if (Math.max(length, source.size ?? 0) > limit) {
      throw new CoreError('parameter', `${source.key}: ${source.size ?? `more than ${limit}`} bytes are too many; the limit is ${limit}`);
    }
    // A source may use its bytes again.
    parts.push(piece.slice());
  };
  await through(source, { signal, tally, take, onProgress });
  return new Blob(parts);
}
