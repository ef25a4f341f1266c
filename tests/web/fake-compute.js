/**
 * A stand-in for app/client.js with the same protocol and no core behind it: page tests are about the page.
 *
 * What it does is said in the query of the first address: n, w, h exposures and size; rows in a section; delay in ms
 * a section; unit; name; excluded (indices); trap (section at which the core is retired); fail (open, empty,
 * plan or median); large (a plan that calls for a preview); ramp (values x + w·y instead of a star field); nosky.
 * `globalThis.fake` records calls and how many are running.
 */
import { pause } from '../pause.js';

export class CoreError extends Error {
  constructor(code, message) {
    super(message);
    this.name = 'CoreError';
    this.code = code;
  }
}

const record = (globalThis.fake = { calls: [], running: 0, aborted: 0, closed: 0 });

export class Compute {
  constructor({ memory, onRetired }) {
    Object.assign(this, { memory, onRetired });
    record.calls.push(['new', memory]);
  }

  async open(entries, options) {
    record.calls.push(['open', entries.map((entry) => entry.url ?? entry.file.name), options.hdu ?? null, options.ignoreWcs, options.mask ?? null]);
    const query = new URL(entries[0].url ?? 'http://files/').searchParams;
    const get = (key, fallback) => (query.has(key) ? Number(query.get(key)) : fallback);
    this.query = query;
    this.n = get('n', entries.length > 1 ? entries.length : 12);
    this.width = get('w', 512);
    this.height = get('h', 512);
    this.rows = get('rows', 64);
    this.delay = get('delay', 0);
    this.unit = query.has('unit') ? query.get('unit') : 'MJy/sr';
    if (query.get('fail') === 'open') throw new CoreError('NotFits', 'exposure_03.fits is not FITS: byte 0 is “<!DOCTYPE html>”. The address leads to a web page.');
    const excluded = (query.get('excluded') ?? '').split(',').filter(Boolean).map(Number);
    const exposures = Array.from({ length: this.n }, (_, i) => this.exposureInfo(i, entries, excluded, options));
    for (const [i, info] of exposures.entries()) {
      await pause(this.delay / 4, options.signal);
      options.onExposure?.(i, info);
    }
    this.field = query.has('ramp') ? ramp(this.width, this.height) : starField(this.width, this.height);
    if (query.get('fail') === 'empty') throw new CoreError('parameter', 'the list is empty');
    this.order = exposures.flatMap((info, i) => (info.ok ? [i] : []));
    this.used = exposures.filter((info) => info.ok).length;
    const warnings = query.has('warning') ? [query.get('warning')] : [];
    return { exposures, width: this.width, height: this.height, wide: false, unit: this.unit, hasSky: !query.has('nosky'), warnings };
  }

  exposureInfo(i, entries, excluded, options) {
    const given = entries.length > 1 ? entries[i]?.file?.name ?? entries[i]?.url : null;
    const name = this.query.get('name') ?? given ?? `https://example.org/m13/exposure_${String(i + 1).padStart(2, '0')}.fits`;
    const info = { name, ok: true, reason: null, hdu: 1, extname: 'SCI', extver: 1, width: this.width, height: this.height, bitpix: -32, unit: this.unit, notes: [] };
    if (excluded.includes(i) && !options.ignoreWcs) Object.assign(info, { ok: false, reason: 'points 37.4 pixels away from the first exposure (ignore WCS to use it all the same)' });
    return info;
  }

  async plan({ memory, inFlight, rect, step = 1 }) {
    record.calls.push(['plan', memory, inFlight, rect ?? null, step]);
    const large = this.query.has('large');
    const rowBytes = this.width * 4 * this.n;
    const minimum = 1024 * 1024 + rowBytes + inFlight * this.width * 4;
    if (memory < minimum) throw new CoreError('Budget', `The budget of ${memory} bytes is too small: this stack needs at least ${minimum} bytes.`);
    if (this.query.get('fail') === 'plan') throw new CoreError('Shape', 'The exposures have no common shape.');
    const rows = Math.ceil(this.height / step);
    const payload = rows * rowBytes * (large ? 64 : 1);
    const sections = Math.ceil(rows / this.rows);
    const warnings = memory < minimum * 1.1 ? [`The budget is within 10 % of the minimum; ${2 * minimum} bytes would halve the run time.`] : [];
    return {
      sections, rows: this.rows, slots: this.n + inFlight, slot_bytes: this.rows * this.width * 4, requests: step > 1 ? rows * 2 : sections * this.n,
      payload_bytes: payload, peak_bytes: Math.min(memory, (this.n + inFlight) * this.rows * this.width * 4 + 2 ** 20), minimum_bytes: minimum, memory, warnings, shards: 1, seconds: payload / 25e6,
    };
  }

  median({ rect, step, inFlight }, on) {
    record.calls.push(['median', rect, step, inFlight]);
    if (this.query.get('fail') === 'median') return Promise.reject(new CoreError('Short', 'exposure_02.fits: the body ended at byte 4096 of 8192.'));
    return this.stream(rect, step, on, this.n, (i, x, y) => this.field.median(i, x, y), true);
  }

  exposure(index, { rect, step }, on) {
    record.calls.push(['exposure', index, rect, step]);
    return this.stream(rect, step, on, 1, (i, x, y) => this.field.single(i, x, y, this.order[index]), false);
  }

