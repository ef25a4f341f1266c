/** Where a packed store lies: in the browser's own storage, or in memory where there is none. */
import { CoreError, identify, MemoryFile, OpfsFolder, Packing } from '../core/ions.js';

/** Without storage of its own, a page may hold this much of a dataset in memory, spill and store together. */
const IN_MEMORY = 512 << 20;

/** Errors after which the same packing may succeed. */
const PASSING = new Set(['http', 'io', 'network', 'space']);

/** A packed store's place. */
export class Room {
  /** @param {{place?: any, file?: MemoryFile}} where */
  constructor({ place, file }) {
    this.place = place;
    this.file = file;
  }

  /** Whether it outlives its use. */
  get kept() {
    return this.place?.about.kept ?? false;
  }

  /** The store as a file. @returns {Promise<Blob>} */
  async store() {
    if (this.file) return this.file.blob();
    const { name } = this.place.about;
    const file = await this.place.store();
    return new File([file], `${name}.sectile`, { type: 'application/octet-stream', lastModified: file.lastModified });
  }

  async keep() {
    if (!this.place) throw new CoreError('unsupported', 'this page has no storage of its own to keep a store in; download it instead');
    await this.place.describe({ kept: true });
  }

  /** Gives the place back; a store that is not kept goes. */
  async close() {
    if (this.place && !this.kept) await this.place.discard();
    else this.place?.close();
  }
}

/**
 * The packed store of a pair: packed now, gone on with, or found where it was packed before.
 *
 * @param {{imzml: any, ibd: any}} pair sources
 * @param {{keep: boolean, skipBad: boolean, signal: AbortSignal, onProgress: (progress: object) => void}} options
 * @returns {Promise<{room: Room, report: object | null}>}
 */
export async function packed(pair, options) {
  if (!OpfsFolder.available()) return inMemory(pair, options);
  const folder = await OpfsFolder.open();
  // Whether bad spectra are left out decides what the store holds.
  const identity = `${await identify(pair.imzml, pair.ibd, options.signal)}${options.skipBad ? ' without bad spectra' : ''}`;
  const place = await folder.begin({ name: stem(pair.imzml.key), identity });
  try {
    return { room: new Room({ place }), report: await inStorage(pair, folder, place, options) };
  } catch (error) {
    // What can be gone on with stays; a pair that cannot be packed leaves nothing.
    const useful = place.bytes() > 0 && (error.name === 'AbortError' || PASSING.has(error.code));
    if (useful || place.about.done) place.close();
    else await place.discard();
    throw error;
  }
}

async function inStorage(pair, folder, place, { keep, ...options }) {
  if (place.about.done) {
    if (keep && !place.about.kept) await place.describe({ kept: true });
    return null;
  }
  const packing = await planned(pair, options);
  try {
    const files = await place.files();
    const { spill_bytes, store_bytes_estimate } = packing.plan;
    const free = await folder.room();
    const need = spill_bytes + store_bytes_estimate - place.bytes();
    if (free !== undefined && need > free) {
      throw new CoreError('space', `packing takes about ${mebibytes(need)} more in the browser's storage, and it gives this site ${mebibytes(free)}: remove kept stores or make room on the disk, or pack with the command line`);
    }
    const { report } = await packing.into(files.target, files);
    await place.finish(keep);
    return report;
  } finally {
    packing.free();
  }
}

/** The index, read, and the plan, told. */
async function planned(pair, options) {
  const packing = await Packing.open(pair.imzml, pair.ibd, options);
  options.onProgress({ phase: 'plan', done: 0, total: 0, overall: packing.beat.overall, seconds_left: null, peak_bytes: 0, plan: packing.plan });
  return packing;
}

async function inMemory(pair, { keep, ...options }) {
  if (keep) throw new CoreError('unsupported', 'this page has no storage of its own to keep a store in');
  const packing = await planned(pair, options);
  try {
    const need = packing.plan.spill_bytes + packing.plan.store_bytes_estimate;
    if (need > IN_MEMORY) {
      throw new CoreError('space', `this page has no storage of its own (that takes https), and ${mebibytes(need)} are too much for memory; pack with the command line and open the packed store`);
    }
    const file = new MemoryFile(IN_MEMORY);
    const { report } = await packing.into(file, { spill: new MemoryFile(IN_MEMORY) });
    return { room: new Room({ file }), report };
  } finally {
    packing.free();
  }
}

/** The name of a file or address without its folder and its ending. */
function stem(key) {
  const last = key.split(/[?#]/)[0].split('/').pop();
  let name = last;
  try {
    name = decodeURIComponent(last);
  } catch {
    // Not percent-encoded after all.
  }
  return name.replace(/\.imzml$/i, '') || 'dataset';
}

function mebibytes(bytes) {
  return `${Math.ceil(bytes / (1 << 20))} MiB`;
}
