/** A small file that is replaced as a whole: after a crash either the old or the new content is there. */

/** Sequence number, length, checksum; little-endian. */
const HEAD = 12;

/**
 * Kept in two files, written in turn. Each says which of them is newer and carries a checksum, so that
 * one which was only half written does not count.
 */
export class Checkpoint {
  /**
   * @param {import('./files.js').RandomFile} first
   * @param {import('./files.js').RandomFile} second
   */
  constructor(first, second) {
    this.files = [first, second];
    /** Of the newest content; 0 when there is none. @private */
    this.sequence = 0;
  }

  /** The newest content that is whole, or `null`. @returns {Promise<Uint8Array | null>} */
  async load() {
    let newest = null;
    this.sequence = 0;
    for (const file of this.files) {
      const bytes = await file.read(0, file.size);
      const found = parse(bytes);
      if (found && found.sequence > this.sequence) {
        this.sequence = found.sequence;
        newest = found.content;
      }
    }
    return newest;
  }

  /** Replaces the content. {@link load} comes first. @param {Uint8Array} content */
  async save(content) {
    const sequence = this.sequence + 1;
    const bytes = new Uint8Array(HEAD + content.length);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, sequence, true);
    view.setUint32(4, content.length, true);
    bytes.set(content, HEAD);
    view.setUint32(8, crc32(bytes), true);
    // The older of the two: the first has the odd numbers.
    const file = this.files[(sequence + 1) % 2];
    await file.write(0, bytes);
    await file.truncate(bytes.length);
    await file.flush();
    this.sequence = sequence;
  }

  /** Forgets everything. */
  async clear() {
    for (const file of this.files) {
      await file.truncate(0);
      await file.flush();
    }
    this.sequence = 0;
  }
}

/** @param {Uint8Array} bytes */
function parse(bytes) {
  if (bytes.length < HEAD) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [sequence, length, check] = [0, 4, 8].map((at) => view.getUint32(at, true));
  if (length > bytes.length - HEAD) return null;
  const whole = bytes.slice(0, HEAD + length);
  whole.fill(0, 8, HEAD);
  return crc32(whole) === check ? { sequence, content: whole.subarray(HEAD) } : null;
}

/** @type {Uint32Array | undefined} */
let table;

/** The checksum of PNG and zip (ISO 3309), the four bytes of its own place taken as zeros. */
function crc32(bytes) {
  table ??= Uint32Array.from({ length: 256 }, (_, n) => {
    let c = n;
    for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    return c;
  });
  let c = ~0;
  for (const byte of bytes) c = table[(c ^ byte) & 255] ^ (c >>> 8);
  return ~c >>> 0;
}