  async stream(rect, step, { onSection, onProgress, signal }, n, valueAt, counted) {
    record.running += 1;
    const started = performance.now();
    const width = Math.ceil((rect.x1 - rect.x0) / step);
    const total = Math.ceil((rect.y1 - rect.y0) / step);
    const tally = { requests: 0, bytes_fetched: 0, bytes_payload: 0, planned_bytes: total * this.width * 4 * n, peak_bytes: 0, memory: this.memory, seconds: 0 };
    try {
      for (let from = 0; from < total; from += this.rows) {
        await pause(this.delay, signal);
        if (this.query.has('trap') && from / this.rows >= Number(this.query.get('trap'))) return await this.trap();
        const rows = Math.min(this.rows, total - from);
        onSection?.(this.section(rect, step, from, rows, width, valueAt, counted));
        const bytes = rows * this.width * 4 * n;
        tally.requests += n;
        tally.bytes_fetched += bytes;
        tally.bytes_payload += bytes;
        tally.peak_bytes = Math.min(this.memory, 2 ** 20 + (this.n + 6) * this.rows * this.width * 4);
        tally.seconds = (performance.now() - started) / 1000;
        onProgress?.({ ...tally });
      }
      return tally;
    } catch (error) {
      record.aborted += 1;
      throw error;
    } finally {
      record.running -= 1;
    }
  }

  section(rect, step, from, rows, width, valueAt, counted) {
    const values = new Float32Array(rows * width);
    const used = this.used;
    const count = counted ? new Uint16Array(rows * width) : null;
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < width; column += 1) {
        const x = rect.x0 + column * step;
        const y = rect.y0 + (from + row) * step;
        const i = y * this.width + x;
        values[row * width + column] = valueAt(i, x, y);
        if (count) count[row * width + column] = this.field.count(i, x, y, used);
      }
    }
    return { x0: rect.x0, y0: rect.y0 + from * step, width, rows, step, values, count };
  }

  async trap() {
    this.onRetired('the core has stopped (unreachable); start a new one');
    throw new CoreError('Retired', 'The core was stopped by a trap.');
  }

  async sky(x, y) {
    if (this.query.has('nosky')) return null;
    return [250.4235 - ((x - this.width / 2) * 0.0000277) / 0.804, 36.4613 + (y - this.height / 2) * 0.0000277];
  }

  async zscale(samples) {
    const sorted = samples.slice().sort();
    return [sorted[Math.floor(sorted.length * 0.02)], sorted[Math.floor(sorted.length * 0.93)]];
  }

  async png(what) {
    record.calls.push(['png', what.width, what.height, what.values.length, what.scale, what.unit]);
    return new Blob([new Uint8Array(8)], { type: 'image/png' });
  }

  async fits(what) {
    record.calls.push(['fits', what.width, what.height, what.values.length, what.count?.length ?? null]);
    return new Blob([new Uint8Array(2880)], { type: 'application/fits' });
  }

  close() {
    record.closed += 1;
  }
}

function ramp(width, height) {
  const value = (i) => i % Math.min(width * height, 60000);
  return { median: value, single: (i, x, y, index) => value(i) + index, count: (i, x, y, n) => n };
}

/** Repeatable numbers in 0…1. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function noise(i, salt) {
  const next = random(Math.imul(i + 1, 2654435761) ^ Math.imul(salt + 7, 40503));
  return next() + next() + next() - 1.5;
}

/** A globular cluster on a faint glow, with stars, noise, dead columns and an unexposed corner. */
function starField(width, height) {
  const sky = new Float32Array(width * height);
  const next = random(13);
  const size = Math.min(width, height);
  for (let star = 0; star < 1400; star += 1) {
    const inside = star < 1000;
    const r = inside ? (size * 0.045) / Math.sqrt((1 - 0.985 * next()) ** -1 - 0.98 + 0.001) * 3 : 0;
    const angle = 2 * Math.PI * next();
    const x = inside ? width * 0.52 + r * Math.cos(angle) * (0.4 + next()) : next() * width;
    const y = inside ? height * 0.53 + r * Math.sin(angle) * (0.4 + next()) : next() * height;
    addStar(sky, width, height, x, y, 0.25 * (1 - next()) ** -1.15, 1.15 + 0.25 * next());
  }
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const d = Math.hypot(x - width * 0.52, y - height * 0.53) / size;
      sky[y * width + x] += 0.31 + 0.5 / (1 + (d / 0.09) ** 2) ** 1.3 + 0.05 * Math.sin(x / size + 2 * (y / size));
    }
  }
  const dead = (x, y) => x + y < size * 0.09 || x === Math.floor(width * 0.27);
  return {
    median: (i, x, y) => (dead(x, y) ? NaN : sky[i] + 0.025 * noise(i, 0)),
    single: (i, x, y, index) => {
      if (dead(x, y) || x === Math.floor((width * (index + 3)) / 17)) return NaN;
      return sky[i] + 0.09 * noise(i, index + 1) + (noise(i, 100 + index) > 1.42 ? 12 : 0);
    },
    count: (i, x, y, n) => (dead(x, y) ? 0 : n - (x < width * 0.06 ? 3 : 0) - (y > height * 0.94 ? 2 : 0) - (x % Math.floor(width / 17) === 3 ? 1 : 0) - (noise(i, 5) > 1.3 ? 1 : 0)),
  };
}

function addStar(sky, width, height, cx, cy, peak, sigma) {
  const reach = Math.ceil(sigma * (4 + Math.log10(1 + peak) * 3));
  for (let y = Math.max(0, Math.floor(cy - reach)); y <= Math.min(height - 1, cy + reach); y += 1) {
    for (let x = Math.max(0, Math.floor(cx - reach)); x <= Math.min(width - 1, cx + reach); x += 1) {
      const r2 = ((x - cx) ** 2 + (y - cy) ** 2) / sigma ** 2;
      sky[y * width + x] += Math.min(peak, 400) * (1 + r2 / 3) ** -3.2;
    }
  }
}
