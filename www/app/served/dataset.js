import { Asking } from './asking.js';
import { ION, layerOf } from './address.js';
import { Levels } from './levels.js';
import { Loading } from './loading.js';
import { ServedPlane } from './plane.js';
import { readStatistics } from './statistics.js';

/** The view may rest this long before what it shows is asked for: a wheel passes through many levels. */
const REST = 60;

/** A pointer may rest this long on a pixel before the server is asked for it. */
const LINGER = 140;

/** Values of single pixels that are kept for a layer. */
const POINTS = 512;

/**
 * A dataset that a server has: its description, its layers, and the tiles of the one that is on show.
 *
 * Events: `painted` {plane, rect} when a tile has come or what is known of all values has changed (rect null),
 * `failed` {problem} when a tile cannot be had, `moved` when something began or ended, `stale` when the server has
 * another version.
 */
export class Dataset extends EventTarget {
  /**
   * Reads the description.
   * @param {NonNullable<ReturnType<typeof import("./address.js").datasetAddress>>} address
   * @param {{budget(): number, most(): number, waiting(text: string): void, permit(detail: string): Promise<string | null>, signal?: AbortSignal}} how
   */
  static async open(address, { signal, ...how }) {
    const named = `${address.root}${address.name}`;
    const asking = new Asking({ scope: named, ...how });
    let info;
    try {
      info = await asking.json(`${named}${address.version && `@${address.version}`}/info`, signal);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    if (!isInfo(info)) throw new TypeError(`${named} is no dataset that this page can show: its description is not one of an image with tiles.`);
    return new Dataset(address, info, asking, how.budget);
  }

  constructor(address, info, asking, budget) {
    super();
    Object.assign(this, { address, info, asking });
    this.base = `${address.root}${info.id}`;
    this.levels = new Levels(info.width, info.height, info.tile, info.levels, info.origin === 'upper');
    this.loading = new Loading({
      asking,
      edge: info.tile,
      budget,
      came: (key) => this.came(key),
      failed: (problem, key) => this.failed(problem, key),
      moved: () => this.tell('moved'),
    });
    /** @type {Map<string, ServedPlane>} */
    this.planes = new Map();
    this.shown = null;
    this.timer = 0;
    this.ending = new AbortController();
    this.pointing = new AbortController();
  }

  tell(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** Whether it holds ion images, and not a stack. */
  get ions() {
    return this.info.type === 'ions';
  }

  /** Whether it is a stack whose server computes the scatter of the exposures, too. */
  get scatter() {
    return this.info.layers?.includes('rms') === true;
  }

  /** What the page's panels know of an open stack. */
  get stack() {
    const { width, height, unit, exposures = [], warnings = [], cards } = this.info;
    return {
      width, height, unit, warnings, wide: this.info.dtype === 'float64', hasSky: Boolean(cards?.length),
      exposures: exposures.map((name) => ({ name: String(name), ok: true, notes: [] })),
    };
  }

  /** A layer by the page's name for it; null when the dataset cannot have it. @param {string} name */
  plane(name) {
    const known = this.planes.get(name);
    if (known) return known;
    const frame = /^exp-(\d+)$/.exec(name);
    const possible = this.ions ? ION.test(name) : name === 'median' || name === 'count' || (name === 'rms' && this.scatter) || (frame && Number(frame[1]) <= this.info.frames);
    if (!possible) return null;
    const [across, down] = this.info.pixel_size ?? [];
    const plane = new ServedPlane(name, layerOf(name), this.levels, (key) => this.loading.tile(key), {
      unit: name === 'count' ? 'exposures' : this.info.unit,
      aspect: across > 0 && down > 0 ? across / down : 1,
    });
    this.planes.set(name, plane);
    return plane;
  }

  /** Address of a part of a layer. */
  url(layer, rest) {
    return `${this.base}/${encodeURIComponent(layer)}${rest}`;
  }

  /**
   * What is on screen has changed: sets the level that fits, and asks for the tiles that are missing.
   * @param {ServedPlane | null} plane @param {import('../../view/camera.js').Camera} camera @param {number} ratio
   * @returns {boolean} whether the level has changed, so that all codes are stale
   */
  look(plane, camera, ratio) {
    const before = this.shown;
    this.shown = plane;
    clearTimeout(this.timer);
    if (!plane) {
      this.loading.want([]);
      return false;
    }
    if (plane !== before) this.survey(plane);
    const z = this.levels.levelFor(1 / (Math.max(camera.zoom, camera.zoomY) * ratio));
    const changed = z !== plane.z;
    plane.z = z;
    const seen = camera.visible();
    this.timer = setTimeout(() => this.want(plane, seen), REST);
    return changed;
  }

  want(plane, seen) {
    const { z } = plane;
    const tiles = seen ? this.levels.over(z, seen).map(([x, y]) => [z, x, y]) : [];
    // The coarsest tile first: it stands in for all others, and limits are taken from it.
    const all = z === 0 ? tiles : [[0, 0, 0], ...tiles];
    this.loading.want(all.map(([level, x, y]) => ({
      key: plane.key(level, x, y),
      url: this.url(plane.layer, `/${level}/${x}/${y}.png`),
    })));
  }

  came(key) {
    const { shown } = this;
    const [layer, place] = key.split('|');
    if (shown?.layer !== layer) return;
    this.tell('painted', { plane: shown, rect: shown.saw(...place.split('/').map(Number)) });
  }

  failed(problem, key) {
    if (problem.code === 'version' && !this.address.version) this.tell('stale');
    else {
      const [layer, place] = key.split('|');
      this.tell('failed', { problem, layer, z: Number(place.split('/')[0]) });
    }
  }

  /** Asks once what the server says of all values of a layer. Counts need no limits. */
  async survey(plane) {
    if (plane.surveyed || plane.name === 'count') return;
    plane.surveyed = true;
    try {
      plane.learn(readStatistics(await this.asking.json(this.url(plane.layer, '/statistics'), this.ending.signal)));
      this.tell('painted', { plane, rect: null });
    } catch {
      // Too much for one answer, as a rule. The coarsest tile then has to do for the limits.
    }
  }

  /**
   * All that is known of a pixel, from the server, once the pointer has rested on it.
   * @returns {Promise<{value: number | null, count?: number, sky?: [number, number]} | null>} null when another was asked for
   */
  async point(plane, x, y) {
    this.pointing.abort();
    this.pointing = new AbortController();
    const { signal } = this.pointing;
    const key = `${x},${y}`;
    const known = plane.points.get(key);
    if (known) return known;
    await new Promise((resolve) => setTimeout(resolve, LINGER));
    if (signal.aborted) return null;
    try {
      const told = await this.asking.json(this.url(plane.layer, `/point/${x},${y}`), signal);
      plane.points.set(key, told);
      if (plane.points.size > POINTS) plane.points.delete(plane.points.keys().next().value);
      return told;
    } catch {
      return null;
    }
  }

  /** A cut-out as a file. @param {ServedPlane} plane @param {'fits' | 'png'} format @param {import('../plane.js').Rect | null} rect null: all */
  async cutout(plane, format, rect) {
    const bbox = rect ? `?bbox=${rect.x0},${rect.y0},${rect.x1},${rect.y1}` : '';
    const { bytes, headers } = await this.asking.get(this.url(plane.layer, `.${format}${bbox}`), this.ending.signal);
    return new Blob([bytes], { type: headers.get('content-type') ?? '' });
  }

  /** Ends all requests and gives back all tiles. */
  close() {
    clearTimeout(this.timer);
    this.shown = null;
    this.ending.abort();
    this.pointing.abort();
    this.loading.close();
  }
}

/** Whether a description has what is needed to ask for tiles. */
function isInfo(info) {
  const whole = (number, most) => Number.isInteger(number) && number >= 1 && number <= most;
  return typeof info?.id === 'string' && ['stack', 'ions'].includes(info.type)
    && whole(info.width, 2 ** 31) && whole(info.height, 2 ** 31) && whole(info.tile, 4096) && whole(info.levels, 30)
    && Math.max(info.width, info.height) <= info.tile * 2 ** (info.levels - 1);
}

