import { COLORMAPS } from '../view/colormaps.js';
import { STRETCHES } from '../view/stretch.js';
import { ION } from './served/address.js';

/**
 * All that a link restores. Identity of the data first, then how it is computed, then how it is looked at.
 * @typedef {object} State
 * @property {string[]} src URLs as the user wrote them (relative ones are relative to the page)
 * @property {string} hdu "" for the automatic choice
 * @property {string} mask HDU that flags pixels to be left out; "" for none
 * @property {string} bits which of its flags do: bits, any or zero
 * @property {string} mem the budget as written
 * @property {number} fly requests in flight
 * @property {boolean} nowcs ignore differing WCS
 * @property {boolean} run compute at once when opened from a link
 * @property {string} v layer: median, rms, count, exp-3 for the third exposure, or an ion of a served dataset
 * @property {string} s stretch
 * @property {string} lim zscale, minmax, p99.5 … or user
 * @property {number} lo @property {number} hi limits of `user`
 * @property {string} cm colormap @property {boolean} inv
 * @property {[number, number] | null} c pixel in the middle of the view; null: whole image
 * @property {number} z CSS pixels per image pixel; 0: whole image
 */

/** @returns {State} */
export function initialState() {
  return {
    src: [], hdu: '', mask: '', bits: '1', mem: '256 MiB', fly: 6, nowcs: false, run: false,
    v: 'median', s: 'asinh', lim: 'p99.5', lo: 0, hi: 1, cm: 'inferno', inv: false, c: null, z: 0,
  };
}

const number = (text) => (text === null || text.trim() === '' ? NaN : Number(text));

/** Each key: how it is read (undefined when it makes no sense) and written (null: leave it out). */
const KEYS = {
  hdu: { read: (p) => p.get('hdu')?.slice(0, 80), write: (s) => s.hdu || null },
  mask: { read: (p) => p.get('mask')?.slice(0, 80), write: (s) => s.mask || null },
  bits: { read: (p) => p.get('bits')?.slice(0, 80) || undefined, write: (s) => (s.mask && s.bits !== '1' ? s.bits : null) },
  mem: { read: (p) => p.get('mem')?.slice(0, 40), write: (s) => s.mem },
  fly: { read: (p) => within(number(p.get('fly')), 1, 64), write: (s) => s.fly },
  nowcs: { read: (p) => p.get('nowcs') === '1', write: (s) => (s.nowcs ? 1 : null) },
  run: { read: (p) => p.get('run') === '1', write: (s) => (s.run ? 1 : null) },
  v: { read: (p) => /^(median|rms|count|exp-[1-9]\d{0,3})$/.exec(p.get('v') ?? '')?.[0] ?? ION.exec(p.get('v') ?? '')?.[0], write: (s) => s.v },
  s: { read: (p) => STRETCHES.find((name) => name === p.get('s')), write: (s) => s.s },
  lim: { read: (p) => /^(zscale|minmax|user|p\d{1,2}(\.\d{1,3})?)$/.exec(p.get('lim') ?? '')?.[0], write: (s) => s.lim },
  lo: { read: (p) => finite(number(p.get('lo'))), write: (s) => (s.lim === 'user' ? s.lo : null) },
  hi: { read: (p) => finite(number(p.get('hi'))), write: (s) => (s.lim === 'user' ? s.hi : null) },
  cm: { read: (p) => COLORMAPS.find((name) => name === p.get('cm')), write: (s) => s.cm },
  inv: { read: (p) => p.get('inv') === '1', write: (s) => (s.inv ? 1 : null) },
  c: { read: (p) => pair(p.get('c')), write: (s) => (s.c ? s.c.map((v) => Number(v.toFixed(2))).join(',') : null) },
  z: { read: (p) => within(number(p.get('z')), 1e-4, 64), write: (s) => (s.c ? Number(s.z.toPrecision(4)) : null) },
};

const finite = (value) => (Number.isFinite(value) ? value : undefined);
const within = (value, least, most) => (value >= least && value <= most ? value : undefined);
const pair = (text) => {
  const parts = (text ?? '').split(',').map(number);
  return parts.length === 2 && parts.every(Number.isFinite) ? parts : undefined;
};

/** The state of a fragment; what is missing or senseless keeps its default. @returns {State} */
export function parseFragment(fragment) {
  const params = new URLSearchParams(fragment.replace(/^#/, ''));
  const state = initialState();
  state.src = params.getAll('src').map((text) => text.trim()).filter(Boolean);
  for (const [key, { read }] of Object.entries(KEYS)) {
    const value = params.has(key) ? read(params) : undefined;
    if (value !== undefined) state[key] = value;
  }
  if (!state.c || !state.z) Object.assign(state, { c: null, z: 0 });
  return state;
}

/** The fragment of a state, without defaults; addresses stay readable. */
export function formatFragment(state) {
  const defaults = initialState();
  const parts = state.src.map((text) => `src=${encode(text)}`);
  for (const [key, { write }] of Object.entries(KEYS)) {
    const value = write(state);
    if (value !== null && value !== write(defaults)) parts.push(`${key}=${encode(String(value))}`);
  }
  return parts.length > 0 ? `#${parts.join('&')}` : '';
}

/** A value as part of a fragment: readable where it may be. */
export function encode(text) {
  return encodeURIComponent(text).replace(/%(2F|3A|2C|40)/g, (code) => decodeURIComponent(code));
}
