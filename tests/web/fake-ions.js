/**
 * A stand-in for ions/client.js with the same protocol and no core behind it: tests of the ion page are about the page.
 *
 * What it does is said in the query of the address (for files: that of their name, after a “~”): w, h size; slices;
 * pixel (“50”, “50x100”, “none”); origin (“x,y”); delay in ms of a packing step or an image; fail (open, pack, image,
 * spectrum); iso (every ion has isotopes); inst, pol (instrument and polarity); trap (image); big (bytes of a full pass), steps (of it, `delay` apart); text (put into every text of the info); ramp (values x + w·y);
 * empty (no peaks). `globalThis.fake` records calls.
 */
import { pause } from '../pause.js';

export class CoreError extends Error {
  constructor(code, message) {
    super(message);
    this.name = 'CoreError';
    this.code = code;
  }
}

const record = (globalThis.fake = { calls: [], aborted: 0, closed: 0, kept: new Map() });

/** Steps of a packing. */
const STEPS = 20;

/** m/z, strength and where in the tissue: cortex, core, spot, edge, everywhere, left. */
const IONS = [
  [281.2485, 5200, 'all'], [283.2642, 3100, 'cortex'], [303.233, 2500, 'core'], [327.233, 1900, 'spot'], [391.2566, 700, 'edge'],
  [437.2675, 900, 'core'], [480.3096, 1100, 'cortex'], [514.2844, 850, 'left'], [572.4814, 640, 'spot'], [599.3202, 760, 'all'],
  [701.513, 1250, 'core'], [717.5076, 1600, 'cortex'], [726.5443, 1400, 'spot'], [742.5392, 1700, 'core'], [747.5182, 2900, 'cortex'],
  [766.5392, 1350, 'left'], [773.5338, 2300, 'all'], [790.5392, 2600, 'cortex'], [810.5291, 980, 'edge'], [834.5291, 2750, 'core'],
  [857.5186, 1500, 'spot'], [863.5655, 1050, 'left'], [885.5493, 6100, 'cortex'], [886.5527, 2900, 'cortex'], [887.556, 860, 'cortex'],
  [888.6239, 3300, 'core'], [890.6395, 1200, 'spot'], [906.6344, 1750, 'core'], [909.5342, 700, 'edge'],
];

export class IonCompute {
  constructor({ memory, onRetired }) {
    Object.assign(this, { memory, onRetired, info: null });
    record.calls.push(['new', memory]);
  }

  async open(what, { signal, onProgress, keep = false, skipBad = false }) {
    const part = what.pair?.imzml ?? what;
    const name = what.kept ?? part.url ?? part.file.name;
    record.calls.push(['open', what.pair ? [name, what.pair.ibd.url ?? what.pair.ibd.file.name] : name, keep, skipBad]);
    this.skipBad = skipBad;
    if (what.kept && !record.kept.has(what.kept)) throw new CoreError('io', `${what.kept} is no longer kept here; open the dataset anew`);
    this.query = new URLSearchParams(name.includes('~') ? name.slice(name.indexOf('~') + 1).replace(/\.\w+$/, '') : URL.canParse(name) ? new URL(name).search : '');
    if (this.query.get('fail') === 'open') throw new CoreError('format', `${name}: byte 0: this is “<!DOCTYPE html>” and not a Sectile store; the address leads to a web page`);
    this.delay = this.number('delay', 0);
    this.pair = Boolean(what.pair);
    if (this.pair) await this.pack(signal, onProgress);
    signal?.throwIfAborted();
    this.prepare(name);
    const packed = this.pair ? { peaks: this.info.peaks, store_bytes: this.info.bytes } : null;
    if (keep && this.pair) record.kept.set(name.split('/').pop().split('?')[0].replace(/\.imzml$/i, '.sectile'), this.info.bytes);
    return { ...this.info, packed, kept: this.pair && keep, opening: { requests: 1, bytes: 262144 } };
  }

  async pack(signal, onProgress) {
    const resumed = record.packed ?? 0;
    for (let step = resumed; step < STEPS; step += 1) {
      try {
        await pause(this.delay, signal);
      } catch (error) {
        record.aborted += 1;
        throw error;
      }
      if (this.query.get('fail') === 'pack' && step > 4 && !this.skipBad) throw new CoreError('format', 'kidney.ibd: spectrum 1204 (x 14, y 9): intensities end at byte 81,204 of 79,872. The file is cut short: copy it again.');
      record.packed = step;
      const phase = step < 3 ? 'index' : step < 12 ? 'read' : 'sort';
      const plan = { payload_bytes: 251e6, requests: 62, spill_bytes: 188e6, store_bytes_estimate: 90e6, peak_bytes: 61e6 };
      onProgress?.({ phase, done: step * 12e6, total: STEPS * 12e6, overall: step / STEPS, seconds_left: (STEPS - step) * 2, peak_bytes: 41e6, plan });
    }
    record.packed = 0;
  }

