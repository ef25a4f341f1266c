/** The driver: keeps requests in flight, feeds the core, hands out what is finished. */
import { checked, CoreError, told } from './errors.js';
import { pieces } from './source.js';

/** The longest stretch of work without a look at messages, in milliseconds. */
const STRETCH = 40;

/**
 * Lets messages in, a cancel among them, once work has gone on for a while. Promises alone never do: work
 * on files that answer at once would run to its end before the first message is seen.
 */
export class Breath {
  constructor() {
    this.last = performance.now();
  }

  /** Resolves at once, or after the messages that wait. */
  take() {
    if (performance.now() - this.last < STRETCH) return undefined;
    return new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        this.last = performance.now();
        resolve(undefined);
      };
      port2.postMessage(null);
    });
  }
}

/** Walks one source's headers. */
export async function walk(machine, source, { signal, tally }) {
  for (;;) {
    const need = checked(() => machine.need());
    if (!need) return;
    const [start, end] = need;
    const bytes = await source.read(start, source.size === undefined ? end : Math.min(end, source.size), signal, tally);
    checked(() => machine.feed(start, bytes, source.size ?? -1));
  }
}

/**
 * Runs a job to its end.
 *
 * Leaving the iterator early (`break`, an error, an abort) stops every request at once, and the
 * generator ends only when none is running any more.
 *
 * @param {object} job the core's job
 * @param {import('./source.js').Source[]} sources
 * @param {{inFlight: number, signal?: AbortSignal, tally: import('./tally.js').Tally,
 *   memoryBytes: () => number, lent?: (slot: number, read: number) => Uint8Array, borrowed?: boolean,
 *   onProgress?: () => void}} options `lent` is the place of a read in the core's memory, for sources that
 *   can read straight into it; `borrowed`: an item lies in the core's memory, and the job must be left alone
 *   until it has been dealt with
 * @returns {AsyncGenerator<Float64Array>} what `ready` of the job says of each item; for a section its
 *   index, x0, y0, width, rows and step
 */
export async function* run(job, sources, { inFlight, signal, tally, memoryBytes, lent, borrowed = false, onProgress }) {
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener('abort', stop, { once: true });
  const running = new Set();
  const failed = { yes: false, error: undefined };
  let limit = inFlight;
  const slowDown = () => {
    limit = Math.max(1, limit >> 1);
  };
  const fill = async (fetch) => {
    const [slot, source] = fetch;
    for (let i = 2, read = 0; i < fetch.length; i += 2, read += 1) {
      const [from, start, end] = [sources[source], fetch[i], fetch[i + 1]];
      if (from.readInto && lent) {
        straight(lent(slot, read), from, start, end, tally);
        continue;
      }
      await one(from, start, end, {
        signal: controller.signal,
        tally,
        slowDown,
        sink: (offset, piece) => {
          checked(() => job.feed(slot, read, offset, piece));
          onProgress?.();
        },
      });
    }
    checked(() => job.complete(slot));
  };
  const start = () => {
    while (running.size < limit && !failed.yes) {
      const fetch = checked(() => job.next());
      if (!fetch) break;
      const promise = fill(fetch).catch((error) => {
        if (!failed.yes) Object.assign(failed, { yes: true, error });
        controller.abort(error);
      });
      running.add(promise);
      promise.finally(() => running.delete(promise));
    }
    return running.size;
  };
  try {
    for (;;) {
      start();
      if (failed.yes) throw failed.error;
      signal?.throwIfAborted();
      const section = checked(() => job.ready());
      tally.peak_bytes = Math.max(tally.peak_bytes, memoryBytes());
      if (section) {
        tally.sections += 1;
        // Its slots are free again: let the next requests go before the section is looked at.
        if (!borrowed) start();
        yield section;
      } else if (job.done()) {
        return;
      } else if (running.size === 0 && start() === 0) {
        // Not even what the job has just worked out brings it any further.
        throw new CoreError('unexpected', 'the job waits for bytes that nobody brings');
      } else {
        await Promise.race(running);
      }
    }
  } finally {
    controller.abort(signal?.reason);
    signal?.removeEventListener('abort', stop);
    await Promise.allSettled(running);
  }
}

/** Reads a local file straight into what the job lends. */
function straight(place, source, start, end, tally) {
  const got = source.readInto(start, place.subarray(0, end - start));
  if (got !== end - start) throw short(source, start, end, got);
  tally.requests += 1;
  tally.bytes_fetched += got;
  tally.bytes_payload += got;
}

function short({ key }, start, end, got) {
  return new CoreError('unexpected', `${key}: byte ${start}: asked for ${end - start} bytes, got ${got}: the file is shorter than its header says`, start);
}

async function one(source, start, end, errand) {
  const stream = source.stream ? source.stream.bind(source) : (a, b, e) => pieces(source, a, b, e);
  const length = await stream(start, end, errand).catch((error) => {
    throw told(error);
  });
  if (length !== end - start) {
    throw short(source, start, end, length);
  }
}
