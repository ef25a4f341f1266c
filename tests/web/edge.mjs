/**
 * The Worker in the real runtime, offline: the very bundle that is deployed, with a bucket, queues and a cache of this
 * machine. Nothing here builds; `cargo xtask test` has done that.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';

import { ROOT } from './site.mjs';

/** What `wrangler deploy --dry-run` leaves: the bundled script and the module. */
export const BUNDLE = process.env.SECTILE_EDGE ?? join(ROOT, 'target/dist/edge/bundle');

/** The variables that are deployed, read from the settings beside the Worker. */
export function settings() {
  const text = readFileSync(join(ROOT, 'www/edge/wrangler.jsonc'), 'utf8');
  return JSON.parse(text.replace(/^\s*\/\/.*$/gm, ''));
}

/**
 * @typedef {object} Setup
 * @property {string} [persist] folder of the bucket, so that another Worker can start with the same one
 * @property {Record<string, Uint8Array | string>} [objects] put into the bucket before the first request
 * @property {Record<string, any>} [vars] in place of the deployed ones
 * @property {boolean} [queues] whether the queue and its dead letters are consumed; they are by default
 * @property {Record<string, any>} [consumer] settings of the queue's consumer in place of the deployed ones
 * @property {Record<string, any>} [dead] settings of the consumer of its dead letters
 * @property {number} [port] where it listens; any free one by default
 * @property {string} [entry] text of a module that stands before the Worker: it imports `./worker.js`
 */

/**
 * Starts the Worker.
 * @param {Setup} [setup]
 */
export async function startWorker({ persist, objects = {}, vars = {}, queues = true, consumer = {}, dead = {}, port: wanted = 0, entry } = {}) {
  const { compatibility_date: compatibilityDate, vars: deployed, queues: { consumers } } = settings();
  const queueConsumers = Object.fromEntries(consumers.map(({ queue, ...told }, at) => [queue, {
    maxBatchSize: told.max_batch_size, maxBatchTimeout: told.max_batch_timeout, maxRetries: told.max_retries,
    retryDelay: told.retry_delay, deadLetterQueue: told.dead_letter_queue, ...(at === 0 ? consumer : dead),
  }]));
  const worker = new Miniflare({
    modulesRoot: BUNDLE,
    modules: [...(entry ? [{ type: 'ESModule', path: join(BUNDLE, 'entry.js'), contents: entry }] : []), ...modules()],
    compatibilityDate,
    bindings: { ...deployed, ...vars },
    r2Buckets: { BUCKET: 'sectile' },
    r2Persist: persist ?? false,
    queueProducers: { SHARDS: 'sectile-shards' },
    queueConsumers: queues ? queueConsumers : {},
    cf: false,
    host: '127.0.0.1',
    port: wanted,
  });
  const bucket = await worker.getR2Bucket('BUCKET');
  // Not a Buffer: the way into the runtime knows only plain arrays.
  for (const [key, body] of Object.entries(objects)) await bucket.put(key, typeof body === 'string' ? body : new Uint8Array(body));
  const { port } = await worker.ready;
  let stopped;
  return {
    bucket,
    /** A request, its address as `fetch` would write it; the answer has all of its body. @param {string} path @param {any} [init] */
    async ask(path, init) {
      const send = () => worker.dispatchFetch(`http://edge.test${path}`, { redirect: 'manual', ...init });
      // A connection kept from before, which the runtime had closed meanwhile: nothing has been asked yet.
      const answer = await send().catch((error) => (error.cause?.code === 'UND_ERR_SOCKET' && error.cause.socket?.bytesRead === 0 ? send() : Promise.reject(error)));
      // A body that nobody reads would keep its connection, and the end of the runtime waits for that.
      const body = await answer.arrayBuffer();
      return new Response(body.byteLength > 0 ? body : null, { status: answer.status, headers: [...answer.headers] });
    },
    /** A request of its own connection, whose target goes over the wire as it is. @param {string} target */
    raw: (target, { method = 'GET', headers = {}, signal } = {}) => new Promise((resolve, reject) => {
      const sent = httpRequest({ host: '127.0.0.1', port, path: target, method, headers, signal, agent: false }, async (answer) => {
        const pieces = [];
        for await (const piece of answer) pieces.push(piece);
        resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(pieces) });
      });
      sent.once('error', reject);
      sent.end();
    }),
    /** The address of the running Worker, for browsers. */
    base: `http://127.0.0.1:${port}`,
    /** Sends a batch to the queue by hand. @param {string} queue @param {any[]} bodies */
    deliver: async (queue, bodies) => {
      const messages = bodies.map((body, at) => ({ id: `${at}`, timestamp: new Date(0), attempts: 1, body }));
      return (await worker.getWorker()).queue(queue, messages);
    },
    stop: () => (stopped ??= worker.dispose()),
  };
}

/** The bundle's modules: the script, and wasm that it imports by name. */
function modules() {
  if (!existsSync(join(BUNDLE, 'worker.js'))) throw new Error('build the Worker first: cargo xtask edge --build');
  const wasm = readdirSync(BUNDLE).filter((name) => name.endsWith('.wasm'));
  return [
    { type: 'ESModule', path: join(BUNDLE, 'worker.js') },
    ...wasm.map((name) => ({ type: 'CompiledWasm', path: join(BUNDLE, name) })),
  ];
}

/**
 * A file, and what is wrong with its server: `span` stands in place of the true `Content-Range`, `cut` ends the body after
 * so many bytes, `reset` the connection before any answer.
 * @typedef {{bytes: Uint8Array, etag?: string, status?: number, location?: string, ranges?: boolean, delay?: number, cut?: number,
 *   span?: string, reset?: boolean}} Served
 */

/**
 * A server of files in memory, whose answers a test may change while it runs.
 * @param {Record<string, Served>} files by their paths
 */
export async function startOrigin(files) {
  const log = [];
  const server = createServer(async (request, response) => {
    const file = files[request.url];
    log.push({ path: request.url, range: request.headers.range, headers: request.headers });
    if (file?.reset) return void request.socket.resetAndDestroy();
    if (file?.delay) await new Promise((resolve) => setTimeout(resolve, file.delay));
    if (!file || file.status) {
      response.writeHead(file?.status ?? 404, file?.location ? { location: file.location } : {});
      return response.end('no');
    }
    const about = { etag: file.etag ?? '"1"', 'accept-ranges': 'bytes' };
    const range = file.ranges === false ? null : /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    if (!range) {
      response.writeHead(200, { ...about, 'content-length': file.bytes.length });
      return response.end(file.bytes);
    }
    const [start, end] = [Number(range[1]), Math.min(Number(range[2]) + 1, file.bytes.length)];
    if (start >= file.bytes.length) {
      response.writeHead(416, { ...about, 'content-range': `bytes */${file.bytes.length}` });
      return response.end();
    }
    response.writeHead(206, { ...about, 'content-length': end - start, 'content-range': file.span ?? `bytes ${start}-${end - 1}/${file.bytes.length}` });
    if (file.cut === undefined) return response.end(file.bytes.subarray(start, end));
    response.write(file.bytes.subarray(start, Math.min(end, start + file.cut)));
    setTimeout(() => response.destroy(), 20);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    base: `http://127.0.0.1:${server.address().port}`,
    files,
    log,
    stop: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(resolve);
    }),
  };
}