  prepare(name) {
    const text = this.query.get('text');
    this.width = this.number('w', 60);
    this.height = this.number('h', 45);
    const size = (this.query.get('pixel') ?? '50').split('x').map(Number);
    const n = this.number('slices', 1);
    this.mask = tissue(this.width, this.height);
    const spectra = this.mask.reduce((sum, v) => sum + v, 0);
    this.ions = this.query.has('empty') ? [] : IONS;
    this.info = {
      width: this.width, height: this.height, slices: Array.from({ length: n }, (_, i) => i * 10), spectra: spectra * n, acquired: spectra * n, peaks: this.ions.length * spectra * 30,
      mz: this.ions.length > 0 ? [250.0117, 949.9873] : null, pixelSize: this.query.get('pixel') === 'none' ? null : [size[0], size[1] ?? size[0]],
      origin: (this.query.get('origin') ?? '1,1').split(',').map(Number), polarity: this.query.get('pol') ?? 'negative', representation: 'centroid', instrument: text ?? this.query.get('inst') ?? 'Orbitrap Exploris 240',
      source: text ?? name.split('/').pop(), bytes: 4.6e6, counts: { peaks_read: 1e6, zeros_dropped: 52221, unsorted_spectra: 3, duplicate_pixels: 0 },
      warnings: text ? [text] : this.query.has('warn') ? ['The UUID of the imzML file (5a…e1) differs from that of the ibd file (77…0c): they may not belong together.'] : [],
    };
  }

  number(key, fallback) {
    return this.query.has(key) ? Number(this.query.get(key)) : fallback;
  }

  async image(wish, options) {
    const [image] = await this.images([wish], options);
    return image;
  }

  async images(wishes, { signal } = {}) {
    record.calls.push(['images', wishes]);
    await pause(this.delay, signal);
    if (this.query.get('fail') === 'image') throw new CoreError('network', 'https://example.org/tissue.sectile: byte 81920: the server does not answer; check the connection and try again');
    if (this.query.get('trap') === 'image') {
      this.onRetired('the core has stopped (unreachable); start a new one');
      throw new CoreError('retired', 'the core has stopped');
    }
    return wishes.map((wish) => this.draw(wish));
  }

  draw({ mz, ppm, da, slice, normalise }) {
    const { width, height, mask } = this;
    const half = da ?? mz * ppm * 1e-6;
    const values = new Float32Array(width * height).fill(NaN);
    const near = this.ions.filter(([centre]) => Math.abs(centre - mz) <= half);
    if (this.query.has('iso') && near.length === 0) near.push(...this.isotopes(mz, half));
    let [hits, max] = [0, 0];
    for (let i = 0; i < values.length; i += 1) {
      if (!mask[i]) continue;
      const [x, y] = [i % width, Math.floor(i / width)];
      let value = 0;
      if (this.query.has('ramp')) value = near.length > 0 ? i : 0;
      else for (const [centre, strength, where] of near) value += strength * pattern(where, x / width, y / height, slice) * speckle(i, centre);
      if (normalise !== 'none') value *= 0.5 + speckle(i, normalise === 'tic' ? 3 : 9) / 2;
      values[i] = Math.fround(value);
      if (value !== 0) hits += 1;
      max = Math.max(max, values[i]);
    }
    return { mz, window: { lo: mz - half, hi: mz + half }, width, height, values, hits, max, requests: near.length > 0 ? 1 : 0, bytes: near.length * 38112 };
  }

  /** Ions of which an isotope lies in a window, as weak as it is. */
  isotopes(mz, half) {
    const found = [1, 2, 3].flatMap((k) => this.ions.filter(([centre]) => Math.abs(centre + k * 1.00335 - mz) <= half).map(([centre, strength, where]) => [centre, strength * [0.48, 0.14, 0.03][k - 1], where]));
    return found.slice(0, 1);
  }

  async meanSpectrum() {
    record.calls.push(['meanSpectrum']);
    const mz = [];
    const mean = [];
    const random = generator(5);
    let strongest = 250;
    for (let at = 250.01; at < 950; at *= 1 + 5e-6 * (1 + Math.floor(30 * random()))) {
      mz.push(at + at * 2e-6 * random());
      mean.push(3 + 30 * random() ** 6);
      strongest = at;
    }
    const all = mz.map((value, i) => [value, mean[i]]).concat(this.ions.flatMap(([centre, strength]) => [[centre * (1 - 4e-6), strength * 0.12], [centre, strength * 0.55], [centre * (1 + 4e-6), strength * 0.08]]));
    all.sort((a, b) => a[0] - b[0]);
    const kept = this.ions.length > 0 && strongest > 0 ? all : [];
    return { mz: Float64Array.from(kept, ([value]) => value), mean: Float32Array.from(kept, ([, value]) => value), max: Float32Array.from(kept, ([, value]) => value * 4) };
  }

  async planSpectrum() {
    const bytes = this.number('big', 4.6e6);
    return this.pair ? { from: 'pair', pixels: 1, requests: 1, bytes: 4812 } : { from: 'store', pixels: 1, requests: Math.ceil(bytes / 2e6), bytes };
  }

