/** Jobs of the queue: what the core decides is done here to the bucket and the queue, and nothing else. */
import { checked, CoreError, isTrap, release } from '../core/errors.js';
import { walk } from '../core/session.js';
import { BucketSource, OriginSource } from './bucket.js';
import { Upload } from './upload.js';
import { Visit } from './visit.js';

/** Longest that one shard or one assembly may take: less than the platform lets a consumer go on. */
const PATIENCE = 10 * 60_000;
/** Decisions about one request or message; each but the last is made after something was written. */
const TURNS = 8;
/** Keys that are removed at once. */
const BATCH = 1000;
/** The most bytes of a job's description. */
const BODY = 16 << 10;
const FRESH = { onlyIf: new Headers({ 'If-None-Match': '*' }) };

export class Jobs {
  /** @param {import('./host.js').Host} host */
  constructor(host) {
    this.host = host;
    this.bucket = host.env.BUCKET;
  }

  /** Answers a request about a job. @param {any} engine @param {any} asked @param {Visit} visit */
  async answer(engine, asked, visit) {
    const body = await described(visit.request);
    const desk = checked(() => engine.service.desk(asked, body));
    try {
      const { kind } = desk;
      // Done meanwhile: the answer can be had, and is asked for again.
      if (kind === 'answer' && (await this.pyramid(engine, desk.dataset, visit.tally))) return undefined;
      if (kind === 'new' || kind === 'answer') {
        const list = await this.list(engine, desk, visit);
        const refusal = checked(() => desk.plan(engine.service, visit.asking(), list));
        if (refusal) return refusal;
      }
      const status = ['new', 'answer', 'cancel'].includes(kind) ? await this.settle(engine, desk, visit) : 200;
      if (status !== 204) await this.look(desk, visit.tally);
      if (kind !== 'file') return checked(() => desk.reply(engine.service, visit.asking(), status));
      const { key, start, end, ...sent } = checked(() => desk.file(engine.service, visit.asking()));
      if (!key) return sent;
      visit.tally.requests += 1;
      const object = await this.bucket.get(key, end > start ? { range: { offset: start, length: end - start } } : {});
      if (!object) throw new CoreError('job', 'the job was removed just now');
      return { ...sent, body: object.body };
    } finally {
      if (!engine.lost) release(desk);
    }
  }

  /** Has tiles served from the pyramid of a finished job, if there is one; whether that is new. */
  pyramid(engine, dataset, tally) {
    return engine.once(`pyramid ${dataset}`, async () => {
      const desk = checked(() => engine.service.pyramidDesk(dataset));
      if (!desk) return false;
      try {
        await this.look(desk, tally);
        const sources = engine.sources.get(dataset);
        const key = sources && checked(() => engine.service.servePyramid(desk));
        if (key) sources.push(new PyramidSource(this.bucket, key, {}));
        return Boolean(key);
      } finally {
        if (!engine.lost) release(desk);
      }
    });
  }

  /** Deals with messages, one after another. @param {MessageBatch} batch @param {ExecutionContext} context */
  async queue(batch, context) {
    const dead = batch.queue.endsWith('-dead');
    for (const message of batch.messages) {
      try {
        await this.message(message, dead, new Visit(new Request('https://sectile.invalid/'), context));
      } catch (error) {
        console.error(`a message comes again: ${error?.stack ?? error}`);
        message.retry({ delaySeconds: 30 });
      }
    }
  }

  /** @private */
  async message(message, dead, visit) {
    const engine = await this.host.start();
    await this.host.catalog(engine, visit);
    const desk = engine.service.message(JSON.stringify(message.body) ?? 'null', dead);
    try {
      await engine.within(PATIENCE, this.settle(engine, desk, visit, message));
    } catch (error) {
      if (isTrap(error)) this.host.retire(engine);
      throw error;
    } finally {
      if (!engine.lost) release(desk);
    }
  }

  /** @private Does what is decided until there is nothing more to do; tells the status of an answer. */
  async settle(engine, desk, visit, message) {
    for (let turn = 0; turn < TURNS; turn += 1) {
      await this.look(desk, visit.tally);
      let effects = checked(() => desk.decide());
      for (let effect = effects.shift(); effect && effect.do !== 'look'; effect = effects.shift()) {
        if (effect.do === 'reply') return effect.status;
        if (effect.do === 'ack') return message.ack();
        if (effect.do === 'retry') return message.retry({ delaySeconds: effect.seconds });
        const fault = await this.perform(engine, desk, visit, effect);
        if (fault) effects = checked(() => desk.failed(fault.code ?? 'internal', `${fault.message ?? fault}`, message.attempts));
      }
    }
    throw new CoreError('busy', 'others are at the same job; ask again');
  }

