/** The Worker's side of the interface: it reads, waits, keeps and sends. What to answer is decided in the core. */
import { checked, CoreError, isTrap, release } from '../core/errors.js';
import { run, walk } from '../core/session.js';
import { BucketSource, OriginSource, PIECE } from './bucket.js';
import { Engine } from './engine.js';
import { Gate } from './gate.js';
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

/** All that one isolate keeps between requests. */
export class Host {
  /** @param {any} env bindings and variables */
  constructor(env) {
    this.env = env;
    const queue = { most: Number(env.QUEUE_LENGTH), wait: Number(env.QUEUE_MS) };
    /** Linear memory by plan, and bytes of JavaScript by count. */
    this.gate = new Gate(Number(env.LIMIT_MEMORY), queue);
    this.script = new Gate(SCRIPT_BYTES, queue);
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
      reply = await engine.within(Number(this.env.DEADLINE_MS), this.reply(engine, visit));
    } catch (error) {
      if (engine && isTrap(error)) this.retire(engine);
      reply = await this.refusal(visit, error);
    }
    return this.send(visit, reply);
  }

  /** The instance that runs, started if there is none. */
  start() {
    this.engine ??= Engine.start().catch((error) => {
      this.engine = undefined;
      throw error;
    });
    return this.engine;
  }

  /** Gives a lost instance up: the next request starts another. @param {Engine} engine */
  retire(engine) {
    if (engine.lost) return;
    this.engine = undefined;
    engine.retire();
  }

  /** @private What went wrong, as an answer; of an instance that still runs. */
  async refusal(visit, error) {
    if (!(error instanceof CoreError)) console.error(error.stack ?? error);
    try {
      const { core } = await this.start();
      return core.refusal(visit.asking(), error instanceof CoreError ? error.code : 'internal', error.message ?? String(error));
    } catch (worse) {
      console.error(worse.stack ?? worse);
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
        else throw new CoreError('internal', `nothing does ${asked.kind}`);
      } catch (error) {
        // Opened anew once: what was known of its files is no longer true.
        if (error.code !== 'changed' || anew) throw error;
        anew = true;
        await this.forget(engine, dataset, visit);
      } finally {
        release(asked);
      }
    }
  }

  /** @private Reads the catalog, unless that was done a moment ago. */
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
    const object = await this.env.BUCKET.get(key, onlyIf && { onlyIf });
    if (!object || !('body' in object)) return object;
    if (object.size > SMALL) return void (await object.body.cancel());
    tally.bytes_fetched += object.size;
    return { etag: object.etag, bytes: new Uint8Array(await object.arrayBuffer()) };
  }

  /** @private What one answer may take, from the variables. */
  limits() {
    const { LIMIT_REQUESTS, LIMIT_CPU_MS, LIMIT_MEMORY, ALLOW_PRIVATE_ORIGINS } = this.env;
    return { requests: Number(LIMIT_REQUESTS), cpu_ms: Number(LIMIT_CPU_MS), memory: Number(LIMIT_MEMORY), answer_bytes: SCRIPT_BYTES / 2, private_origins: ALLOW_PRIVATE_ORIGINS === 'yes' };
  }

  /** @private Reads what is needed of every file of a dataset: from what was kept, or from the files' headers. */
  async open(engine, dataset, { tally, context }) {
    const { BUCKET } = this.env;
    const opening = checked(() => engine.service.opening(dataset));
    try {
      const key = opening.key && `${OPENED}${opening.key}`;
      const complete = key && opening.restore(await this.object(key, tally));
      const sources = opening.sources().map(({ url, remote, size, etag, modified }) => new (remote ? OriginSource : BucketSource)(BUCKET, url, { total: size, etag, modified }));
      const todo = complete ? [] : [...sources.entries()];
      const walker = async () => {
        for (let next = todo.shift(); next; next = todo.shift()) {
          const [index, source] = next;
          const machine = { need: () => opening.need(index), feed: (...given) => opening.feed(index, ...given) };
          await walk(engine.guarded(machine), source, { tally });
          checked(() => opening.known(index, source.known));
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, walker));
      const held = checked(() => engine.service.opened(dataset, opening, OPEN_BYTES));
      engine.sources.set(dataset, sources);
      for (const other of held) engine.sources.delete(other);
      if (key && !complete) context.waitUntil(BUCKET.put(key, opening.kept()));
    } finally {
      release(opening);
    }
  }

  /** Forgets what is known of a dataset's files, here and in the bucket. */
  async forget(engine, dataset, { tally }) {
    const key = checked(() => engine.service.forget(dataset));
    engine.sources.delete(dataset);
    tally.requests += 1;
    if (key) await this.env.BUCKET.delete(`${OPENED}${key}`);
  }

  /** @private An answer that takes data: kept from before, computed with others, or computed. */
  async work(engine, asked, visit) {
    const place = `https://sectile.invalid/${asked.etag}${asked.canonical}`;
    const kept = await caches.default.match(place);
    if (kept) {
      visit.cache = 'hit';
      return asked.finish(kept.status, [...kept.headers].flat(), kept.body);
    }
    const { status, headers, body } = await engine.once(asked.canonical, () => this.compute(engine, asked, visit, place));
    return asked.finish(status, headers, body);
  }

  /** @private */
  async compute(engine, asked, visit, place) {
    const free = await visit.time('wait', this.script.enter(IN_FLIGHT * PIECE + asked.answerBytes));
    try {
      const leave = await visit.time('wait', this.gate.enter(asked.peak));
      try {
        const reply = await visit.time('fetch', this.drive(engine, checked(() => asked.start()), engine.sources.get(asked.dataset), visit));
        if (reply.status === 200) visit.context.waitUntil(this.keep(place, reply));
        return reply;
      } finally {
        leave();
      }
    } finally {
      free();
    }
  }

  /** Brings a job of the core all that it asks for; hands back what it has made. */
  async drive(engine, job, sources, { tally }) {
    const options = { inFlight: IN_FLIGHT, tally, signal: AbortSignal.timeout(Number(this.env.DEADLINE_MS)), memoryBytes: () => engine.instance.memoryBytes() };
    try {
      for await (const _ of run(engine.guarded(job), sources, options));
      return checked(() => job.reply());
    } finally {
      if (!engine.lost) release(job);
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
    const sent = new Headers([...pairs(headers), ...visit.told()]);
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
