/** The Worker's side of the interface: it reads, waits, keeps and sends. What to answer is decided in the core. */
import { checked, CoreError, isTrap, release } from '../core/errors.js';
import { run, walk } from '../core/session.js';
import { Tally } from '../core/tally.js';
import { BucketSource, OriginSource, PIECE } from './bucket.js';
import { Engine } from './engine.js';
import { Gate } from './gate.js';
import { Jobs } from './jobs.js';
import { Visit } from './visit.js';

/** Requests in flight of one invocation: the platform opens no more connections. */
export const IN_FLIGHT = 6;
/** What JavaScript may hold besides the core: bodies on their way in and out. With the core's memory below 128 MB. */
export const SCRIPT_BYTES = 48 << 20;
/** Bytes of linear memory that open datasets may take; those used last stay. */
const OPEN_BYTES = 8 << 20;
/** The most bytes of an object that is read at once: a catalog, or what headers said. */
const SMALL = 4 << 20;
/** Where it is kept what headers said, so that another isolate reads one object and not every file. */
const OPENED = '.sectile/opened/';

/** Headers that a cache has put on. */
const OURS = new Set(['age', 'cache-control', 'cf-cache-status', 'date', 'expires']);

/** All that one isolate keeps between requests. */
export class Host {
  /** @param {any} env bindings and variables */
  constructor(env) {
    this.env = env;
    const queue = { most: Number(env.QUEUE_LENGTH), wait: Number(env.QUEUE_MS) };
    /** Linear memory by plan, and bytes of JavaScript by count. */
    this.gate = new Gate(Number(env.LIMIT_MEMORY), queue);
    this.script = new Gate(SCRIPT_BYTES, queue);
    this.jobs = new Jobs(this);
    /** @type {Promise<Engine> | undefined} */
    this.engine = undefined;
  }

  /** Answers a request; never rejects. @param {Request} request @param {ExecutionContext} context */
  async answer(request, context) {
    const visit = new Visit(request, context);
    let reply;
    let engine;
    try {
      engine = await this.start();
      const work = this.reply(engine, visit);
      // Others may wait for the same: it goes on although who asked first has gone away.
      context.waitUntil(work.catch(() => {}));
      reply = await engine.within(Number(this.env.DEADLINE_MS), work);
    } catch (error) {
      // What is neither a refusal nor a broken wait came through the core, which may have been left in its middle.
      const strange = engine && !(error instanceof CoreError || error instanceof DOMException);
      const gone = strange && this.retire(engine, error);
      reply = await this.refusal(visit, isTrap(error) ? gone : error);
    }
    return this.send(visit, reply);
  }

  /** The instance that runs, started if there is none. */
  start() {
    this.engine ??= Engine.start().then((engine) => (this.running = engine)).catch((error) => {
      this.engine = undefined;
      throw error;
    });
    return this.engine;
  }

  /** Bytes of linear memory of the instance that runs. */
  memory() {
    return this.running?.instance.memoryBytes() ?? 0;
  }

  /** Gives a lost instance up: the next request starts another. Hands back what to tell. @param {Engine} engine @param {Error} [error] */
  retire(engine, error) {
    if (error) console.error(error.stack);
    if (!engine.lost) this.engine = undefined;
    return engine.retire();
  }

  /** @private What went wrong, as an answer of an instance that runs. */
  async refusal(visit, error) {
    const { code = 'internal', message, status } = error instanceof CoreError ? error : {};
    try {
      const engine = await this.start();
      return (engine.service ?? engine.core).refusal(visit.asking(), { code, message, status });
    } catch (worse) {
      console.error(worse?.stack ?? worse);
      return { status: 500, headers: ['Cache-Control', 'no-store'], body: undefined };
    }
  }

  /** @private */
  async reply(engine, visit) {
    await visit.time('open', this.catalog(engine, visit));
    for (let anew = false; ; ) {
      const asked = checked(() => engine.service.ask(visit.asking()));
      const { dataset } = asked;
      try {
        if (asked.kind === 'reply') return asked.reply();
        if (asked.kind === 'open') await visit.time('open', engine.once(`open ${dataset}`, () => this.open(engine, dataset, visit)));
        else if (asked.kind === 'work') return await this.work(engine, asked, visit);
        else {
          const reply = await this.jobs.answer(engine, asked, visit);
          if (reply) return reply;
        }
      } catch (error) {
        // Opened anew once: what was known of its files is no longer true.
        if (error.code !== 'changed' || anew || !dataset) throw error;
        anew = true;
        await this.forget(engine, dataset, visit);
      } finally {
        release(asked);
      }
    }
  }

