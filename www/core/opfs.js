/**
 * Packed stores in the browser's own storage (OPFS): a folder for each pair, with what packing needs to go
 * on after a crash, and the stores that are kept. For web workers: only they can write there in place.
 */
import { Checkpoint } from './checkpoint.js';
import { CoreError } from './errors.js';
import { OpfsFile } from './files.js';

/** What a folder says about itself, written last when packing is done. */
const ABOUT = 'about';
const STORE = 'store';
/** What only packing needs. */
const WORKING = ['spill', 'state-a', 'state-b'];

/**
 * @typedef {object} About
 * @property {string} name to show
 * @property {string} identity of the pair
 * @property {boolean} done whether the store is whole
 * @property {boolean} kept whether it outlives its use
 */

/** All that this library keeps in the browser's storage of this site. */
export class OpfsFolder {
  /** Whether this browser, this address and this thread have such storage. */
  static available() {
    const handle = /** @type {any} */ (globalThis).FileSystemFileHandle;
    return Boolean(globalThis.navigator?.storage?.getDirectory && handle?.prototype.createSyncAccessHandle);
  }

  /**
   * @param {string} [name] of the folder in the site's storage
   * @returns {Promise<OpfsFolder>}
   */
  static async open(name = 'sectile') {
    if (!OpfsFolder.available()) {
      throw new CoreError('unsupported', "this page has no storage of its own (OPFS): that takes a recent browser, https, and a web worker; pack with the command line and open the packed store");
    }
    try {
      const root = await navigator.storage.getDirectory();
      return new OpfsFolder(await root.getDirectoryHandle(name, { create: true }), name);
    } catch (error) {
      // A private window, or storage that is switched off.
      throw new CoreError('unsupported', `the browser's storage cannot be used here (${error.message}); pack with the command line and open the packed store`);
    }
  }

  /** @private */
  constructor(folder, name) {
    this.folder = folder;
    this.name = name;
  }

