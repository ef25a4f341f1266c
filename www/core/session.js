/** The driver: keeps requests in flight, feeds the core, hands out what is finished. */
import { checked, CoreError, told } from './errors.js';
import { pieces } from './source.js';

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
 *   memoryBytes: () => number, onProgress?: () => void}} options
 * @returns {AsyncGenerator<Float64Array>} for each section its index, x0, y0, width, rows and step;
 *   the values are the job's until the next turn
 */
export async function* run(job, sources, { inFlight, signal, tally, memoryBytes, onProgress }) {
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
      await one(sources[source], fetch[i], fetch[i + 1], {
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
      if (!fetch) return;
      const promise = fill(fetch).catch((error) => {
        if (!failed.yes) Object.assign(failed, { yes: true, error });
        controller.abort(error);
      });
      running.add(promise);
      promise.finally(() => running.delete(promise));
    }
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
        start();
        yield section;
      } else if (job.done()) {
        return;
      } else if (running.size === 0) {
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

async function one(source, start, end, errand) {
  const stream = source.stream ? source.stream.bind(source) : (a, b, e) => pieces(source, a, b, e);
  const length = await stream(start, end, errand).catch((error) => {
    throw told(error);
  });
  if (length !== end - start) {
    throw new CoreError('unexpected', `${source.key}: byte ${start}: asked for ${end - start} bytes, got ${length}: the file is shorter than its header says`, start);
  }
}