  /** A reading that goes on for a while, and tells how far it is. */
  async reading({ signal, onProgress }) {
    const total = this.number('big', 4.6e6);
    for (let step = 1; step <= this.number('steps', 1); step += 1) {
      try {
        await pause(this.delay, signal);
      } catch (error) {
        record.aborted += 1;
        throw error;
      }
      onProgress?.({ phase: 'peaks', bytes: (total * step) / this.number('steps', 1), total });
    }
  }

  async spectrum(where, options = {}) {
    record.calls.push(['spectrum', where]);
    await this.reading(options);
    if (this.query.get('fail') === 'spectrum') throw new CoreError('format', 'kidney.ibd: spectrum 7 (x 3, y 2): NaN among the m/z');
    const i = where.y * this.width + where.x;
    const found = this.mask[i] ? this.ions.filter((ion, k) => speckle(i, k) > 0.3) : [];
    const { from, requests, bytes } = await this.planSpectrum();
    return { mz: Float64Array.from(found, ([mz]) => mz), intensity: Float64Array.from(found, ([, strength], k) => strength * speckle(i, k)), from, requests, bytes };
  }

  async region(where, options = {}) {
    record.calls.push(['region', where]);
    await this.reading(options);
    const { from, requests, bytes } = await this.planSpectrum();
    return { mz: Float64Array.from(this.ions, ([mz]) => mz), mean: Float64Array.from(this.ions, ([, strength]) => strength / 2), pixels: 12, from, requests, bytes };
  }

  async png(image, { alpha = false, shares = false } = {}) {
    record.calls.push(['png', image.width, image.height, image.values.length, shares ? 'shares' : alpha]);
    return new Blob([new Uint8Array(8)], { type: 'image/png' });
  }

  async csv(image) {
    record.calls.push(['csv', image.values.length]);
    return new Blob(['x,y,intensity\n'], { type: 'text/csv' });
  }

  async kept() {
    return [...record.kept].map(([name, bytes]) => ({ name, bytes }));
  }

  async leftovers() {
    return record.packed > 0 ? { count: 1, bytes: 2e6 } : { count: 0, bytes: 0 };
  }

  async remove(name) {
    record.kept.delete(name);
  }

  async store() {
    return this.pair ? new Blob([new Uint8Array(160)]) : null;
  }

  async clean() {
    record.calls.push(['clean']);
    const removed = record.packed > 0 ? 2 : 0;
    record.packed = 0;
    return { removed, bytes: removed * 1e6 };
  }

  async keep() {
    record.calls.push(['keep']);
    record.kept.set('kidney', this.info.bytes);
  }

  close() {
    record.closed += 1;
  }
}

/** An outline like that of a slice of tissue: 1 where it was acquired. */
function tissue(width, height) {
  return Uint8Array.from({ length: width * height }, (_, i) => {
    const [x, y] = [((i % width) + 0.5) / width - 0.5, (Math.floor(i / width) + 0.5) / height - 0.5];
    const angle = Math.atan2(y, x);
    return Math.hypot(x * 1.03, y * 1.08) < 0.46 + 0.025 * Math.sin(3 * angle + 1) + 0.015 * Math.sin(7 * angle) ? 1 : 0;
  });
}

/** How strong an ion is at a place of the tissue. */
function pattern(where, u, v, slice) {
  const [x, y] = [u - 0.5 + slice * 0.04, v - 0.5];
  const r = Math.hypot(x, y);
  const fold = r + 0.035 * Math.sin(6 * Math.atan2(y, x)) + 0.02 * Math.sin(11 * Math.atan2(y, x) + 2);
  const band = (centre, width) => Math.exp(-(((fold - centre) / width) ** 2));
  if (where === 'cortex') return 0.06 + band(0.35, 0.055) + 0.35 * band(0.16, 0.03);
  if (where === 'core') return 0.04 + Math.exp(-(((x + 0.06) / 0.14) ** 2) - ((y - 0.02) / 0.17) ** 2) + 0.3 * Math.exp(-(((x - 0.2) / 0.07) ** 2) - ((y + 0.12) / 0.08) ** 2);
  if (where === 'spot') return 0.03 + Math.exp(-(((x - 0.19) / 0.075) ** 2) - ((y + 0.1) / 0.085) ** 2) + 2.5 * Math.exp(-(((x + 0.25) / 0.018) ** 2) - ((y - 0.14) / 0.02) ** 2);
  if (where === 'edge') return band(0.44, 0.03);
  if (where === 'left') return 1 / (1 + Math.exp(22 * (x + 0.04)));
  return 0.55 + 0.4 * band(0.25, 0.1);
}

/** Repeatable noise of a pixel, around 1. */
function speckle(i, salt) {
  const next = generator(Math.imul(i + 1, 2654435761) ^ Math.imul(Math.round(salt * 1000) + 7, 40503));
  return 0.55 + 0.3 * (next() + next() + next());
}

function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
