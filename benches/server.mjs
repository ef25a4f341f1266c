// A server with one slow line, for measuring whole jobs:
//
//   node benches/server.mjs [--latency-ms 50] [--mb-per-s 100] [--count 40] [--width 2048]
//                           [--height 2048] [--origins 1] [--port 0] [--folder DIR]
//
// GET /exposure_00.fits ... are synthetic exposures, the same at every start, made as they are sent;
// /exposures.txt lists them. GET /files/NAME is a file of the folder, if one is given. Each answer waits for the latency; all bodies together share the
// bandwidth (1 MB is 10^6 bytes), piece by piece in turn, as on one line. With several origins the
// same server listens on as many ports and the list spreads the exposures over them, because a
// browser opens six connections an origin. GET /__log answers { requests, bytes, busy_ms, cpu_ms },
// GET /__reset clears it. The first line on stdout is the address, with a slash at its end.
// Loopback only; no packages.

import { openSync, readSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';

/** Bytes that are sent at once: the grain of the bandwidth. */
const PIECE = 64 << 10;
/** Longest stretch that is made up for when a timer comes late, in ms; more would be a burst. */
const CATCH_UP = 8;
const BLOCK = 2880;
/** Pixels after which the pattern repeats: a prime, so that rows of no width line up. */
const PERIOD = 1048573;

const options = parseArgs({
  options: Object.fromEntries(
    ['latency-ms', 'mb-per-s', 'count', 'width', 'height', 'origins', 'port', 'folder'].map((name) => [
      name, { type: 'string' },
    ]),
  ),
}).values;
const number = (name, otherwise) => {
  const value = Number(options[name] ?? otherwise);
  if (!(value >= 0)) throw new Error(`--${name} ${options[name]} is not a number`);
  return value;
};
const latency = number('latency-ms', 50);
const rate = number('mb-per-s', 100) * 1000; // bytes a millisecond
const [count, width, height] = [number('count', 40), number('width', 2048), number('height', 2048)];
const origins = Math.max(1, number('origins', 1));

/**
 * Big-endian float32 sky: noise about 1000, one pixel in a hundred never acquired (NaN), one in
 * ten thousand hit by a cosmic ray. A piece more than the period, so that any
 * piece is one slice.
 */
function makePattern() {
  const bytes = Buffer.allocUnsafe(4 * PERIOD + PIECE);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let state = 20240101;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  for (let i = 0; i < PERIOD; i++) {
    const [noise, fate] = [next() + next() + next() - 1.5, next()];
    const value = fate < 0.01 ? NaN : 1000 + 20 * noise + (fate > 0.9999 ? 5e4 : 0);
    view.setFloat32(4 * i, value);
  }
  bytes.copy(bytes, 4 * PERIOD, 0, PIECE);
  return bytes;
}

function makeHeader(index) {
  const cards = {
    SIMPLE: 'T', BITPIX: -32, NAXIS: 2, NAXIS1: width, NAXIS2: height,
    OBJECT: `'bench ${index}'`, BUNIT: "'MJy/sr  '",
    CTYPE1: "'RA---TAN'", CTYPE2: "'DEC--TAN'", CUNIT1: "'deg     '", CUNIT2: "'deg     '",
    CRPIX1: (width + 1) / 2, CRPIX2: (height + 1) / 2, CRVAL1: 161.25, CRVAL2: -59.75,
    CD1_1: -1.75e-5, CD1_2: '0.0', CD2_1: '0.0', CD2_2: 1.75e-5,
  };
  const text = Object.entries(cards).map(([key, value]) => {
    const field = typeof value === 'string' && value[0] === "'" ? value.padEnd(20) : `${value}`.toUpperCase().padStart(20);
    return `${key.padEnd(8)}= ${field}`.padEnd(80);
  });
  return Buffer.from((text.join('') + 'END').padEnd(BLOCK));
}

const pattern = makePattern();
const headers = Array.from({ length: count }, (_, index) => makeHeader(index));
const dataEnd = BLOCK + 4 * width * height;
const size = Math.ceil(dataEnd / BLOCK) * BLOCK;
const zeros = Buffer.alloc(BLOCK);

/** At most a piece of an exposure from byte `at` on; a slice of what is in memory. */
function pieceOf(index, at, end) {
  if (at < BLOCK) return headers[index].subarray(at, Math.min(end, BLOCK));
  if (at >= dataEnd) return zeros.subarray(0, end - at);
  const length = Math.min(PIECE, end - at, dataEnd - at);
  // Each exposure starts elsewhere in the pattern.
  const from = (at - BLOCK + 4 * 26177 * index) % (4 * PERIOD);
  return pattern.subarray(from, from + length);
}

/** The one line: pieces are sent in turn, as soon as the bytes before them would be through. */
const line = { waiting: [], free: 0, timer: false };

function send(response, bytes, sent) {
  line.waiting.push({ response, bytes, sent });
  if (!line.timer) drainLine();
}

function drainLine() {
  line.timer = false;
  const now = performance.now();
  line.free = Math.max(line.free, now - CATCH_UP);
  while (line.waiting.length > 0 && line.free <= now) {
    const { response, bytes, sent } = line.waiting.shift();
    if (response.destroyed) continue;
    line.free += bytes.length / rate;
    tally.bytes += bytes.length;
    tally.busy_ms += bytes.length / rate;
    if (response.write(bytes)) sent();
    else response.once('drain', sent);
  }
  if (line.waiting.length > 0) {
    line.timer = true;
    setTimeout(drainLine, line.free - performance.now());
  }
}

let tally;
function clear() {
  tally = { requests: 0, bytes: 0, busy_ms: 0, cpu: process.cpuUsage() };
}
clear();

const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': 'Range',
  'Access-Control-Expose-Headers': 'Content-Range, Content-Length, ETag, Accept-Ranges',
};
const servers = [];
const addressOf = (server) => `http://127.0.0.1:${server.address().port}/`;
const nameOf = (index) => `exposure_${String(index).padStart(2, '0')}.fits`;

