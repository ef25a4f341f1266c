import { inflateSync } from 'node:zlib';

/**
 * Codes of a 16-bit grey PNG, with or without alpha, and its text chunks; as the specification says, with all
 * five filters.
 * @param {Uint8Array} bytes
 */
export function readPng(bytes) {
  const png = Buffer.from(bytes);
  const text = {};
  const data = [];
  let head;
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const kind = png.toString('latin1', at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (kind === 'IHDR') head = { width: body.readUInt32BE(0), height: body.readUInt32BE(4), depth: body[8], color: body[9] };
    if (kind === 'IDAT') data.push(body);
    if (kind === 'tEXt') {
      const [key, value] = body.toString('latin1').split('\0');
      text[key] = value;
    }
    at += 12 + length;
  }
  const { width, height, color } = head;
  const size = color === 4 ? 4 : 2;
  const raw = inflateSync(Buffer.concat(data));
  const stride = width * size;
  const codes = new Uint16Array(width * height);
  const alpha = color === 4 ? new Uint16Array(width * height) : null;
  let above = Buffer.alloc(stride);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    const row = Buffer.from(raw.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)));
    for (let i = 0; i < stride; i += 1) {
      const [left, up, corner] = [i >= size ? row[i - size] : 0, above[i], i >= size ? above[i - size] : 0];
      const average = (left + up) >> 1;
      const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
      const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
      row[i] = row[i] + [0, left, up, average, paeth][filter];
    }
    for (let x = 0; x < width; x += 1) {
      codes[y * width + x] = row.readUInt16BE(x * size);
      if (alpha) alpha[y * width + x] = row.readUInt16BE(x * size + 2);
    }
    above = row;
  }
  return { ...head, codes, alpha, text };
}