  /** Reads the catalog, unless that was done a moment ago. */
  async catalog(engine, visit) {
    if (engine.service && Date.now() < engine.until) return;
    await engine.once('catalog', async () => {
      const { MANIFEST, MANIFEST_SECONDS } = this.env;
      const found = await this.object(MANIFEST, visit.tally, engine.service && { etagDoesNotMatch: engine.tag });
      if (!found) throw new CoreError('catalog', `the bucket has no ${MANIFEST}, or one larger than ${SMALL} bytes`);
      if (found.bytes) {
        const service = checked(() => new engine.core.Service(found.bytes, this.limits()));
        release(engine.service);
        engine.sources.clear();
        Object.assign(engine, { service, tag: found.etag });
      }
      engine.until = Date.now() + 1000 * Number(MANIFEST_SECONDS);
    });
  }

  /** A small object of the bucket, if there is one; without bytes where the condition says that they are not needed. */
  async object(key, tally, onlyIf) {
    tally.requests += 1;
    const object = await this.env.BUCKET.get(key, onlyIf && { onlyIf }).catch((error) => {
      throw new CoreError('network', `${key}: the bucket gave ${error.message}`);
    });
    if (!object || !('body' in object)) return object;
    if (object.size > SMALL) return void (await object.body.cancel());
    tally.bytes_fetched += object.size;
    return { etag: object.etag, bytes: new Uint8Array(await object.arrayBuffer()) };
  }

  /** @private What one answer may take, from the variables. */
  limits() {
    const { LIMIT_REQUESTS, LIMIT_CPU_MS, LIMIT_MEMORY, ALLOW_PRIVATE_ORIGINS, BASE } = this.env;
    return { requests: Number(LIMIT_REQUESTS), cpu_ms: Number(LIMIT_CPU_MS), memory: Number(LIMIT_MEMORY), answer_bytes: SCRIPT_BYTES / 2, private_origins: ALLOW_PRIVATE_ORIGINS === 'yes', base: BASE, jobs: Boolean(this.env.SHARDS) };
  }

  /** Reads what is needed of every file of a dataset: from what was kept, or from the files' own headers. */
  async open(engine, dataset, { tally, context }) {
    const { BUCKET } = this.env;
    const { service } = engine;
    const leave = await this.gate.enter(Math.min(OPEN_BYTES, this.gate.room));
    const free = this.script.hold(OPEN_BYTES);
    let opening;
    try {
      if (engine.service !== service) return;
      opening = checked(() => service.opening(dataset, OPEN_BYTES));
      const { key } = opening;
      const kept = key && (await this.object(`${OPENED}${key}.json`, tally));
      const isKept = Boolean(kept) && checked(() => opening.restore(kept.bytes));
      const sources = opening.sources().map(({ url, remote, known }) => new (remote ? OriginSource : BucketSource)(BUCKET, url, known));
      const todo = isKept ? [] : [...opening.pending()];
      const reader = async () => {
        for (let index = todo.shift(); index !== undefined; index = todo.shift()) {
          const machine = { need: () => opening.need(index), feed: (...given) => opening.feed(index, ...given) };
          await walk(engine.guarded(machine), sources[index], { tally });
          checked(() => opening.identify(index, sources[index].known));
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, reader));
      // Another catalog by now, in which it may be another dataset: whoever wants it asks that one.
      if (engine.service !== service) return;
      for (const gone of checked(() => service.opened(opening, OPEN_BYTES))) engine.sources.delete(gone);
      engine.sources.set(dataset, sources);
      // A look at what a job has left is not waited for: the first answer takes no more requests by it.
      context.waitUntil(this.jobs.pyramid(engine, dataset, new Tally()).catch((error) => console.error(error?.stack ?? error)));
      const saved = key && !isKept && checked(() => opening.saved());
      if (saved) context.waitUntil(BUCKET.put(`${OPENED}${key}.json`, saved));
    } finally {
      if (!engine.lost) release(opening);
      free();
      leave();
    }
  }

