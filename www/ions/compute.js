/** The web worker that holds the core of ion images: one instance, whose memory maximum is the budget. */
import { answer, Handover } from '../core/answer.js';
import { CoreError, init, ionCsv, IonStore, ionPng, memoryBytes, OpfsFolder, sourceOf } from '../core/ions.js';
import { packed, Room } from './room.js';

/** @type {IonStore | undefined} */
let store;
/** Where the opened store lies in the browser's storage, if it does. @type {Room | undefined} */
let room;

const calls = {
  async start({ memory }) {
    await init({ memory });
    return { memory_bytes: memoryBytes() };
  },

  async open({ what, keep, skipBad }, { signal, tell }) {
    await shut();
    let report = null;
    let pair;
    let source = what;
    if ('pair' in what) {
      pair = { imzml: sourceOf(what.pair.imzml), ibd: sourceOf(what.pair.ibd) };
      const found = await packed(pair, { keep, skipBad, signal, onProgress: (progress) => tell('progress', progress) });
      ({ room, report } = found);
      source = await room.store();
    } else if ('kept' in what) {
      const folder = await OpfsFolder.open();
      room = new Room({ place: await folder.take(what.kept) });
      source = await room.store();
    }
    try {
      store = await IonStore.open(source, { pair, signal });
    } catch (error) {
      await shut();
      throw error;
    }
    const { requests, bytes_fetched } = store.opening;
    return { ...store.info, packed: report, kept: room?.kept ?? false, opening: { requests, bytes: bytes_fetched } };
  },

  async images({ wishes }, { signal }) {
    const [{ slice, normalise } = {}] = wishes;
    const images = await opened().images(wishes, { slice, normalise, signal });
    return new Handover(images, images.map(({ values }) => values.buffer));
  },

  meanSpectrum(_, { signal }) {
    return opened().meanSpectrum({ signal });
  },

  async spectrum({ x, y, slice }, { signal }) {
    const found = await opened().spectrum(x, y, { slice, signal });
    return new Handover(found, [found.mz.buffer, found.intensity.buffer]);
  },

  region({ slice, ...region }, { signal }) {
    return opened().region(region, { slice, signal });
  },

  planSpectrum({ x, y, slice, ...region }) {
    return opened().planSpectrum(x === undefined ? region : { pixel: [x, y] }, { slice });
  },

  png({ image, alpha }) {
    return ionPng(image, { alpha });
  },

  csv({ image }) {
    return ionCsv(image);
  },

  async kept() {
    if (!OpfsFolder.available()) return [];
    return (await OpfsFolder.open()).kept();
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

function opened() {
  if (!store) throw new CoreError('parameter', 'open a store first');
  return store;
}

/** Gives up what is open. */
async function shut() {
  store?.free();
  store = undefined;
  const last = room;
  room = undefined;
  await last?.close();
}

answer(calls);
