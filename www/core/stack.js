/** A stack of exposures: opened, planned, reduced. */
import { checked, CoreError, isTrap, release, told } from './errors.js';
import { expand } from './expand.js';
import { core, memoryBytes } from './stack-instance.js';
import { run, walk } from './session.js';
import { Tally } from './tally.js';

/** Tile edge in pixels. */
const TILE = 256;

/**
 * @typedef {object} Rect half-open, zero-based; y counts upwards from the first row of the file
 * @property {number} x0
 * @property {number} y0
 * @property {number} x1
 * @property {number} y1
 *
 * @typedef {object} Wish
 * @property {number} [memory] budget in bytes; by default the one the stack was opened with
 * @property {number} [inFlight] requests at one time; 6 by default
 * @property {Rect} [rect] the part that is wanted
 * @property {number} [step] every step-th row and column only
 * @property {number} [latency] seconds, for the choice between whole rows and parts of rows
 * @property {number} [bandwidth] bytes a second, likewise
 *
 * @typedef {object} Section
 * @property {number} x0 column of the first value
 * @property {number} y0 row of the first value
 * @property {number} width values a row
 * @property {number} rows
 * @property {number} step distance of neighbouring values in pixels
 * @property {Float32Array | Float64Array} values row-major, NaN where there is none
 * @property {Uint16Array} count exposures that contributed
 */

/** N exposures of one shape. */
export class Stack {
  /**
   * Reads the headers of all exposures.
   *
   * @param {(string | URL | Blob | import('./source.js').Source | import('./expand.js').Entry)[]} what
   *   URLs, files, sources, lists and associations
   * @param {object} [options]
   * @param {string} [options.hdu] `SCI`, `SCI,2` or an index; SCI or the first image by default
   * @param {number} [options.plane] plane of a cube
   * @param {{hdu: string, bits?: number | string}} [options.mask] leaves out pixels that this HDU of each
   *   exposure's own file flags (`DQ`, `WHT`): those with one of these bits (`1` by default, `'0x11'`,
   *   `'1+16'`), with `'any'`, or with `'zero'` where it is a weight
   * @param {boolean} [options.ignoreWcs]
   * @param {boolean} [options.ignoreUnits]
   * @param {boolean} [options.exclude] leaves out exposures that cannot be used, with the reason, in
   *   place of failing
   * @param {number} [options.memory] budget in bytes; 256 MiB by default
   * @param {AbortSignal} [options.signal]
   * @param {(index: number, exposure: object) => void} [options.onExposure]
   * @returns {Promise<Stack>}
   */
  static async open(what, options = {}) {
    const { sources, warnings } = await expand(what.map(entry), options.signal);
    const tally = new Tally();
    const { ignoreWcs = false, ignoreUnits = false, mask } = options;
    const gather = checked(() => new (core().Gather)(ignoreWcs, ignoreUnits, String(mask?.bits ?? 1)));
    const exposures = new Array(sources.length);
    const waiting = sources.map((source, index) => ({ source, index }));
    const images = new Array(sources.length);
    const controller = new AbortController();
    const stop = () => controller.abort(options.signal?.reason);
    options.signal?.addEventListener('abort', stop, { once: true });
    const worker = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { source, index } = next;
        try {
          images[index] = await image(source, options, controller.signal, tally);
        } catch (error) {
          if (controller.signal.aborted || isTrap(error) || !options.exclude) throw error;
          images[index] = error;
        }
      }
    };
    const workers = Array.from({ length: Math.min(6, sources.length) }, worker);
    try {
      await Promise.all(workers);
    } catch (error) {
      waiting.length = 0;
      controller.abort(error);
      await Promise.allSettled(workers);
      release(gather);
      throw told(error);
    } finally {
      options.signal?.removeEventListener('abort', stop);
    }
    const used = [];
    try {
      for (const [index, found] of images.entries()) {
        exposures[index] = join(gather, found, sources[index], options);
        if (!(found instanceof Error)) release(found);
        if (exposures[index].ok) used.push(sources[index]);
        options.onExposure?.(index, exposures[index]);
      }
      if (used.length === 0 && exposures.length > 0) {
        throw new CoreError('format', `none of the ${exposures.length} exposures can be used: ${exposures[0].reason}`);
      }
      const inner = checked(() => gather.open());
      return new Stack(inner, used, exposures, warnings, tally.now(), options.memory);
    } finally {
      release(gather);
    }
  }

  /** @private */
  constructor(inner, sources, exposures, warnings, opening, memory) {
    this.inner = inner;
    this.sources = sources;
    /** All that were given, with the reason where one is left out. */
    this.exposures = exposures;
    const info = inner.describe();
    this.width = info.width;
    this.height = info.height;
    this.wide = info.wide;
    this.unit = info.unit;
    this.hasSky = info.has_sky;
    /** What masks leave out, in words; `null` without masks. */
    this.leftOut = info.left_out;
    this.warnings = [...warnings, ...info.warnings];
    /** What reading the headers cost. */
    this.opening = opening;
    this.memory = memory ?? 256 * 1024 * 1024;
  }

  /** Pyramid levels of 256-pixel tiles; level 0 is one tile. */
  get levels() {
    return checked(() => core().levels(this.width, this.height, TILE));
  }

  /**
   * What a median will cost: sections, slots, requests, bytes, peak, minimum.
   * @param {Wish} [wish]
   */
  plan(wish = {}) {
    return checked(() => this.inner.plan(this.wish(wish)));
  }

  /**
   * The median, section by section, as an async iterator of {@link Section}. Leaving the loop
   * cancels; its `return` value is the tally.
   *
   * @param {Wish & {signal?: AbortSignal, onProgress?: (tally: object) => void}} [options]
   * @returns {AsyncGenerator<Section, object>}
   */
  async *median(options = {}) {
    return yield* this.reduce(this.inner, this.sources, options);
  }

  /**
   * One exposure's own pixels, section by section.
   *
   * @param {number} index among the exposures that are used
   * @param {Wish & {signal?: AbortSignal, onProgress?: (tally: object) => void}} [options]
   * @returns {AsyncGenerator<Section, object>}
   */
  async *exposure(index, options = {}) {
    const one = checked(() => this.inner.one(index));
    try {
      return yield* this.reduce(one, [this.sources[index]], options);
    } finally {
      release(one);
    }
  }

  /** @private */
  async *reduce(inner, sources, options) {
    const { signal, onProgress, inFlight = 6 } = options;
    const tally = new Tally();
    const job = checked(() => inner.median(this.wish(options)));
    try {
      const progress = onProgress && (() => onProgress(tally.now()));
      for await (const head of run(job, sources, { inFlight, signal, tally, memoryBytes, onProgress: progress })) {
        const [section, x0, y0, width, rows, step] = head;
        const values = checked(() => job.values());
        const count = checked(() => job.count());
        yield { section, x0, y0, width, rows, step, values, count };
      }
      tally.peak_bytes = memoryBytes();
      return tally.now();
    } finally {
      release(job);
    }
  }

  /**
   * One tile of the median as a 16-bit PNG. XYZ: level 0 is the coarsest, y counts downwards. Levels
   * above the finest sample every 2^k-th pixel. `null` outside the image.
   *
   * @param {number} z
   * @param {number} x
   * @param {number} y
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<Uint8Array | null>}
   */
  async tile(z, x, y, options = {}) {
    const place = checked(() => core().tile_rect(this.width, this.height, TILE, z, x, y));
    if (!place) return null;
    const [x0, y0, x1, y1, step] = place;
    const width = Math.ceil((x1 - x0) / step);
    const height = Math.ceil((y1 - y0) / step);
    const plane = new Float64Array(width * height).fill(NaN);
    for await (const section of this.median({ ...options, rect: { x0, y0, x1, y1 }, step })) {
      const row0 = (section.y0 - y0) / step;
      const column0 = (section.x0 - x0) / step;
      for (let r = 0; r < section.rows; r += 1) {
        const line = section.values.subarray(r * section.width, (r + 1) * section.width);
        plane.set(line, (row0 + r) * width + column0);
      }
    }
    return checked(() => core().png_tile(width, height, plane, this.unit ?? undefined));
  }

  /**
   * Right ascension and declination of a pixel in degrees, if the header has a plain TAN WCS.
   * @param {number} x zero-based column
   * @param {number} y zero-based row
   * @returns {[number, number] | null}
   */
  sky(x, y) {
    const sky = this.inner.sky(x, y);
    return sky ? [sky[0], sky[1]] : null;
  }

  /** @private */
  wish({ memory = this.memory, inFlight = 6, rect, step = 1, latency, bandwidth }) {
    return { memory, in_flight: inFlight, rect, step, latency, bandwidth };
  }

  /** Gives the stack's memory back to the core. */
  free() {
    release(this.inner);
  }

  [Symbol.dispose ?? Symbol.for('dispose')]() {
    this.free();
  }
}

