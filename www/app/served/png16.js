/**
 * 16-bit grey PNG as tiles have them. The browser's own decoder gives 8 bits of each sample, and takes colour
 * profiles into account; here every code arrives as it was written.
 */

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** The longest side that is read: a tile has 256 or 512. */
const LARGEST = 4096;

/**
 * Codes of a picture, top row first, and what its text says of them: value = bzero + bscale · code, 0 is no data.
 * @param {Uint8Array} bytes
 * @returns {Promise<{width: number, height: number, codes: Uint16Array, bzero: number, bscale: number, unit: string | null}>}
 * @throws {TypeError} for anything else than a whole 16-bit grey PNG without alpha that states its scale
 */
export async function readPng16(bytes) {
  const { width, height, data, text } = chunks(bytes);
  const [bzero, bscale] = ['BZERO', 'BSCALE'].map((name) => Number(text.get(name) ?? NaN));
  if (!Number.isFinite(bzero) || !(bscale > 0)) throw new TypeError('The tile does not state its scale (BZERO and BSCALE).');
  const rows = await inflated(data, (2 * width + 1) * height);
  return { width, height, codes: unfiltered(rows, width, height), bzero, bscale, unit: text.get('BUNIT') ?? null };
}

function chunks(bytes) {
  if (SIGNATURE.some((byte, at) => bytes[at] !== byte)) throw new TypeError('The tile is no PNG.');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [data, text] = [[], new Map()];
  let head = null;
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = view.getUint32(at);
    const kind = latin1(bytes.subarray(at + 4, at + 8));
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (body.length < length) break;
    if (kind === 'IHDR') head = header(body);
    if (kind === 'IDAT') data.push(body);
    if (kind === 'tEXt') text.set(...latin1(body).split('\0', 2));
    if (kind === 'IEND') {
      if (!head || data.length === 0) break;
      return { ...head, data, text };
    }
    at += 12 + length;
  }
  throw new TypeError('The tile is cut short.');
}

function header(body) {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  if (body.length !== 13) throw new TypeError('The tile has a malformed header.');
  const [width, height] = [view.getUint32(0), view.getUint32(4)];
  const form = [...body.subarray(8, 13)].join();
  if (form !== '16,0,0,0,0') throw new TypeError('The tile is not 16-bit grey without alpha.');
  if (!(width > 0 && height > 0 && width <= LARGEST && height <= LARGEST)) {
    throw new TypeError(`A tile of ${width} × ${height} pixels is none: a side has ${LARGEST} at most.`);
  }
  return { width, height };
}

function latin1(bytes) {
  return String.fromCharCode(...bytes);
}

/** Exactly `length` bytes out of a zlib stream: never more, however much it holds. */
async function inflated(pieces, length) {
  const out = new Uint8Array(length);
  const reader = new Blob(pieces).stream().pipeThrough(new DecompressionStream('deflate')).getReader();
  let at = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (at + value.length > length) throw new TypeError('it holds more than its pixels');
      out.set(value, at);
      at += value.length;
    }
    if (at < length) throw new TypeError('it holds less than its pixels');
  } catch (error) {
    reader.cancel().catch(() => {});
    throw new TypeError(`The tile cannot be unpacked: ${error.message}.`);
  }
  return out;
}

/** Undoes the five filters (PNG §9.2), two bytes a pixel, and puts the bytes together. */
function unfiltered(raw, width, height) {
  const stride = 2 * width;
  const codes = new Uint16Array(width * height);
  let above = new Uint8Array(stride);
  for (let y = 0; y < height; y += 1) {
    const start = y * (stride + 1) + 1;
    const row = raw.subarray(start, start + stride);
    const filter = FILTERS[raw[start - 1]];
    if (!filter) throw new TypeError(`The tile has a filter of number ${raw[start - 1]}; there are 0 to 4.`);
    filter(row, above);
    for (let x = 0; x < width; x += 1) codes[y * width + x] = (row[2 * x] << 8) | row[2 * x + 1];
    above = row;
  }
  return codes;
}

const FILTERS = [
  () => {},
  (row) => {
    for (let i = 2; i < row.length; i += 1) row[i] += row[i - 2];
  },
  (row, above) => {
    for (let i = 0; i < row.length; i += 1) row[i] += above[i];
  },
  (row, above) => {
    for (let i = 0; i < row.length; i += 1) row[i] += ((i < 2 ? 0 : row[i - 2]) + above[i]) >> 1;
  },
  (row, above) => {
    for (let i = 0; i < row.length; i += 1) {
      const [left, corner] = i < 2 ? [0, 0] : [row[i - 2], above[i - 2]];
      row[i] += nearest(left, above[i], corner);
    }
  },
];

/** Paeth's predictor. */
function nearest(left, up, corner) {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
