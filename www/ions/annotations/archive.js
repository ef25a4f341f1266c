/** Images of many annotations as one ZIP, made while it is written: no more than one row's images are held at a time. */
import { makeZip } from '../../vendor/client-zip.js';
import { ionKey } from './formula.js';

/** Bytes of a download that are held as they came before they become part of a file. */
const FOLD = 16 * 2 ** 20;

/**
 * The name of an isotope image, as the program has it: formula, neutral loss and adduct as METASPACE names its images, then
 * the isotope, but for the first one.
 * @param {{formula: string, adduct: string}} row @param {number} isotope
 */
function imageName(row, isotope) {
  return `${ionKey(row).replace(/[^\w+[\]().-]/g, '_')}${isotope > 0 ? `_${isotope}` : ''}.png`;
}

/**
 * @param {import('./rows.js').Row[]} rows
 * @param {object} how
 * @param {(row: import('./rows.js').Row, signal: AbortSignal) => Promise<(Blob | null)[]>} how.images 16-bit PNGs of a row, one a peak; null where there is no signal
 * @param {AbortSignal} how.signal
 * @param {(done: {rows: number, images: number}) => void} how.progress
 * @returns {ReadableStream<Uint8Array>} the ZIP; PNGs are stored as they are, for they are compressed already
 */
export function archive(rows, { images, signal, progress }) {
  let written = 0;
  async function* files() {
    const taken = new Set();
    for (const [done, row] of rows.entries()) {
      signal.throwIfAborted();
      for (const [isotope, png] of (await images(row, signal)).entries()) {
        if (!png) continue;
        const name = imageName(row, isotope);
        if (taken.has(name)) continue;
        taken.add(name);
        yield { name, input: png, lastModified: new Date() };
        written += 1;
      }
      progress({ rows: done + 1, images: written });
    }
  }
  return makeZip(files());
}

/**
 * Writes a stream to where the user wants it: straight to disk where the browser lets a page do that, else it is put
 * together and downloaded.
 * @param {(signal: AbortSignal) => ReadableStream<Uint8Array>} open called once a place is chosen
 * @param {string} name @param {AbortSignal} signal @param {(blob: Blob, name: string) => void} download
 */
export async function writeTo(open, name, signal, download) {
  if (globalThis.showSaveFilePicker) {
    const place = await globalThis.showSaveFilePicker({ suggestedName: name, types: [{ description: 'ZIP archive', accept: { 'application/zip': ['.zip'] } }] });
    // A cancelled pipe leaves the chosen file as it was.
    await open(signal).pipeTo(await place.createWritable(), { signal });
    return;
  }
  download(await gathered(open(signal), signal), name);
}

/** A stream as a file; unlike a response it fails for the reason for which the stream does. */
async function gathered(stream, signal) {
  let [whole, pieces, held] = [new Blob([], { type: 'application/zip' }), [], 0];
  const fold = () => {
    whole = new Blob([whole, ...pieces], { type: whole.type });
    [pieces, held] = [[], 0];
  };
  await stream.pipeTo(new WritableStream({
    write(piece) {
      pieces.push(piece);
      held += piece.length;
      // The browser may keep a file on disk, which it cannot do with pieces.
      if (held >= FOLD) fold();
    },
  }), { signal });
  fold();
  return whole;
}
