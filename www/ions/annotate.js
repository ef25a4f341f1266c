/** The web worker that annotates: one instance of the core, whose memory maximum is its share of the budget. */
import { Annotation, checkAnnotation, init, memoryBytes, sourceOf } from '../core/annotations.js';
import { answer } from '../core/answer.js';
import { readBlob } from '../core/through.js';
import { Tally } from '../core/tally.js';

/** How often a page is told how far it is, in milliseconds. */
const BEAT = 200;
/** How often what has been finished is handed in, in milliseconds. */
const SAVE = 2000;
/** The most that a list may weigh in bytes: a larger one is not a list of molecules. */
const LIST_LIMIT = 256 << 20;

/** @type {Annotation | undefined} */
let annotation;
/** At one time. */
let requests = 6;
/** Ends the shard at hand. @type {AbortController | undefined} */
let halting;

const calls = {
  async check({ memory, what }, { signal }) {
    await init({ memory });
    const { molecules, ...options } = await listed(what, signal);
    return checkAnnotation(molecules, options, { signal });
  },

  async open({ memory, what }, { signal, tell }) {
    await init({ memory });
    const { store, cut, inFlight, molecules, ...options } = await listed(what, signal, pacing((done, total) => tell('progress', { phase: 'list', done, total })));
    tell('progress', { phase: 'plan', done: 0, total: 0 });
    annotation = await Annotation.open(sourceOf(store), { molecules, ...options }, { signal });
    // Refuses a budget that is too small before anything is begun.
    annotation.plan({ shard: [0, 0], inFlight });
    requests = inFlight;
    const { info, identity, opening } = annotation;
    return {
      info,
      identity,
      name: options.name,
      molecules,
      shards: annotation.shards(Math.max(1, Math.min(cut.most, Math.ceil(info.ions / cut.least)))),
      // The list counts here, whether it was read just now or lay there as a file.
      requests: opening.requests,
      bytes: opening.bytes_fetched,
      memoryBytes: memoryBytes(),
    };
  },

  async run({ from, to, position }, { signal, tell }) {
    halting = new AbortController();
    const beat = pacing((ions) => tell('progress', { ions }));
    const { position: reached, tally } = await annotation.run({
      shard: [from, to],
      from: position,
      inFlight: requests,
      signal,
      halt: halting.signal,
      saveEvery: SAVE,
      onProgress: ({ ions }) => beat(ions),
      onSave: (saved) => tell('saved', saved, [saved.targets.buffer, saved.decoys.buffer]),
    });
    return { position: reached, requests: tally.requests, bytes: tally.bytes_fetched, memoryBytes: memoryBytes() };
  },

  stop() {
    halting?.abort();
  },

  results({ saves }) {
    for (const saved of saves) annotation.take(saved);
    const { rows, warnings } = annotation.results();
    return { rows, warnings, csv: annotation.csv(), json: annotation.json(), memoryBytes: memoryBytes() };
  },
};

/** Options with the list as a file, under its name. */
async function listed(what, signal, onProgress) {
  const source = sourceOf(what.molecules);
  const molecules = source.blob ?? (await readBlob(source, { signal, tally: new Tally(), onProgress, limit: LIST_LIMIT }));
  const name = what.name ?? source.key;
  return { ...what, name, molecules };
}

/** Calls through now and then: what is counted comes faster than anybody can see. */
function pacing(call) {
  let last = -Infinity;
  return (...args) => {
    if (performance.now() - last < BEAT) return;
    last = performance.now();
    call(...args);
  };
}

answer(calls);
