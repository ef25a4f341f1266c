/** The web worker that holds the core of ion images: one instance, whose memory maximum is the budget. */
import { answer, Handover } from '../core/answer.js';
import { CoreError, init, ionCsv, IonStore, ionPng, memoryBytes, OpfsFolder, sourceOf } from '../core/ions.js';
import { packed, Room } from './room.js';

/** How often a page is told how far a reading is, in milliseconds. */
const BEAT = 100;

/** @type {IonStore | undefined} */
let store;
/** Where the opened store lies in the browser's storage, if it does. @type {Room | undefined} */
let room;
/** The call of `open` that runs, and what it was given to stop it. */
let opening = { ended: Promise.resolve(), stop: () => {} };

const calls = {
  async start({ memory }) {
    await init({ memory });
    // A page that was closed could not take its store with it.
    if (OpfsFolder.available()) await OpfsFolder.open().then((folder) => folder.clean({ unfinished: false })).catch(() => {});
    return { memory_bytes: memoryBytes() };
  },

  open(args, { signal, tell }) {
    const controller = new AbortController();
    const stop = () => controller.abort(signal.reason ?? new DOMException('another dataset is opened', 'AbortError'));
    signal.addEventListener('abort', stop, { once: true });
    const opened = shut().then(() => open(args, controller.signal, (progress) => tell('progress', progress)));
    opening = { ended: opened.catch(() => {}), stop };
    return opened;
  },

  /** Gives up what is open or being opened. */
  shut() {
    return shut();
  },

  async images({ wishes }, { signal }) {
    const [{ slice, normalise } = {}] = wishes;
    const images = await opened().images(wishes, { slice, normalise, signal });
    return new Handover(images, images.map(({ values }) => values.buffer));
  },

  meanSpectrum(_, { signal }) {
    return opened().meanSpectrum({ signal });
  },

  async spectrum({ x, y, slice }, { signal, tell }) {
    const found = await opened().spectrum(x, y, { slice, signal, onProgress: now(tell) });
    return new Handover(found, [found.mz.buffer, found.intensity.buffer]);
  },

  region({ slice, ...region }, { signal, tell }) {
    return opened().region(region, { slice, signal, onProgress: now(tell) });
  },

  planSpectrum({ x, y, slice, ...region }) {
    return opened().planSpectrum(x === undefined ? region : { pixel: [x, y] }, { slice });
  },

  png({ image, alpha, shares }) {
    return ionPng(image, { alpha, shares });
  },

  csv({ image }) {
    return ionCsv(image);
  },

  async kept() {
    if (!OpfsFolder.available()) return [];
    return (await OpfsFolder.open()).kept();
  },

  async leftovers() {
    if (!OpfsFolder.available()) return { count: 0, bytes: 0 };
    return (await OpfsFolder.open()).leftovers();
  },

  async remove({ name }) {
    await (await OpfsFolder.open()).remove(name);
  },

  async store() {
    return (await room?.store()) ?? null;
  },

  async keep() {
    if (!room) throw new CoreError('parameter', 'only a store that was packed here can be kept');
    await room.keep();
  },

  async clean() {
    if (!OpfsFolder.available()) return { removed: 0, bytes: 0 };
    return (await OpfsFolder.open()).clean();
  },
};

/** Tells the page how far a reading is, now and then: pieces come faster than anybody can see. */
function now(tell) {
  let last = performance.now();
  return (reading) => {
    if (performance.now() - last < BEAT) return;
    last = performance.now();
    tell('progress', reading);
  };
}

function opened() {
  if (!store) throw new CoreError('parameter', 'open a store first');
  return store;
}

async function open({ what, keep, skipBad }, signal, onProgress) {
  let report = null;
  let pair;
  let source = what;
  if ('pair' in what) {
    pair = { imzml: sourceOf(what.pair.imzml), ibd: sourceOf(what.pair.ibd) };
    ({ room, report } = await packed(pair, { keep, skipBad, signal, onProgress }));
    source = await room.store();
  } else if ('kept' in what) {
    const folder = await OpfsFolder.open();
    room = new Room({ place: await folder.take(what.kept) });
    source = await room.store();
  }
  try {
    store = await IonStore.open(source, { pair, signal });
  } catch (error) {
    await leave();
    throw error;
  }
  const { requests, bytes_fetched } = store.opening;
  return { ...store.info, packed: report, kept: room?.kept ?? false, opening: { requests, bytes: bytes_fetched } };
}

/** Gives up what is open or being opened. */
async function shut() {
  const { ended, stop } = opening;
  stop();
  await ended;
  await leave();
}

async function leave() {
  store?.free();
  store = undefined;
  const last = room;
  room = undefined;
  await last?.close();
}

answer(calls);