  /** Forgets what is known of a dataset's files, here and in the bucket. */
  async forget(engine, dataset, { tally }) {
    const key = checked(() => engine.service.forget(dataset));
    engine.sources.delete(dataset);
    tally.requests += 1;
    if (key) await this.env.BUCKET.delete(`${OPENED}${key}.json`);
  }

  /** @private An answer that takes data: kept from before, computed with others, or computed. */
  async work(engine, asked, visit) {
    const { canonical, tag } = asked;
    // As they are now, like the dataset that the core has asked about: while this waits, both may be opened anew.
    const sources = engine.sources.get(asked.dataset);
    const place = `https://sectile.invalid/${tag}${canonical}`;
    // A cache that fails is one that has nothing.
    const kept = await caches.default.match(place).catch(() => undefined);
    if (kept) {
      visit.cache = 'hit';
      return this.finish(engine, visit, { status: 200, headers: [...kept.headers].filter(([name]) => !OURS.has(name)).flat(), body: kept.body, length: Number(kept.headers.get('Content-Length')) });
    }
    const reply = await engine.once(canonical, () => this.compute(engine, asked, sources, visit, place));
    return this.finish(engine, visit, { ...reply, length: reply.body.length });
  }

  /** @private What depends on who asks, put on an answer that is the same for all. */
  finish(engine, visit, { status, headers, body, length }) {
    const outer = checked(() => engine.service.outer(visit.asking(), status, length)).headers;
    return { status, headers: [...headers, ...outer], body };
  }

  /** @private */
  async compute(engine, asked, known, visit, place) {
    const free = await visit.time('wait', this.script.enter(IN_FLIGHT * PIECE + asked.answerBytes));
    try {
      return await this.inside(asked.peak, visit, async () => {
        const answer = checked(() => asked.start());
        const sources = [...answer.sources()].map((index) => known[index]);
        await visit.time('fetch', this.drive(engine, answer, sources, visit));
        const reply = checked(() => answer.reply());
        visit.context.waitUntil(this.keep(place, reply));
        return reply;
      });
    } finally {
      free();
    }
  }

  /** @private Does what holds so many bytes; once more with nobody beside, should what is free lie in too many pieces. */
  async inside(bytes, visit, work) {
    const share = bytes < this.gate.room ? [bytes, this.gate.room] : [bytes];
    for (const room of share) {
      const leave = await visit.time('wait', this.gate.enter(room));
      try {
        return await work();
      } catch (error) {
        if (error.code !== 'budget' || room === share.at(-1)) throw error;
      } finally {
        leave();
      }
    }
  }

  /** Brings a job of the core all that it asks for, within so many milliseconds. */
  async drive(engine, job, sources, { tally }, patience = Number(this.env.DEADLINE_MS)) {
    const signal = AbortSignal.timeout(patience);
    try {
      // It has one item: that all is there.
      for await (const _ of run(engine.guarded(job), sources, { inFlight: IN_FLIGHT, tally, signal, memoryBytes: () => this.memory() }));
    } catch (error) {
      if (!engine.lost) release(job);
      throw signal.aborted ? engine.late(patience) : error;
    }
  }

  /** @private Puts an answer into the cache of this place, as it is for everybody. */
  async keep(place, { headers, body }) {
    const free = this.script.hold(body.length);
    try {
      await caches.default.put(place, new Response(body, { headers: [...pairs(headers), ['Cache-Control', 'public, max-age=31536000, immutable']] }));
    } finally {
      free();
    }
  }

  /** @private */
  send(visit, { status, headers, body }) {
    const sent = new Headers();
    for (const [name, value] of [...pairs(headers), ...visit.told({ core: this.memory(), script: this.script.peak })]) sent.set(name, value);
    if (visit.request.method === 'HEAD') {
      if (body instanceof ReadableStream) visit.context.waitUntil(body.cancel());
      return new Response(null, { status, headers: sent });
    }
    if (!(body instanceof Uint8Array)) return new Response(body, { status, headers: sent });
    // Counted until the client has taken it.
    const free = this.script.hold(body.length);
    const { readable, writable } = new FixedLengthStream(body.length);
    const writer = writable.getWriter();
    visit.context.waitUntil(writer.write(body).then(() => writer.close()).catch(() => {}).finally(free));
    return new Response(readable, { status, headers: sent });
  }
}

/** Names and values in turn as pairs. */
function pairs(flat) {
  return Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at], flat[2 * at + 1]]);
}
