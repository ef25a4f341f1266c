/** Addresses of datasets that a server of tiles has: those of its HTTP interface, version 1. */

/** A name as the interface allows it, and the version that may follow. */
const DATASET = /^(.*\/v1\/)([a-z0-9][a-z0-9._-]{0,63})(@[0-9a-f]{8})?(\/.*)?$/;

/** Paths below a dataset that stand for it: its description, and addresses of tiles, whose layer is meant. */
const BELOW = /^\/(?:|info|([^/]+)\/(?:tilejson\.json|[^/]+\/[^/]+\/[^/]+\.png))$/;

/** Endings of files: a folder named v1 may hold exposures. */
const FILES = /\.(fits?|fts|fz|gz|bz2|txt|lst|list|json)$/i;

/**
 * The dataset that an address means, or null when it is that of a file.
 * @param {string} text @param {string} base what a relative one is relative to
 * @returns {{root: string, name: string, version: string, layer: string} | null} `root` ends with `/v1/`; `version` and
 *   `layer` are "" where the address states none
 */
export function datasetAddress(text, base) {
  if (!URL.canParse(text, base)) return null;
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  const [, before, name, version = '', rest = ''] = DATASET.exec(url.pathname) ?? [];
  if (!name || (rest === '' && FILES.test(name))) return null;
  const below = rest === '' ? [] : BELOW.exec(rest);
  if (!below) return null;
  return { root: `${url.origin}${before}`, name, version: version.slice(1), layer: decoded(below[1] ?? '') };
}

function decoded(text) {
  try {
    const layer = decodeURIComponent(text);
    return /[{}]/.test(layer) ? '' : layer;
  } catch {
    return '';
  }
}

/** Layers of stacks as the page names them (exp-3) and as the interface does (frame-3). */
export function layerOf(view) {
  return view.startsWith('exp-') ? `frame-${view.slice(4)}` : view;
}

/** The inverse of {@link layerOf}. */
export function viewOf(layer) {
  const frame = /^frame-0*([1-9]\d*)$/.exec(layer);
  return frame ? `exp-${frame[1]}` : layer;
}

/** A picture of an ion as the interface names it: an m/z, or a formula with what makes an ion of it. */
export const ION = /^(mz-\d{1,5}(\.\d{1,8})?|[A-Z][A-Za-z0-9]{0,60}[+-][A-Za-z0-9+-]{0,20})$/;

/**
 * The layer that a typed ion means: 788.6164 is an m/z.
 * @param {string} text
 * @returns {string | null} null when it is none
 */
export function ionLayer(text) {
  const plain = text.trim().replaceAll('−', '-').replaceAll(/\s/g, '');
  const layer = /^\d/.test(plain) ? `mz-${plain}` : plain;
  return ION.test(layer) ? layer : null;
}
