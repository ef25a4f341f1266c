import { Compute } from './client.js';
import { around, isSmall, previewStep } from './passes.js';
import { Plane } from './plane.js';
import { Dataset } from './served/dataset.js';

/** Planes of single exposures kept in the page at a time, the latest ones. */
const KEPT_EXPOSURES = 2;

/**
 * One stack: what was opened, its plan, its layers, and the core that computes them.
 *
 * Events: `exposure` {index, info} while headers arrive, `opened`, `busy`, `painted` {plane, rect} for every section,
 * `progress` (a tally of all passes so far), `layers` when planes come or go, `retired` {reason}.
 */
export class Session extends EventTarget {
  constructor() {
    super();
    this.compute = null;
    this.memory = 0;
    this.reset();
  }

  reset() {
    this.stack = null;
    /** The dataset of a server that is open in place of exposures. @type {Dataset | null} */
    this.served = null;
    this.entries = [];
    this.options = {};
    /** @type {Map<string, Plane>} */
    this.planes = new Map();
    this.task = '';
    this.ending = null;
    this.retired = '';
  }

  tell(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** Bytes of planes held by the page itself, outside the core. */
  get held() {
    let sum = this.served?.loading.bytes ?? 0;
    for (const plane of this.planes.values()) sum += plane.bytes;
    return sum;
  }

  /** Runs one task at a time; `cancel` ends it. */
  async exclusive(task, work) {
    if (this.task !== '') throw new Error('Something is still running. Cancel it first.');
    const ending = new AbortController();
    this.task = task;
    this.ending = ending;
    this.tell('busy');
    try {
      return await work(ending.signal);
    } finally {
      if (this.ending === ending) {
        this.task = '';
        this.ending = null;
        this.tell('busy');
      }
    }
  }

  /** Ends the present task; its requests are aborted at once. */
  cancel() {
    this.ending?.abort();
  }

  /** Gives back the core and all planes. */
  close() {
    this.cancel();
    this.task = '';
    this.ending = null;
    this.compute?.close();
    this.compute = null;
    this.served?.close();
    this.reset();
  }

  /**
   * Reads the headers of a new stack with a fresh core.
   * @param {object[]} entries @param {{memory: number, hdu: string, mask?: {hdu: string, bits: string}, ignoreWcs: boolean}} options
   */
  async open(entries, options) {
    this.close();
    this.entries = entries;
    this.options = options;
    this.tell('layers');
    await this.exclusive('open', (signal) => this.readHeaders(signal));
    this.tell('opened');
  }

  /**
   * Opens a dataset of a server: no core is needed, the server computes.
   * @param {string} url as it was written @param {object} address of it @param {object} how see {@link Dataset.open}
   */
  async openServed(url, address, how) {
    this.close();
    this.entries = [{ url }];
    this.tell('layers');
    await this.exclusive('open', async (signal) => {
      const dataset = await Dataset.open(address, { ...how, signal });
      signal.throwIfAborted();
      for (const name of ['painted', 'failed', 'moved', 'stale']) {
        dataset.addEventListener(name, ({ detail }) => this.served === dataset && this.tell(name === 'painted' ? name : `served-${name}`, detail));
      }
      this.served = dataset;
      this.stack = dataset.stack;
    });
    this.tell('opened');
  }

  /** A layer of the served dataset, ready to be shown; null when it has none of that name. @param {string} name */
  provide(name) {
    const plane = this.served?.plane(name) ?? null;
    if (plane) this.planes.set(name, plane);
    return plane;
  }

  async readHeaders(signal) {
    this.compute?.close();
    const { memory, hdu, mask, ignoreWcs } = this.options;
    this.retired = '';
    const compute = new Compute({
      memory,
      onRetired: (reason) => {
        if (this.compute !== compute) return;
        this.compute = null;
        this.retired = String(reason);
        compute.close();
        this.tell('retired', { reason: this.retired });
      },
    });
    this.compute = compute;
    this.memory = memory;
    const stack = await compute.open(this.entries, {
      hdu: hdu || undefined,
      mask,
      ignoreWcs,
      signal,
      onExposure: (index, info) => this.tell('exposure', { index, info }),
    });
    signal.throwIfAborted();
    this.stack = stack;
  }

  /** The core, started anew when it was retired or has another budget. */
  async ready(memory, signal) {
    if (!this.compute || this.memory !== memory) {
      this.options = { ...this.options, memory };
      await this.readHeaders(signal);
    }
    return this.compute;
  }

  /** The plan of the whole median at a budget, from headers alone. */
  async plan(memory, inFlight) {
    if (!this.compute) await this.exclusive('open', (signal) => this.ready(memory, signal));
    return this.compute.plan({ memory, inFlight });
  }

  /**
   * Computes the median: a preview, then the part on screen, then the rest; or all at once when it is small.
   * @param {{memory: number, inFlight: number, visible: () => import('./plane.js').Rect | null}} how
   */
  async run(how) {
    return this.exclusive('run', async (signal) => {
      const compute = await this.ready(how.memory, signal);
      const plan = await compute.plan({ memory: how.memory, inFlight: how.inFlight });
      const layers = this.freshLayers();
      const passes = await this.passes(compute, plan, how);
      const planned = (key) => passes.reduce((sum, { extra }) => sum + (extra?.[key] ?? 0), plan[key]);
      const tally = new Tally(planned('payload_bytes'), planned('requests'), (sum) => this.tell('progress', { ...sum, task: 'run' }));
      const pass = (rect, step) =>
        compute.median({ rect, step, inFlight: how.inFlight }, {
          signal,
          // A section that was under way when the user cancelled is not painted after the fact.
          onSection: (section) => signal.aborted || this.paint(layers, section),
          onProgress: (now) => tally.update(now),
        }).then((done) => tally.close(done));
      for (const { rect, step } of passes) {
        signal.throwIfAborted();
        await pass(rect, step);
      }
      signal.throwIfAborted();
      for (const plane of Object.values(layers)) plane.finish();
      this.tell('painted', { plane: layers.median, rect: null });
      this.tell('painted', { plane: layers.count, rect: null });
      return tally.sum;
    });
  }

  async passes(compute, plan, how) {
    const { width, height } = this.stack;
    const whole = { x0: 0, y0: 0, x1: width, y1: height };
    if (isSmall(plan)) return [{ rect: whole, step: 1 }];
    const planOf = (step) => compute.plan({ memory: how.memory, inFlight: how.inFlight, rect: whole, step });
    const step = await previewStep(height, planOf, plan);
    const preview = step > 0 ? [{ rect: whole, step, extra: await planOf(step) }] : [];
    const seen = how.visible();
    return [...preview, ...around(seen, width, height).map((rect) => ({ rect, step: 1 }))];
  }

  freshLayers() {
    const { width, height, unit, wide } = this.stack;
    this.planes.delete('median');
    this.planes.delete('count');
    const median = new Plane('median', width, height, unit, wide ? Float64Array : Float32Array);
    const count = new Plane('count', width, height, 'exposures', Uint16Array);
    this.planes.set('median', median).set('count', count);
    this.tell('layers');
    return { median, count };
  }

  paint(layers, section) {
    const rect = layers.median.put(section, section.values);
    this.tell('painted', { plane: layers.median, rect });
    if (!section.count) return;
    layers.count.put(section, section.count);
    this.tell('painted', { plane: layers.count, rect });
  }

  /** Loads one exposure's pixels as a layer, unless the page still has them. */
  async load(index, memory) {
    const name = `exp-${index + 1}`;
    const kept = this.planes.get(name);
    if (kept?.complete) {
      this.planes.delete(name);
      this.planes.set(name, kept);
      return kept;
    }
    return this.exclusive('exposure', async (signal) => {
      const compute = await this.ready(memory, signal);
      const { width, height, unit, wide, exposures } = this.stack;
      const plane = new Plane(name, width, height, exposures[index].unit ?? unit, wide ? Float64Array : Float32Array);
      this.forgetExposures(KEPT_EXPOSURES - 1);
      this.planes.set(name, plane);
      this.tell('layers');
      const tally = new Tally(0, 0, (sum) => this.tell('progress', { ...sum, task: 'exposure' }));
      try {
        // The core counts only the exposures that it uses.
        const among = exposures.slice(0, index).filter((info) => info.ok).length;
        const done = await compute.exposure(among, { rect: { x0: 0, y0: 0, x1: width, y1: height }, step: 1 }, {
          signal,
          onSection: (section) => signal.aborted || this.tell('painted', { plane, rect: plane.put(section, section.values) }),
          onProgress: (now) => tally.update(now),
        });
        tally.close(done);
      } catch (error) {
        this.planes.delete(name);
        this.tell('layers');
        throw error;
      }
      plane.finish();
      this.tell('painted', { plane, rect: null });
      return plane;
    });
  }

  forgetExposures(most) {
    const names = [...this.planes.keys()].filter((name) => name.startsWith('exp-'));
    for (const name of names.slice(0, Math.max(0, names.length - most))) this.planes.delete(name);
  }
}

/** Requests and bytes over several passes of one task. */
class Tally {
  constructor(planned, requests, told) {
    this.planned = planned;
    this.plannedRequests = requests;
    this.told = told;
    this.before = { requests: 0, bytes_fetched: 0, bytes_payload: 0, seconds: 0 };
    this.sum = { ...this.before, planned_bytes: planned, planned_requests: requests, peak_bytes: 0, memory: 0 };
  }

  update(now) {
    const { before } = this;
    for (const key of Object.keys(before)) this.sum[key] = before[key] + (now[key] ?? 0);
    this.sum.planned_bytes = Math.max(this.planned, this.sum.bytes_payload, before.bytes_payload + (now.planned_bytes ?? 0));
    this.sum.peak_bytes = Math.max(this.sum.peak_bytes, now.peak_bytes ?? 0);
    this.sum.memory = now.memory ?? this.sum.memory;
    this.told(this.sum);
  }

  close(done) {
    if (done) this.update(done);
    for (const key of Object.keys(this.before)) this.before[key] = this.sum[key];
  }
}
