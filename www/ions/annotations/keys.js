/** What a link holds about annotations: the settings, the filters, the chosen ion, and whether to annotate; not a list that is a file. */
import { parseAdduct } from './adducts.js';

export const SCORINGS = Object.freeze(['metaspace-v3', 'metaspace-v2', 'metaspace-v1']);
export const ANALYZERS = Object.freeze(['orbitrap', 'fticr', 'tof']);
export const LEVELS = Object.freeze([5, 10, 20, 50, 100]);

/**
 * @typedef {object} AnnotationState
 * @property {'ions' | 'annotations'} side the left panel on show
 * @property {'' | 'positive' | 'negative'} pol "" for what the file says
 * @property {string[] | null} ad adducts; null for the usual ones of the polarity
 * @property {string} ana analyzer, "" for what the file says @property {number} rp resolving power at m/z 200, 0 for the usual one
 * @property {number} appm half width of the windows in ppm @property {string} sco scoring @property {number} dec decoys per target
 * @property {boolean} ahot whether hotspots are clipped before scoring
 * @property {number} lvl highest FDR on show in per cent @property {string} ann the chosen ion, like C16H32O2+Na
 * @property {boolean} run annotate with the built-in list at once when opened from a link
 */

/** @returns {AnnotationState} */
export function initialAnnotations() {
  return { side: 'ions', pol: '', ad: null, ana: '', rp: 0, appm: 3, sco: 'metaspace-v3', dec: 20, ahot: false, lvl: 10, ann: '', run: false };
}

function adducts(text) {
  try {
    return text.split(',').map((part) => parseAdduct(part).text).slice(0, 40);
  } catch {
    return undefined;
  }
}

const one = (list, value) => list.find((name) => name === value);
const within = (text, least, most) => {
  const value = text.trim() === '' ? NaN : Number(text);
  return value >= least && value <= most ? value : undefined;
};

/** As the keys of the page's own state: how each is read and written. */
export const ANNOTATION_KEYS = {
  side: { read: (text) => one(['ions', 'annotations'], text), write: (s) => s.side },
  pol: { read: (text) => one(['positive', 'negative'], text), write: (s) => s.pol || null },
  ad: { read: adducts, write: (s) => (s.ad ? s.ad.join(',') : null) },
  ana: { read: (text) => one(ANALYZERS, text), write: (s) => s.ana || null },
  rp: { read: (text) => within(text, 1000, 1e7), write: (s) => s.rp || null },
  appm: { read: (text) => within(text, 0.01, 1000), write: (s) => s.appm },
  sco: { read: (text) => one(SCORINGS, text), write: (s) => s.sco },
  dec: { read: (text) => { const n = within(text, 1, 80); return Number.isInteger(n) ? n : undefined; }, write: (s) => s.dec },
  ahot: { read: (text) => text === '1', write: (s) => (s.ahot ? 1 : null) },
  lvl: { read: (text) => one(LEVELS, Number(text)), write: (s) => s.lvl },
  ann: { read: (text) => text.slice(0, 200), write: (s) => s.ann || null },
  run: { read: (text) => text === '1', write: (s) => (s.run ? 1 : null) },
};
