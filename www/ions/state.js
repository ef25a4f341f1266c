import { encode } from '../app/state.js';
import { COLORMAPS } from '../view/colormaps.js';
import { ANNOTATION_KEYS, initialAnnotations } from './annotations/keys.js';

/** Stretches that the page offers, a part of those that the view knows. */
export const STRETCHES = Object.freeze(['linear', 'sqrt', 'log']);
export const NORMALISATIONS = Object.freeze(['none', 'tic', 'rms']);

/** Ions in the list at most: a link has to stay an address. */
export const MOST_IONS = 48;

/**
 * All that a link restores: the data, the ions, how they are computed, how they are looked at.
 * @typedef {object} State
 * @property {string} src address of a store or an imzML file as the user wrote it; "" for local files
 * @property {string} ibd address of its .ibd file; "" when it has the same name
 * @property {string} mem the budget as written
 * @property {number[]} mz the list of ions
 * @property {number} tol half width of the window @property {'ppm' | 'da'} unit of it
 * @property {number} at index of the chosen ion
 * @property {boolean} rgb whether up to three ions are shown at once
 * @property {(number | null)[]} ch indices of the ions shown as red, green and blue
 * @property {string} norm none, tic or rms
 * @property {number} sl index of the z slice
 * @property {string} s stretch @property {string} cm colormap @property {boolean} inv
 * @property {boolean} hot whether the brightest 1 % of the pixels with signal are clipped
 * @property {({lo: number, hi: number} | null)[]} lim limits set by hand, for the single ion or the three channels
 * @property {string} sp spectrum on show: mean or max
 * @property {boolean} log whether its intensities are on a logarithmic axis
 * @property {[number, number] | null} xr part of the m/z axis on show
 * @property {[number, number] | null} c pixel in the middle of the view; null: whole image
 * @property {number} z CSS pixels per image pixel across; 0: whole image
 *
 * Settings and filters of annotations are those of `annotations/keys.js`.
 */

/** @returns {State} */
export function initialState() {
  return {
    src: '', ibd: '', mem: '256 MiB', mz: [], tol: 3, unit: 'ppm', at: 0, rgb: false, ch: [null, null, null], norm: 'none', sl: 0,
    s: 'linear', cm: 'viridis', inv: false, hot: true, lim: [null, null, null], sp: 'mean', log: false, xr: null, c: null, z: 0,
    ...initialAnnotations(),
  };
}

const number = (text) => (text === null || text.trim() === '' ? NaN : Number(text));
const within = (value, least, most) => (value >= least && value <= most ? value : undefined);
const whole = (value, most) => (Number.isInteger(value) ? within(value, 0, most) : undefined);
const one = (list, value) => list.find((name) => name === value);
const short = (value) => Number(value.toPrecision(9));

function pair(text) {
  const parts = (text ?? '').split(',').map(number);
  return parts.length === 2 && parts.every(Number.isFinite) ? parts : undefined;
}

function span(text) {
  const found = pair(text);
  return found && found[0] < found[1] ? found : undefined;
}

function ions(text) {
  const all = text.split(',').map(number);
  return all.every((mz) => mz > 0 && mz < 1e7) ? all.slice(0, MOST_IONS) : undefined;
}

function channels(text) {
  const all = text.split(',').map((part) => (part === '' ? null : whole(number(part), MOST_IONS - 1)));
  return all.length === 3 && !all.includes(undefined) ? all : undefined;
}

function limits(text) {
  const all = text.split(',').map((part) => {
    const [lo, hi] = part.split('..').map(number);
    return part === '' ? null : lo < hi ? { lo, hi } : undefined;
  });
  return all.length >= 1 && all.length <= 3 && !all.includes(undefined) ? [0, 1, 2].map((i) => all[i] ?? null) : undefined;
}

function writeLimits(lim) {
  const parts = lim.map((part) => (part ? `${short(part.lo)}..${short(part.hi)}` : ''));
  while (parts.at(-1) === '') parts.pop();
  return parts.length > 0 ? parts.join(',') : null;
}