function entry(what) {
  if (typeof what === 'string' || what instanceof URL) return { url: String(what) };
  if (what instanceof Blob) return { file: what };
  if (typeof what?.read === 'function') return { source: what };
  if (what?.url || what?.file || what?.source) return what;
  throw new CoreError('parameter', 'a source is a URL, a file, or an object with read(start, end)');
}

async function image(source, { hdu, plane, mask }, signal, tally) {
  const machine = checked(() => new (core().Walk)(source.key, hdu ?? '', plane ?? 0, mask && String(mask.hdu ?? '')));
  try {
    await walk(machine, source, { signal, tally });
    return checked(() => machine.image());
  } catch (error) {
    throw told(error);
  } finally {
    release(machine);
  }
}

/** Adds an image to the stack, or says why not. */
function join(gather, found, source, options) {
  const bare = { name: source.key, notes: [] };
  if (found instanceof Error) {
    return { ...bare, ok: false, reason: reason(found, source) };
  }
  const info = found.describe();
  try {
    const notes = checked(() => gather.add(found));
    return { ...bare, ...info, ok: true, notes: [...info.notes, ...notes] };
  } catch (error) {
    if (isTrap(error) || !options.exclude) throw error;
    return { ...bare, ...info, ok: false, reason: reason(error, source) };
  }
}

/** What is wrong, without the name that stands beside it. */
function reason({ message }, { key }) {
  return message.startsWith(`${key}: `) ? message.slice(key.length + 2) : message;
}