  /**
   * The place for packing one pair. It is this caller's alone until it is closed.
   * @param {{name: string, identity: string}} pair the same identity finds what is there of it
   * @returns {Promise<OpfsPlace>}
   */
  async begin({ name, identity }) {
    const key = await digest(identity);
    const release = await hold(`${this.name}/${key}`, 'exclusive');
    if (!release) throw new CoreError('io', `${name}: another tab of this browser is packing or showing it; close that tab first`);
    try {
      const folder = await this.folder.getDirectoryHandle(key, { create: true });
      const about = await readAbout(folder);
      const place = new OpfsPlace(this, folder, key, release);
      place.about = about?.identity === identity ? about : { name, identity, done: false, kept: false };
      if (about?.identity !== identity) await writeAbout(folder, place.about);
      return place;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Everything that is there. @returns {Promise<(About & {key: string, bytes: number})[]>} */
  async list() {
    const found = [];
    for await (const [key, folder] of this.folder.entries()) {
      if (folder.kind !== 'directory') continue;
      const about = (await readAbout(folder)) ?? { name: key, identity: '', done: false, kept: false };
      found.push({ ...about, key, bytes: await size(folder) });
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  }

  /** The stores that are kept. @returns {Promise<{name: string, bytes: number}[]>} */
  async kept() {
    return distinct((await this.list()).filter(({ done, kept }) => done && kept)).map(({ name, bytes }) => ({ name, bytes }));
  }

  /** What {@link clean} would remove: packings that never came to their end, and that nobody is working on. */
  async leftovers() {
    const { held = [] } = (await navigator.locks?.query()) ?? {};
    const busy = new Set(held.map(({ name }) => name));
    const left = (await this.list()).filter(({ key, done }) => !done && !busy.has(`${this.name}/${key}`));
    return { count: left.length, bytes: left.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /** A kept store, by its name. @param {string} name @returns {Promise<OpfsPlace>} */
  async take(name) {
    const { key, ...about } = await this.find(name);
    const release = await hold(`${this.name}/${key}`, 'shared');
    if (!release) throw new CoreError('io', `${name}: another tab of this browser is changing it; try again when it is done`);
    const place = new OpfsPlace(this, await this.folder.getDirectoryHandle(key), key, release);
    place.about = about;
    return place;
  }

  /** Removes a kept store. @param {string} name */
  async remove(name) {
    const { key } = await this.find(name);
    if (!(await this.drop(key))) throw new CoreError('io', `${name}: it is in use; close it first, here and in other tabs`);
  }

  /**
   * Removes what packings left behind and nobody is using: stores that were not to be kept, and those that
   * never became whole. Doing it twice does no harm.
   * @param {{unfinished?: boolean}} [options] `unfinished: false` leaves what can be gone on with
   * @returns {Promise<{removed: number, bytes: number}>}
   */
  async clean({ unfinished = true } = {}) {
    let [removed, bytes] = [0, 0];
    for (const entry of await this.list()) {
      const stays = entry.done ? entry.kept : !unfinished;
      if (stays || !(await this.drop(entry.key))) continue;
      removed += 1;
      bytes += entry.bytes;
    }
    return { removed, bytes };
  }

  /** Bytes that the browser still gives to this site; `undefined` where it does not say. */
  async room() {
    const { quota, usage } = (await navigator.storage.estimate?.()) ?? {};
    return quota === undefined || usage === undefined ? undefined : Math.max(0, quota - usage);
  }

  /** @private */
  async find(name) {
    const kept = distinct((await this.list()).filter(({ done, kept }) => done && kept));
    const found = kept.find((entry) => entry.name === name);
    if (!found) throw new CoreError('parameter', `${name}: no store of that name is kept in this browser`);
    return found;
  }

  /** @private Whether it could be removed: nothing that is in use can. */
  async drop(key) {
    const release = await hold(`${this.name}/${key}`, 'exclusive', { wait: false });
    if (!release) return false;
    try {
      return await this.erase(key);
    } finally {
      release();
    }
  }

  /** @private Whether it is gone; who calls has its lock. */
  async erase(key) {
    try {
      await this.folder.removeEntry(key, { recursive: true });
      return true;
    } catch (error) {
      if (error.name === 'NoModificationAllowedError') return false;
      if (error.name === 'NotFoundError') return true;
      throw error;
    }
  }
}

/** The files of one pair. */
class OpfsPlace {
  /** @private */
  constructor(root, folder, key, release) {
    this.root = root;
    this.folder = folder;
    this.key = key;
    this.release = release;
    /** @type {About} */
    this.about = { name: key, identity: '', done: false, kept: false };
    /** @private @type {OpfsFile[]} */
    this.open = [];
  }

  /** The files to pack into: `{target, spill, state}`. */
  async files() {
    const [target, spill, first, second] = await Promise.all([STORE, ...WORKING].map((name) => this.file(name)));
    return { target, spill, state: new Checkpoint(first, second) };
  }

  /** @private */
  async file(name) {
    const file = await OpfsFile.open(this.folder, name);
    this.open.push(file);
    return file;
  }

  /** Bytes that lie here already. */
  bytes() {
    return this.open.reduce((sum, file) => sum + file.size, 0);
  }

  /** Says that the store is whole, and removes what only packing needed. @param {boolean} kept */
  async finish(kept) {
    this.shut();
    await this.describe({ done: true, kept });
    for (const name of WORKING) await this.folder.removeEntry(name).catch(() => {});
  }

  /** Changes what is said about the store. @param {Partial<About>} change */
  async describe(change) {
    this.about = { ...this.about, ...change };
    await writeAbout(this.folder, this.about);
  }

  /** The store, to be read. @returns {Promise<File>} */
  async store() {
    const file = await this.folder.getFileHandle(STORE);
    return file.getFile();
  }

  /** @private */
  shut() {
    for (const file of this.open.splice(0)) file.close();
  }

  /** Gives the place back; what is not whole can be gone on with. */
  close() {
    this.shut();
    this.release();
  }

  /** Gives the place back and removes what is in it. */
  async discard() {
    this.shut();
    try {
      await this.root.erase(this.key);
    } finally {
      this.release();
    }
  }
}

/** Two pairs of one name are told apart by a number. */
function distinct(entries) {
  const seen = new Map();
  return entries.map((entry) => {
    const count = (seen.get(entry.name) ?? 0) + 1;
    seen.set(entry.name, count);
    return count === 1 ? entry : { ...entry, name: `${entry.name} (${count})` };
  });
}

/** @returns {Promise<About | null>} nothing where it is missing or not whole */
async function readAbout(folder) {
  try {
    const file = await (await folder.getFileHandle(ABOUT)).getFile();
    const about = JSON.parse(await file.text());
    return typeof about?.name === 'string' && typeof about.identity === 'string' ? about : null;
  } catch {
    return null;
  }
}

/** Small enough that it is there as a whole or is no JSON. */
async function writeAbout(folder, about) {
  const file = await OpfsFile.open(folder, ABOUT);
  try {
    file.truncate(0);
    file.write(0, new TextEncoder().encode(JSON.stringify(about)));
    file.flush();
  } finally {
    file.close();
  }
}

async function size(folder) {
  let bytes = 0;
  for await (const handle of folder.values()) {
    if (handle.kind === 'file') bytes += (await handle.getFile()).size;
  }
  return bytes;
}

/** How long to wait for a worker that is just ending, in milliseconds. */
const PATIENCE = 2000;

/**
 * A lock of this site that is held until what it resolves to is called; `null` if another has it.
 * @param {string} name
 * @param {'exclusive' | 'shared'} mode
 * @param {{wait?: boolean}} [options]
 * @returns {Promise<(() => void) | null>}
 */
function hold(name, mode, { wait = true } = {}) {
  if (!navigator.locks) return Promise.resolve(() => {});
  const how = wait ? { signal: AbortSignal.timeout(PATIENCE) } : { ifAvailable: true };
  return new Promise((resolve, reject) => {
    const held = navigator.locks.request(name, { mode, ...how }, (lock) => {
      if (!lock) {
        resolve(null);
        return undefined;
      }
      return new Promise((release) => resolve(() => release(undefined)));
    });
    held.catch((error) => (how.signal?.aborted ? resolve(null) : reject(error)));
  });
}

/** A name for an identity. */
async function digest(identity) {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(identity));
  return [...new Uint8Array(bytes, 0, 12)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