/** "3ppm" or "0.01da". */
function tolerance(text) {
  const found = /^(\d+(?:\.\d+)?(?:e-?\d+)?)(ppm|da)$/i.exec(text.trim());
  const value = found ? Number(found[1]) : NaN;
  return value > 0 && value <= 1e6 ? { tol: value, unit: found[2].toLowerCase() } : undefined;
}

/** Each key: how it is read (undefined when it makes no sense) and written (null: leave it out). */
const KEYS = {
  ibd: { read: (text) => text.trim(), write: (s) => s.ibd || null },
  mem: { read: (text) => text.slice(0, 40), write: (s) => s.mem },
  mz: { read: ions, write: (s) => (s.mz.length > 0 ? s.mz.join(',') : null) },
  at: { read: (text) => whole(number(text), MOST_IONS - 1), write: (s) => (s.rgb ? null : s.at) },
  rgb: { read: channels, write: (s) => (s.rgb ? s.ch.map((i) => i ?? '').join(',') : null) },
  norm: { read: (text) => one(NORMALISATIONS, text), write: (s) => s.norm },
  sl: { read: (text) => whole(number(text), 1e6), write: (s) => s.sl },
  s: { read: (text) => one(STRETCHES, text), write: (s) => s.s },
  cm: { read: (text) => one(COLORMAPS, text), write: (s) => s.cm },
  inv: { read: (text) => text === '1', write: (s) => (s.inv ? 1 : null) },
  hot: { read: (text) => text !== '0', write: (s) => (s.hot ? null : 0) },
  lim: { read: limits, write: (s) => writeLimits(s.lim) },
  sp: { read: (text) => one(['mean', 'max'], text), write: (s) => (s.sp === 'max' ? 'max' : 'mean') },
  log: { read: (text) => text === '1', write: (s) => (s.log ? 1 : null) },
  xr: { read: span, write: (s) => (s.xr ? s.xr.map((v) => Number(v.toFixed(4))).join(',') : null) },
  c: { read: pair, write: (s) => (s.c ? s.c.map((v) => Number(v.toFixed(2))).join(',') : null) },
  z: { read: (text) => within(number(text), 1e-4, 1e5), write: (s) => (s.c ? Number(s.z.toPrecision(4)) : null) },
  ...ANNOTATION_KEYS,
};

/** The state of a fragment; what is missing or senseless keeps its default. @returns {State} */
export function parseFragment(fragment) {
  const params = new URLSearchParams(fragment.replace(/^#/, ''));
  const state = initialState();
  state.src = params.get('src')?.trim() ?? '';
  for (const [key, { read }] of Object.entries(KEYS)) {
    const value = params.has(key) ? read(params.get(key)) : undefined;
    if (value === undefined) continue;
    if (key === 'rgb') Object.assign(state, { rgb: true, ch: value });
    else state[key] = value;
  }
  Object.assign(state, tolerance(params.get('tol') ?? '') ?? {});
  if (!state.c || !state.z) Object.assign(state, { c: null, z: 0 });
  return settle(state);
}

/** Indices that point beyond the list are brought back into it. */
export function settle(state) {
  const inside = (i) => (i !== null && i < state.mz.length ? i : null);
  state.ch = state.ch.map(inside);
  if (state.rgb && state.ch.every((i) => i === null)) state.rgb = false;
  state.at = Math.max(0, Math.min(state.at, state.mz.length - 1));
  return state;
}

/** The fragment of a state, without defaults; addresses stay readable. */
export function formatFragment(state) {
  const defaults = initialState();
  const parts = state.src ? [`src=${encode(state.src)}`] : [];
  for (const [key, { write }] of Object.entries(KEYS)) {
    const value = write(state);
    if (value !== null && value !== write(defaults)) parts.push(`${key}=${encode(String(value))}`);
    if (key === 'mz' && (state.tol !== defaults.tol || state.unit !== defaults.unit)) parts.push(`tol=${state.tol}${state.unit}`);
  }
  return parts.length > 0 ? `#${parts.join('&')}` : '';
}
