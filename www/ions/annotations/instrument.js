/** What a file's words for its instrument say about the analyzer. */

/** Resolving power at m/z 200 to begin with: what METASPACE and the program take where nothing is stated. */
export const USUAL_POWER = 140000;

const WORDS = [
  ['fticr', /ft[\s-]?icr|ft[\s-]?ms\b|ion cyclotron|solarix|scimax|\bmrms\b|\bapex\b|ltq[\s-]ft/i],
  ['orbitrap', /orbitrap|exactive|exploris|orbi\b|fusion lumos|\blumos\b|tribrid|astral|ltq.*(?:velos|elite|\bxl\b)/i],
  ['tof', /\btof|tof\b|timstof|[a-z]flex\b|time[\s-]of[\s-]flight|synapt|xevo|spiraltof|impact ii|maxis/i],
];

/**
 * The analyzer that a description means, or null when it names none.
 * @param {string} text as the file has it @returns {'orbitrap' | 'fticr' | 'tof' | null}
 */
export function analyzerOf(text) {
  return WORDS.find(([, pattern]) => pattern.test(text ?? ''))?.[0] ?? null;
}

/**
 * The resolving power at m/z 200 that a description states, as in “…, resolving power 140,000 at m/z 200”, or null; one
 * at another m/z is none.
 * @param {string} text as the file has it @returns {number | null}
 */
export function powerOf(text) {
  const [, digits = '', mz = '200'] = /resolving power[\s:=]*(\d[\d,]*)(?:\s*at m\/z (\d+))?/i.exec(text ?? '') ?? [];
  const power = mz === '200' ? Number(digits.replaceAll(',', '')) : NaN;
  return power >= 1000 && power <= 1e7 ? power : null;
}

/** The polarity that a file states, or null. @param {string} text */
export function polarityOf(text) {
  const found = /^(positive|negative)/i.exec((text ?? '').trim());
  return found ? found[1].toLowerCase() : null;
}

/**
 * The half width of the window of a peak in Da, as METASPACE has it: v2 follows the resolving power of the analyzer
 * over m/z, the others are a part of m/z.
 */
export function halfWidth(mz, ppm, scoring, analyzer) {
  if (scoring === 'metaspace-v2' && analyzer === 'orbitrap') return (mz ** 1.5 * ppm * 1e-6) / Math.sqrt(200);
  if (scoring === 'metaspace-v2' && analyzer === 'fticr') return (mz ** 2 * ppm * 1e-6) / 200;
  return mz * ppm * 1e-6;
}

/** The windows of peaks, as the page asks for ions: in ppm where that says all. */
export function windowsOf(peaks, { ppm, scoring, analyzer }) {
  const plain = scoring !== 'metaspace-v2' || analyzer === 'tof';
  return peaks.map(({ mz }) => (plain ? { mz, ppm } : { mz, da: halfWidth(mz, ppm, scoring, analyzer) }));
}
