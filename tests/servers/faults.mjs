// A range server that misbehaves on demand: node tests/servers/faults.mjs FOLDER [--port N]
//
// GET /MODE/FILE serves FOLDER/FILE with the fault that MODE names; `ok` has none. The list is at the
// end. GET /__log answers { log, active, peak } as JSON: what was asked and answered, how many
// answers are on their way now, and the most at one time. GET /__reset forgets all of it.
// The first line on stdout is the address, with a slash at its end. Loopback only; no packages.

import { open, realpath, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { sep, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': 'Range, Authorization',
  'Access-Control-Expose-Headers':
    'Content-Range, Content-Length, Content-Encoding, ETag, Last-Modified, Retry-After, Accept-Ranges',
};
const V1 = { ETag: '"v1"', 'Last-Modified': 'Mon, 01 Jan 2024 00:00:00 GMT' };
const PIECE = 64 << 10;

/** Everything asked since the last reset. */
let log = [];
/** Requests so far per counter's name. */
let counts = new Map();
let active = 0;
let peak = 0;

/** Counts one more, and tells how many there are. */
function count(name) {
  const n = (counts.get(name) ?? 0) + 1;
  counts.set(name, n);
  return n;
}

/** A file of the folder, as something with a size that can be read by ranges. */
async function fileIn(folder, name) {
  const path = await realpath(join(folder, name)).catch(() => null);
  if (!path?.startsWith(folder + sep)) return null;
  const about = await stat(path);
  if (!about.isFile()) return null;
  return {
    size: about.size,
    async read(start, end) {
      const handle = await open(path);
      try {
        const bytes = Buffer.alloc(end - start);
        const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
        return bytes.subarray(0, bytesRead);
      } finally {
        await handle.close();
      }
    },
  };
}

/** Bytes in memory in the same form. */
const inMemory = (bytes) => ({ size: bytes.length, read: async (start, end) => bytes.subarray(start, end) });

/** 65536 x 24576 float32 pixels, 6 GB, made as they are read: pixel (x, y) is (y*65536+x) mod 16777213. */
function hugeImage() {
  const [width, height] = [65536, 24576];
  const cards = [
    ['SIMPLE', 'T'], ['BITPIX', -32], ['NAXIS', 2], ['NAXIS1', width], ['NAXIS2', height],
  ].map(([key, value]) => `${key.padEnd(8)}= ${String(value).padStart(20)}`.padEnd(80));
  const header = Buffer.from((cards.join('') + 'END').padEnd(2880));
  const pixels = width * height;
  const size = Math.ceil((2880 + 4 * pixels) / 2880) * 2880;
  const read = async (start, end) => {
    const bytes = Buffer.alloc(end - start);
    if (start < 2880) header.copy(bytes, 0, start, Math.min(2880, end));
    const word = Buffer.alloc(4);
    for (let at = Math.max(start, 2880); at < end; ) {
      const pixel = Math.floor((at - 2880) / 4);
      word.writeFloatBE(pixel < pixels ? pixel % 16777213 : 0);
      const from = (at - 2880) % 4;
      at += word.copy(bytes, at - start, from, Math.min(4, from + end - at));
    }
    return bytes;
  };
  return { size, read };
}

/**
 * The range asked for, half-open and clipped to the size.
 * `null`: none was asked for, or in a form that is ignored; `'bad'`: it cannot be met.
 */
function rangeOf(request, size) {
  const match = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  if (!match) return null;
  const [first, last] = [Number(match[1]), match[2] === '' ? size - 1 : Number(match[2])];
  return first >= size || last < first ? 'bad' : { start: first, end: Math.min(last + 1, size), last };
}

/** The value of a Content-Range field. */
const field = (start, end, size) => `bytes ${start}-${end - 1}/${size}`;

/** One answer to one request, logged as soon as the request is there. */
class Answer {
  constructor(request, response, cors = CORS) {
    Object.assign(this, { request, response, cors });
    const { method, url, headers: asked } = request;
    /** What the log tells of it; the status comes with the head, and never if there is none. */
    this.entry = {
      method, path: url, status: null, range: asked.range ?? null,
      if_range: asked['if-range'] ?? null, if_match: asked['if-match'] ?? null,
      accept_encoding: asked['accept-encoding'] ?? null, user_agent: asked['user-agent'] ?? null,
      // Never its value.
      authorization: 'authorization' in asked,
    };
    log.push(this.entry);
  }

  head(status, headers, length) {
    this.response.writeHead(status, {
      'Content-Type': 'application/octet-stream', ...this.cors, ...headers, 'Content-Length': length,
    });
    this.entry.status = status;
  }

  text(status, headers, text) {
    this.head(status, { 'Content-Type': 'text/plain', ...headers }, Buffer.byteLength(text));
    this.response.end(this.request.method === 'HEAD' ? '' : text);
  }

  /** Streams `[start, end)` of a file, but hangs up at `stop`; `wait` is a pause after each piece. */
  async send(status, headers, file, start, end, { stop = end, wait = 0 } = {}) {
    this.head(status, headers, end - start);
    if (this.request.method === 'HEAD') return this.response.end();
    for (let at = start; at < stop && !this.response.destroyed; at += PIECE) {
      const bytes = await file.read(at, Math.min(at + PIECE, stop));
      // The end goes with the last piece: a client that has all bytes may ask again at once.
      if (at + bytes.length === end) return this.response.end(bytes);
      // Until it is on the wire: what is still in a buffer does not survive a `destroy`. The
      // callback also comes, with an error, when the client has gone.
      await new Promise((resume) => this.response.write(bytes, resume));
      if (wait) await pause(wait);
    }
    if (stop < end) this.response.destroy();
    else this.response.end();
  }

  /** The right answer to any request. */
  async right(file, headers = V1, options = {}) {
    const range = rangeOf(this.request, file.size);
    if (range === 'bad') return this.unsatisfiable(file, headers);
    const all = { 'Accept-Ranges': 'bytes', ...headers };
    if (!range) return this.send(200, all, file, 0, file.size, options);
    all['Content-Range'] = field(range.start, range.end, file.size);
    return this.send(206, all, file, range.start, range.end, options);
  }

  unsatisfiable(file, headers = V1) {
    this.text(416, { ...headers, 'Content-Range': `bytes */${file.size}` }, '');
  }
}

/** mode → what it does to (answer, file, name); file is null where the mode needs none. */
const MODES = {
  ok: (answer, file) => answer.right(file),
  // Ignores ranges.
  norange: (answer, file) => answer.send(200, { ETag: '"v1"' }, file, 0, file.size),
  // Ignores ranges and does not say how long the file is.
  'norange-chunked': async (answer, file) => {
    answer.entry.status = 200;
    answer.response.writeHead(200, { ...answer.cors, ETag: '"v1"' });
    answer.response.end(await file.read(0, file.size));
  },
  // The range and the size are those of the compressed copy, if the client takes one.
  gzip: async (answer, file) => {
    if (!/gzip/.test(answer.request.headers['accept-encoding'] ?? '')) return answer.right(file);
    const packed = inMemory(gzipSync(await file.read(0, file.size)));
    return answer.right(packed, { ETag: '"v1-gzip"', 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' });
  },
  // Cuts the part from the plain file and compresses it, asked or not.
  'gzip-slice': async (answer, file) => {
    const range = rangeOf(answer.request, file.size);
    if (!range || range === 'bad') return answer.right(file);
    const packed = inMemory(gzipSync(await file.read(range.start, range.end)));
    const headers = { 'Content-Encoding': 'gzip', 'Content-Range': field(range.start, range.end, file.size) };
    return answer.send(206, { ...V1, ...headers }, packed, 0, packed.size);
  },
  nocors: (answer, file) => {
    answer.cors = {};
    return answer.right(file);
  },
  // CORS, but a page sees neither Content-Range nor ETag.
  noexpose: (answer, file) => {
    answer.cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'Range' };
    return answer.right(file);
  },
  // Sends no Content-Range, no ETag, nothing: what a page sees of `noexpose`.
  bare: (answer, file) => {
    const range = rangeOf(answer.request, file.size);
    if (range === 'bad') return answer.text(416, {}, '');
    if (!range) return answer.send(200, {}, file, 0, file.size);
    return answer.send(206, {}, file, range.start, range.end);
  },
  // The same, and ranges that pass the end are refused.
  'bare-416': (answer, file) => {
    const range = rangeOf(answer.request, file.size);
    if (range === 'bad' || range?.last >= file.size) return answer.text(416, {}, '');
    return MODES.bare(answer, file);
  },
  // Promises all, sends half and hangs up.
  truncate: (answer, file) => {
    const range = rangeOf(answer.request, file.size);
    if (range === 'bad') return answer.unsatisfiable(file);
    const { start, end } = range ?? { start: 0, end: file.size };
    const headers = { ...V1, 'Content-Range': field(start, end, file.size) };
    return answer.send(range ? 206 : 200, headers, file, start, end, { stop: start + ((end - start) >> 1) });
  },
  // Hangs up in the middle of the first answer, then behaves.
  'truncate-once': (answer, file, name) =>
    count(`truncate ${name}`) === 1 ? MODES.truncate(answer, file) : answer.right(file),
  // After three answers the file is another one.
  'etag-change': async (answer, file, name) => {
    if (count(`etag ${name}`) <= 3) return answer.right(file);
    const other = (await file.read(0, file.size)).map((byte) => byte ^ 255);
    return answer.right(inMemory(other), { ETag: '"v2"', 'Last-Modified': 'Tue, 02 Jan 2024 00:00:00 GMT' });
  },
  // The same without tags: only the date tells.
  'date-change': async (answer, file, name) => {
    const day = count(`date ${name}`) <= 3 ? 'Mon, 01 Jan' : 'Tue, 02 Jan';
    return answer.right(file, { 'Last-Modified': `${day} 2024 00:00:00 GMT` });
  },
  // The same with nothing but the size.
  'size-change': async (answer, file, name) => {
    if (count(`size ${name}`) <= 3) return answer.right(file, {});
    const bytes = await file.read(0, file.size);
    return answer.right(inMemory(Buffer.concat([bytes, Buffer.alloc(2880)])), {});
  },
  '503-then-ok': (answer, file, name) => {
    if (count(`503 ${name} ${answer.request.headers.range}`) > 2) return answer.right(file);
    return answer.text(503, { 'Retry-After': '0' }, 'busy\n');
  },
  '503-always': (answer) => answer.text(503, {}, 'busy\n'),
  // Busy once, and says until when as a date.
  '503-date': (answer, file, name) => {
    if (count(`date503 ${name}`) > 1) return answer.right(file);
    return answer.text(503, { 'Retry-After': new Date(Date.now() + 2000).toUTCString() }, 'busy\n');
  },
  // Asks for an hour of patience.
  '503-hour': (answer) => answer.text(503, { 'Retry-After': '3600' }, 'busy\n'),
  500: (answer) => answer.text(500, {}, 'broken\n'),
  403: (answer) => answer.text(403, {}, 'forbidden\n'),
  redirect: (answer, _, name) => answer.text(302, { Location: `/ok/${name}` }, ''),
  'redirect-absolute': (answer, _, name) =>
    answer.text(307, { Location: `http://${answer.request.headers.host}/ok/${name}` }, ''),
  // To the same server by another name, which is another origin; it wants no credentials.
  'redirect-away': (answer, _, name) => {
    const port = answer.request.socket.localPort;
    answer.text(302, { Location: `http://localhost:${port}/ok/${name}` }, '');
  },
  'redirect-home': (answer, _, name) => answer.text(301, { Location: `../auth/${name}` }, ''),
  'redirect-loop': (answer) => answer.text(302, { Location: answer.request.url }, ''),
  'redirect-file': (answer) => answer.text(302, { Location: 'file:///etc/passwd' }, ''),
  // Half a second before the head, then 64 KiB each 0.2 s.
  slow: async (answer, file) => {
    await pause(500);
    return answer.right(file, V1, { wait: 200 });
  },
  // Sends a head and one byte, then nothing for a minute.
  stall: async (answer, file) => {
    const range = rangeOf(answer.request, file.size);
    const { start, end } = range ?? { start: 0, end: file.size };
    answer.head(206, { ...V1, 'Content-Range': field(start, end, file.size) }, end - start);
    answer.response.write(await file.read(start, start + 1));
    // Ends when the client goes, or with the process.
    const late = setTimeout(() => answer.response.destroy(), 60_000).unref();
    answer.response.once('close', () => clearTimeout(late));
  },
  'head-403': (answer, file) =>
    answer.request.method === 'HEAD' ? answer.text(403, {}, '') : answer.right(file),
  // The asked bytes, said to lie 10 bytes further on.
  'wrong-content-range': (answer, file) => {
    const range = rangeOf(answer.request, file.size);
    if (!range || range === 'bad') return answer.right(file);
    const { start, end } = range;
    const headers = { ...V1, 'Content-Range': field(start + 10, end + 10, file.size + 10) };
    return answer.send(206, headers, file, start, end);
  },
  // As many bytes as were asked for, but the first ones, and says so.
  'wrong-body': (answer, file) => {
    const range = rangeOf(answer.request, file.size);
    if (!range || range === 'bad') return answer.right(file);
    const length = range.end - range.start;
    return answer.send(206, { ...V1, 'Content-Range': field(0, length, file.size) }, file, 0, length);
  },
  // From up to 100 bytes before the asked start, and says so.
  early: (answer, file) => {
    const range = rangeOf(answer.request, file.size);
    if (!range || range === 'bad') return answer.right(file);
    const start = Math.max(0, range.start - 100);
    return answer.send(206, { ...V1, 'Content-Range': field(start, range.end, file.size) }, file, start, range.end);
  },
  // A body of one byte more than its Content-Range tells.
  long: (answer, file) => {
    const range = rangeOf(answer.request, file.size);
    if (!range || range === 'bad' || range.end >= file.size) return answer.right(file);
    const headers = { ...V1, 'Content-Range': field(range.start, range.end, file.size) };
    return answer.send(206, headers, file, range.start, range.end + 1);
  },
  multipart: (answer, file) => {
    const headers = { ...V1, 'Content-Type': 'multipart/byteranges; boundary=x' };
    return answer.send(206, headers, file, 0, Math.min(file.size, 100));
  },
  // Refuses a range that passes the end, in place of clipping it.
  '416-last': (answer, file) => {
    const range = rangeOf(answer.request, file.size);
    return range?.last >= file.size ? answer.unsatisfiable(file) : answer.right(file);
  },
  // Without a range it answers nothing: 6 GB are for nobody.
  virtual: (answer) => {
    const file = hugeImage();
    if (!answer.request.headers.range) return answer.text(400, {}, 'a range is needed here\n');
    return answer.right(file, { ETag: '"huge"' });
  },
  // Every third answer is a complaint.
  429: (answer, file, name) =>
    count(`429 ${name}`) % 3 ? answer.right(file) : answer.text(429, { 'Retry-After': '1' }, 'slow down\n'),
  auth: (answer, file) =>
    answer.request.headers.authorization
      ? answer.right(file)
      : answer.text(401, { 'WWW-Authenticate': 'Bearer realm="data"' }, ''),
  'html-200': (answer) =>
    answer.text(200, { 'Content-Type': 'text/html' },
      '<!DOCTYPE html><html><title>Sign in</title><body>please sign in</body></html>\n'),
  // A weak tag, which If-Range and If-Match never match.
  'weak-etag': (answer, file) => {
    const headers = { ...V1, ETag: 'W/"v1"' };
    if (answer.request.headers['if-match']) return answer.text(412, headers, '');
    if (answer.request.headers['if-range']) return answer.send(200, headers, file, 0, file.size);
    return answer.right(file, headers);
  },
  // At most 1000 bytes an answer, and says so.
  'short-206': (answer, file) => {
    const range = rangeOf(answer.request, file.size);
    if (!range || range === 'bad') return answer.right(file);
    const end = Math.min(range.end, range.start + 1000);
    return answer.send(206, { ...V1, 'Content-Range': field(range.start, end, file.size) }, file, range.start, end);
  },
  // Hangs up before the first byte of every other answer.
  reset: (answer, file, name) => {
    if (count(`reset ${name}`) % 2 === 0) return answer.right(file);
    answer.request.socket.resetAndDestroy();
  },
  'reset-always': (answer) => answer.request.socket.resetAndDestroy(),
};
/** Modes that answer without a file. */
const FILELESS = new Set(['virtual']);

async function answerTo(folder, request, response) {
  const path = decodeURIComponent(new URL(request.url, 'http://here').pathname);
  if (path === '/__log') {
    response.writeHead(200, { 'Content-Type': 'application/json', ...CORS });
    return response.end(JSON.stringify({ log, active, peak }));
  }
  if (path === '/__reset') {
    [log, counts, peak] = [[], new Map(), 0];
    return response.writeHead(204, CORS).end();
  }
  const [, mode, name] = /^\/([^/]+)\/(.*)$/.exec(path) ?? [];
  const answer = new Answer(request, response);
  if (!Object.hasOwn(MODES, mode ?? '')) {
    return answer.text(404, {}, `modes: ${Object.keys(MODES).join(' ')}\n`);
  }
  if (request.method === 'OPTIONS') {
    if (mode === 'nocors') return response.writeHead(405).end();
    return response.writeHead(204, { ...CORS, 'Access-Control-Allow-Methods': 'GET, HEAD' }).end();
  }
  // Before anything is waited for: a client may go at any time.
  active += 1;
  peak = Math.max(peak, active);
  const over = () => {
    request.socket.off('end', leave);
    response.off('close', over);
    active -= 1;
  };
  // Node itself notices a client that hung up only when it writes to it, and a response that waits
  // for the one before it on its connection is never told.
  const leave = () => {
    over();
    response.destroy();
  };
  request.socket.once('end', leave);
  response.once('close', over);
  const file = FILELESS.has(mode) ? null : await fileIn(folder, name);
  if (!file && !FILELESS.has(mode)) return answer.text(404, {}, 'not found\n');
  return MODES[mode](answer, file, name);
}

const [folder, flag, port] = process.argv.slice(2);
if (!folder || (flag && flag !== '--port')) {
  console.error('usage: node faults.mjs FOLDER [--port N]');
  process.exit(2);
}
const root = await realpath(folder);
const server = createServer((request, response) => {
  answerTo(root, request, response).catch((error) => {
    console.error(error);
    response.destroy();
  });
});
server.keepAliveTimeout = 30_000;
server.listen(Number(port ?? 0), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