/** An exposure as something to serve. */
function exposure(index) {
  return { size, tag: `bench-${width}x${height}-${index}`, type: 'application/fits', piece: (at, end) => pieceOf(index, at, end) };
}

const files = new Map();

/** A file of the folder as something to serve; null where there is none. */
function fileOf(name) {
  if (!options.folder) return null;
  if (!files.has(name)) {
    const path = join(options.folder, basename(name));
    const about = statSync(path, { throwIfNoEntry: false });
    if (!about?.isFile()) return null;
    const handle = openSync(path);
    const piece = (at, end) => {
      const bytes = Buffer.allocUnsafe(Math.min(PIECE, end - at));
      return bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, at));
    };
    files.set(name, { size: about.size, tag: `file-${about.size}-${about.mtimeMs}`, type: 'application/octet-stream', piece });
  }
  return files.get(name);
}

/** What a path names; null for nothing. */
function thingAt(path) {
  const index = Number(/^\/exposure_(\d+)\.fits$/.exec(path)?.[1] ?? -1);
  if (index >= 0 && index < count) return exposure(index);
  const name = /^\/files\/([^/]+)$/.exec(path)?.[1];
  return name ? fileOf(decodeURIComponent(name)) : null;
}

/** Serves bytes `[start, end)`. */
function serve(response, { piece }, start, end) {
  let at = start;
  const next = () => {
    if (at >= end) return response.end();
    const bytes = piece(at, end);
    at += bytes.length;
    send(response, bytes, next);
  };
  next();
}

function answer(request, response) {
  const path = new URL(request.url, 'http://here').pathname;
  const text = (status, body, more = {}) => {
    response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...CORS, ...more });
    response.end(request.method === 'HEAD' ? '' : body);
  };
  if (path === '/__log') {
    const { cpu, ...log } = tally;
    const { user, system } = process.cpuUsage(cpu);
    return text(200, JSON.stringify({ ...log, cpu_ms: (user + system) / 1000 }));
  }
  if (path === '/__reset') return clear(), text(204, '');
  if (request.method === 'OPTIONS') return text(204, '', { 'Access-Control-Max-Age': '600' });
  tally.requests += 1;
  if (path === '/exposures.txt') {
    const urls = headers.map((_, index) => addressOf(servers[index % servers.length]) + nameOf(index));
    return text(200, urls.join('\n') + '\n');
  }
  const thing = thingAt(path);
  if (!thing) return text(404, 'not found\n');
  const about = { 'Accept-Ranges': 'bytes', ETag: `"${thing.tag}"`, 'Content-Type': thing.type };
  const match = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  let [start, end] = [0, thing.size];
  if (match) {
    [start, end] = [Number(match[1]), match[2] === '' ? thing.size : Math.min(thing.size, Number(match[2]) + 1)];
    if (start >= end) return text(416, '', { ...about, 'Content-Range': `bytes */${thing.size}` });
    about['Content-Range'] = `bytes ${start}-${end - 1}/${thing.size}`;
  }
  response.writeHead(match ? 206 : 200, { ...CORS, ...about, 'Content-Length': end - start });
  if (request.method === 'HEAD') return response.end();
  serve(response, thing, start, end);
}

const listen = (port) =>
  new Promise((resolve) => {
    const server = createServer({ noDelay: true }, (request, response) => {
      // Questions about the server itself do not cross the line.
      if (request.url.startsWith('/__')) answer(request, response);
      else setTimeout(answer, latency, request, response);
    });
    server.keepAliveTimeout = 60_000;
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
for (let i = 0; i < origins; i++) servers.push(await listen(i === 0 ? number('port', 0) : 0));
console.log(addressOf(servers[0]));