  /** @private Does one thing; hands back what work has failed by. */
  async perform(engine, desk, visit, effect) {
    visit.tally.requests += 1;
    if (effect.do === 'put') await this.bucket.put(effect.key, effect.body, effect.fresh ? FRESH : {});
    else if (effect.do === 'send') await this.host.env.SHARDS.sendBatch(effect.messages.map((body) => ({ body })));
    else if (effect.do === 'log') console.warn(effect.text);
    else if (effect.do === 'delete') {
      for (let at = 0; at < effect.keys.length; at += BATCH) await this.bucket.delete(effect.keys.slice(at, at + BATCH));
    } else {
      const memory = engine.service.jobMemory;
      let leave = () => {};
      try {
        leave = await this.host.gate.enter(memory, PATIENCE);
        const work = effect.do === 'compute' ? this.compute : this.assemble;
        await work.call(this, engine, desk, new Visit(visit.request, visit.context), effect);
      } catch (error) {
        // A lost core is retired by whoever waits for this; the message comes again.
        if (isTrap(error)) throw error;
        return error;
      } finally {
        leave();
      }
    }
  }

  /** @private Lists what the bucket holds of a job, and reads what is needed to decide. */
  async look(desk, tally) {
    desk.clear();
    const { prefix } = desk;
    for (let cursor, more = Boolean(prefix); more; ) {
      tally.requests += 1;
      const page = await this.bucket.list({ prefix, cursor, include: ['customMetadata'] });
      for (const { key, size, customMetadata: spent } of page.objects) desk.take(key, size, Number(spent?.requests ?? 0), Number(spent?.bytes ?? 0));
      ({ truncated: more, cursor } = page);
    }
    for (const key of desk.wants()) {
      const found = await this.host.object(key, tally);
      checked(() => desk.give(key, found?.bytes));
    }
  }

  /** @private The list of molecules of a job that has one. */
  async list(engine, desk, visit) {
    const list = checked(() => desk.list(engine.service));
    if (!list?.source) return list;
    const { url, remote, known } = list.source;
    await walk(engine.guarded(list), new (remote ? OriginSource : BucketSource)(this.bucket, url, known), visit);
    return list;
  }

  /** @private Computes a shard, and writes its part with what it has cost. */
  async compute(engine, desk, visit, { part: key }) {
    const { dataset } = desk;
    if (!engine.sources.has(dataset)) await engine.once(`open ${dataset}`, () => this.host.open(engine, dataset, visit));
    const list = await this.list(engine, desk, visit);
    const shard = checked(() => desk.shard(engine.service, list));
    const sources = [...shard.sources()].map((index) => engine.sources.get(dataset)[index]);
    await this.host.drive(engine, shard, sources, visit, PATIENCE);
    const part = checked(() => shard.part());
    const { bytes } = part;
    const free = await this.host.script.enter(bytes);
    try {
      const body = new Uint8Array(bytes);
      part.copy(body);
      release(part);
      const spent = { requests: `${visit.tally.requests}`, bytes: `${visit.tally.bytes_fetched}` };
      await this.bucket.put(key, body, { ...FRESH, customMetadata: spent });
    } finally {
      free();
    }
  }

  /** @private Writes the results out of all parts, and at last the word that they are whole. */
  async assemble(engine, desk, visit, { done }) {
    const list = await this.list(engine, desk, visit);
    const assembly = engine.guarded(checked(() => desk.assembly(engine.service, list)));
    const parts = new Map();
    let upload;
    try {
      for (let turn = checked(() => assembly.turn()); turn; turn = checked(() => assembly.turn())) {
        const { part, start, end, file, bytes } = turn;
        if (file) {
          if (upload?.name !== file) {
            await upload?.finish();
            upload = await Upload.begin(this.host, desk.prefix, file);
          }
          await upload.write(bytes);
          continue;
        }
        let source = parts.get(part);
        if (!source) parts.set(part, (source = new BucketSource(this.bucket, desk.part(part), {})));
        const read = await source.read(start, end, undefined, visit.tally);
        checked(() => assembly.feed(part, start, read, source.size));
      }
      await upload?.finish();
      await this.bucket.put(done, '{}\n');
    } catch (error) {
      await upload?.abort();
      throw error;
    }
  }
}

/** What came with a request, a job's description at most. @param {Request} request */
async function described({ body }) {
  const pieces = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.length;
    if (length > BODY) throw new CoreError('body-size', `a job is described in at most ${BODY} bytes`);
    pieces.push(piece);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** The pyramid of a finished job. Once that is removed, the dataset is opened anew without it. */
class PyramidSource extends BucketSource {
  async stream(start, end, errand) {
    try {
      return await super.stream(start, end, errand);
    } catch (error) {
      throw error.code === 'missing' ? new CoreError('changed', error.message) : error;
    }
  }
}
