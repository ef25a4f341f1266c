/** The web worker that holds the core: one instance, whose memory maximum is the budget. */
import { answer } from '../core/answer.js';
import { CoreError, fitsFile, init, memoryBytes, pngFile, Stack, zscale } from '../core/index.js';

/** @type {Stack | undefined} */
let stack;
let budget = 0;

/** How often progress is told, in milliseconds. */
const BEAT = 100;

const calls = {
  async start({ memory }) {
    budget = memory;
    await init({ memory });
    return { memory_bytes: memoryBytes() };
  },

  async open({ entries, hdu, plane, mask, ignoreWcs, ignoreUnits }, { signal, tell }) {
    if (stack) stack.free();
    stack = undefined;
    stack = await Stack.open(entries, {
      hdu,
      plane,
      mask,
      ignoreWcs,
      ignoreUnits,
      exclude: true,
      memory: budget,
      signal,
      onExposure: (index, exposure) => tell('exposure', { index, exposure }),
    });
    const { exposures, width, height, wide, unit, hasSky, warnings } = stack;
    return { exposures, width, height, wide, unit, hasSky, warnings };
  },

  plan(wish) {
    return opened().plan(wish);
  },

  median(wish, context) {
    return sections(opened().median(options(wish, context)), wish, context);
  },

  exposure({ index, ...wish }, context) {
    return sections(opened().exposure(index, options(wish, context)), wish, context);
  },

  sky({ x, y }) {
    return stack?.sky(x, y) ?? null;
  },

  zscale({ samples }) {
    return zscale(samples);
  },

  png(plane) {
    return pngFile(plane);
  },

  fits(plane) {
    return fitsFile(opened(), plane);
  },
};

function opened() {
  if (!stack) throw new CoreError('parameter', 'open a stack first');
  return stack;
}

function options(wish, { signal, tell }) {
  let last = 0;
  const onProgress = (tally) => {
    const now = performance.now();
    if (now - last < BEAT) return;
    last = now;
    tell('progress', progress(tally, wish));
  };
  return { ...wish, signal, onProgress };
}

function progress(tally, { planned }) {
  return { ...tally, peak_bytes: memoryBytes(), planned_bytes: planned ?? 0, memory: budget };
}

async function sections(iterator, wish, { tell }) {
  for (;;) {
    const { done, value } = await iterator.next();
    if (done) {
      tell('progress', progress(value, wish));
      return value;
    }
    tell('section', value, [value.values.buffer, value.count.buffer]);
  }
}

answer(calls);
