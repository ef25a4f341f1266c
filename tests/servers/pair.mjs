// A large imzML pair that is never on a disk:
//
//   node tests/servers/pair.mjs [--width 64] [--height 64] [--peaks 5120] [--mz 8] [--intensity 8] [--port 0]
//
// GET /pair.imzML and /pair.ibd, by ranges. The .ibd is made as it is sent and is the same at every
// start. Peak j of every spectrum lies within 1 ppm of its own m/z, which `mzOf` tells; its intensity in
// pixel p is `intensityOf(p, j)`: so what any image of 3 ppm must hold is one line. GET /__log answers
// { requests, bytes }. The first line on stdout is the address, with a slash at its end. Loopback only.

import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';

const UUID = '5ec711e0-0000-4000-8000-000000000003';
const PIECE = 256 << 10;

/** A number below 2^32 that looks random. */
function mixed(p, j) {
  let h = Math.imul(p + 1, 0x9e3779b1) ^ Math.imul(j + 1, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

/** Describes a pair; its numbers are exact in f32. */
export function makePair({ width = 64, height = 64, peaks = 5120, mz = 8, intensity = 8 } = {}) {
  const pixels = width * height;
  const step = 900 / peaks;
  /** The m/z around which peak j lies. */
  const mzOf = (j) => 100 + j * step;
  /** An integer from 1 to 4096. */
  const intensityOf = (p, j) => 1 + (mixed(p, j) >>> 20);
  const bytes = peaks * (mz + intensity);
  const size = 16 + pixels * bytes;

  /** The two arrays of spectrum p. */
  const spectrum = (p) => {
    const out = Buffer.allocUnsafe(bytes);
    const masses = mz === 8 ? new Float64Array(peaks) : new Float32Array(peaks);
    const counts = intensity === 8 ? new Float64Array(peaks) : new Float32Array(peaks);
    for (let j = 0; j < peaks; j += 1) {
      const h = mixed(p, j);
      masses[j] = mzOf(j) * (1 + ((h & 1023) - 512) * (1e-6 / 512));
      counts[j] = 1 + (h >>> 20);
    }
    Buffer.from(masses.buffer).copy(out, 0);
    Buffer.from(counts.buffer).copy(out, masses.byteLength);
    return out;
  };
  // Ranges follow each other: the last spectrum is the next one's first.
  let last = { p: -1, bytes: Buffer.alloc(0) };
  /** Bytes from `at` on, at most to the end of their spectrum. */
  const piece = (at, end) => {
    if (at < 16) return Buffer.from(UUID.replaceAll('-', ''), 'hex').subarray(at, end);
    const p = Math.floor((at - 16) / bytes);
    if (last.p !== p) last = { p, bytes: spectrum(p) };
    const from = (at - 16) % bytes;
    return last.bytes.subarray(from, from + end - at);
  };
  return { width, height, peaks, size, mzOf, intensityOf, piece, imzML: Buffer.from(xml({ width, height, peaks, mz, intensity, bytes })) };
}

function xml({ width, height, peaks, mz, intensity, bytes }) {
  const float = (size) => (size === 8 ? '<cvParam cvRef="MS" accession="MS:1000523" name="64-bit float"/>' : '<cvParam cvRef="MS" accession="MS:1000521" name="32-bit float"/>');
  const group = (id, term, size) => `<referenceableParamGroup id="${id}">${term}${float(size)}
      <cvParam cvRef="MS" accession="MS:1000576" name="no compression"/><cvParam cvRef="IMS" accession="IMS:1000101" name="external data" value="true"/></referenceableParamGroup>`;
  const array = (ref, at, size) => `<binaryDataArray encodedLength="0"><referenceableParamGroupRef ref="${ref}"/>
<cvParam cvRef="IMS" accession="IMS:1000103" name="external array length" value="${peaks}"/>
<cvParam cvRef="IMS" accession="IMS:1000104" name="external encoded length" value="${peaks * size}"/>
<cvParam cvRef="IMS" accession="IMS:1000102" name="external offset" value="${at}"/><binary/></binaryDataArray>`;
  const spectra = Array.from({ length: width * height }, (_, p) => {
    const at = 16 + p * bytes;
    return `<spectrum id="spectrum=${p + 1}" index="${p}" defaultArrayLength="0"><scanList count="1"><scan>
<cvParam cvRef="IMS" accession="IMS:1000050" name="position x" value="${(p % width) + 1}"/>
<cvParam cvRef="IMS" accession="IMS:1000051" name="position y" value="${Math.floor(p / width) + 1}"/></scan></scanList>
<binaryDataArrayList count="2">${array('mzArray', at, mz)}${array('intensities', at + peaks * mz, intensity)}</binaryDataArrayList></spectrum>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<mzML version="1.1"><fileDescription><fileContent>
<cvParam cvRef="MS" accession="MS:1000127" name="centroid spectrum"/><cvParam cvRef="IMS" accession="IMS:1000031" name="processed"/>
<cvParam cvRef="IMS" accession="IMS:1000080" name="universally unique identifier" value="{${UUID.toUpperCase()}}"/></fileContent></fileDescription>
<referenceableParamGroupList count="2">${group('mzArray', '<cvParam cvRef="MS" accession="MS:1000514" name="m/z array"/>', mz)}
${group('intensities', '<cvParam cvRef="MS" accession="MS:1000515" name="intensity array"/>', intensity)}</referenceableParamGroupList>
<scanSettingsList count="1"><scanSettings id="s"><cvParam cvRef="IMS" accession="IMS:1000042" name="max count of pixels x" value="${width}"/>
<cvParam cvRef="IMS" accession="IMS:1000043" name="max count of pixels y" value="${height}"/>
<cvParam cvRef="IMS" accession="IMS:1000046" name="pixel size (x)" value="20" unitCvRef="UO" unitAccession="UO:0000017" unitName="micrometer"/></scanSettings></scanSettingsList>
<run id="run"><spectrumList count="${width * height}">
${spectra.join('\n')}
</spectrumList></run></mzML>
`;
}

const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': 'Range',
  'Access-Control-Expose-Headers': 'Content-Range, Content-Length, ETag, Accept-Ranges',
};

/** Serves a pair; resolves to its address and what was asked. */
export async function servePair(pair, port = 0) {
  let log = { requests: 0, bytes: 0 };
  const files = {
    '/pair.imzML': { size: pair.imzML.length, piece: (at, end) => pair.imzML.subarray(at, Math.min(end, at + PIECE)) },
    '/pair.ibd': { size: pair.size, piece: pair.piece },
  };
  const server = createServer({ noDelay: true }, (request, response) => {
    const text = (status, body, more = {}) => {
      response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...CORS, ...more });
      response.end(body);
    };
    if (request.url === '/__log') return text(200, JSON.stringify(log));
    if (request.method === 'OPTIONS') return text(204, '', { 'Access-Control-Max-Age': '600' });
    log.requests += 1;
    const file = files[request.url];
    if (!file) return text(404, 'not found\n');
    const about = { 'Accept-Ranges': 'bytes', ETag: `"pair-${pair.width}x${pair.height}-${pair.peaks}-${file.size}"` };
    const match = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    let [start, end] = [0, file.size];
    if (match) {
      [start, end] = [Number(match[1]), match[2] === '' ? file.size : Math.min(file.size, Number(match[2]) + 1)];
      if (start >= end) return text(416, '', { ...about, 'Content-Range': `bytes */${file.size}` });
      about['Content-Range'] = `bytes ${start}-${end - 1}/${file.size}`;
    }
    response.writeHead(match ? 206 : 200, { ...CORS, ...about, 'Content-Length': end - start });
    const next = () => {
      while (start < end) {
        if (response.destroyed) return;
        const bytes = file.piece(start, end);
        start += bytes.length;
        log.bytes += bytes.length;
        if (!response.write(bytes)) {
          response.once('drain', next);
          return;
        }
      }
      response.end();
    };
    next();
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    base: `http://127.0.0.1:${server.address().port}/`,
    log: () => log,
    reset: () => { log = { requests: 0, bytes: 0 }; },
    stop: () => new Promise((done) => {
      server.closeAllConnections();
      server.close(done);
    }),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = ['width', 'height', 'peaks', 'mz', 'intensity', 'port'];
  const { values } = parseArgs({ options: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) });
  const { port = 0, ...shape } = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
  console.log((await servePair(makePair(shape), port)).base);
}
