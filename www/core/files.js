/**
 * Files that a packing writes and reads back: in memory, and in the browser's own storage.
 *
 * Any object of this form will do in their place.
 *
 * @typedef {object} RandomFile
 * @property {number} size in bytes
 * @property {(at: number, bytes: Uint8Array) => void | Promise<void>} write grows the file as needed
 * @property {(start: number, end: number) => Uint8Array | Promise<Uint8Array>} read fewer bytes where
 *   the file ends
 * @property {(size: number) => void | Promise<void>} truncate to `size` bytes
 * @property {() => void | Promise<void>} flush what was written is safe when it returns
 * @property {() => void | Promise<void>} close
 * @property {boolean} [sync] whether `write` is done with its bytes when it returns; where it is not,
 *   it gets a copy
 * @property {(at: number, place: Uint8Array) => number} [readInto] reads into memory that is lent for
 *   the length of the call; the bytes that there were
 */
import { CoreError } from './errors.js';

/** How often a file that is in use is tried, and the pause between in milliseconds. */
const [MOST_TRIES, PAUSE] = [20, 100];

/** Bytes of one piece of a {@link MemoryFile}. */
const PIECE = 1 << 20;

/**
 * A file in the memory of JavaScript, outside the core's budget.
 * @implements {RandomFile}
 */
export class MemoryFile {
  /** @param {number} [limit] bytes that it may take; without a limit by default */
  constructor(limit = Infinity) {
    this.limit = limit;
    this.size = 0;
    this.sync = true;
    /** @private @type {Uint8Array[]} */
    this.pieces = [];
  }

  /** @param {number} at @param {Uint8Array} bytes */
  write(at, bytes) {
    const end = at + bytes.length;
    if (end > this.limit) throw full('memory', bytes.length, `the limit of this file is ${this.limit} bytes`);
    try {
      while (this.pieces.length * PIECE < end) this.pieces.push(new Uint8Array(PIECE));
    } catch (error) {
      throw full('memory', bytes.length, error.message);
    }
    this.each(at, end, (piece, from, offset) => piece.set(bytes.subarray(offset, offset + PIECE - from), from));
    this.size = Math.max(this.size, end);
  }

  /** @param {number} at @param {Uint8Array} place */
  readInto(at, place) {
    const end = Math.min(at + place.length, this.size);
    this.each(at, end, (piece, from, offset) => place.set(piece.subarray(from, from + end - at - offset), offset));
    return Math.max(0, end - at);
  }

  /** @param {number} start @param {number} end */
  read(start, end) {
    const bytes = new Uint8Array(Math.max(0, Math.min(end, this.size) - start));
    this.readInto(start, bytes);
    return bytes;
  }

  /** @private Calls back for each piece of `[start, end)`, with the place in it and the offset from `start`. */
  each(start, end, work) {
    for (let at = start; at < end; at += PIECE - (at % PIECE)) {
      work(this.pieces[Math.floor(at / PIECE)], at % PIECE, at - start);
    }
  }

  /** @param {number} size */
  truncate(size) {
    if (size > this.size) this.write(this.size, new Uint8Array(size - this.size));
    this.size = size;
    this.pieces.length = Math.ceil(size / PIECE);
    // What is cut off must not come back when the file grows again.
    if (size % PIECE) this.pieces.at(-1).fill(0, size % PIECE);
  }

  flush() {}

  close() {}

  /** @param {string} [type] @returns {Blob} */
  blob(type = 'application/octet-stream') {
    const parts = this.pieces.map((piece, i) => piece.subarray(0, Math.min(PIECE, this.size - i * PIECE)));
    return new Blob(parts, { type });
  }
}

/**
 * A file in the browser's own storage (OPFS), by the synchronous handle that a web worker can have. No
 * other tab can open or remove it while it is open here.
 * @implements {RandomFile}
 */
export class OpfsFile {
  /**
   * @param {FileSystemDirectoryHandle} folder
   * @param {string} name
   * @returns {Promise<OpfsFile>}
   */
  static async open(folder, name) {
    for (let tries = 1; ; tries += 1) {
      try {
        const file = await folder.getFileHandle(name, { create: true });
        return new OpfsFile(await file.createSyncAccessHandle(), name);
      } catch (error) {
        // A worker that is just ending lets go of its files a moment later.
        if (error.name !== 'NoModificationAllowedError' || tries === MOST_TRIES) throw failed(name, error);
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
    }
  }

  /** @private */
  constructor(handle, name) {
    this.handle = handle;
    this.name = name;
    this.sync = true;
    this.size = handle.getSize();
  }

  /** @param {number} at @param {Uint8Array} bytes */
  write(at, bytes) {
    let written;
    try {
      written = this.handle.write(bytes, { at });
    } catch (error) {
      throw failed(this.name, error, bytes.length);
    }
    if (written < bytes.length) throw full(this.name, bytes.length, `${written} bytes were written`);
    this.size = Math.max(this.size, at + bytes.length);
  }

  /** @param {number} at @param {Uint8Array} place */
  readInto(at, place) {
    let got;
    try {
      got = this.handle.read(place, { at });
    } catch (error) {
      throw failed(this.name, error);
    }
    // A private window that is out of room takes bytes and does not have them.
    if (got < place.length && at + place.length <= this.size) throw full(this.name, place.length - got, 'bytes that were written are not there');
    return got;
  }

  /** @param {number} start @param {number} end */
  read(start, end) {
    const bytes = new Uint8Array(Math.max(0, Math.min(end, this.size) - start));
    return bytes.subarray(0, this.readInto(start, bytes));
  }

  /** @param {number} size */
  truncate(size) {
    try {
      this.handle.truncate(size);
    } catch (error) {
      throw failed(this.name, error, size);
    }
    this.size = size;
  }

  flush() {
    let size;
    try {
      this.handle.flush();
      size = this.handle.getSize();
    } catch (error) {
      throw failed(this.name, error);
    }
    if (size < this.size) throw full(this.name, this.size - size, 'bytes that were written are not there');
  }

  close() {
    this.handle.close();
  }
}

/**
 * A file as a source of a job: read straight into what the core lends, where the file can do that.
 * @param {RandomFile} file
 * @param {string} key
 * @returns {import('./source.js').Source}
 */
export function fileSource(file, key) {
  const source = {
    key,
    get size() {
      return file.size;
    },
    read: async (start, end) => file.read(start, end),
  };
  if (file.readInto) source.readInto = (at, place) => file.readInto(at, place);
  return source;
}

/** No room: what is to be written, where, and what the place says. */
function full(name, bytes, why) {
  return new CoreError('space', `${name}: there is no room for ${bytes} more bytes (${why}); make room in the browser's storage or on the disk and start again: it goes on from where it was`);
}

/** An error of the browser's storage. */
function failed(name, error, bytes = 0) {
  if (error?.name === 'QuotaExceededError') return full(name, bytes, "the browser's quota for this site is used up");
  if (error?.name === 'NoModificationAllowedError') return new CoreError('io', `${name}: another tab of this browser is using it; close that tab first`);
  return new CoreError('io', `${name}: the browser's storage failed (${error?.message ?? error})`);
}
