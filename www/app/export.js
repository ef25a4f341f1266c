import { download } from './dom.js';

/**
 * Files of a layer. An incomplete layer is exported with what has arrived, no data elsewhere, and is named so.
 * @param {import('./plane.js').Plane} plane
 * @param {string} stem name of the stack
 */
export function exportName(plane, stem, extension) {
  const base = stem.replace(/[^\p{L}\p{N}._+-]+/gu, '_').replace(/^[._]+/, '').slice(0, 80) || 'stack';
  return `${base}_${plane.name}${plane.complete ? '' : '_partial'}.${extension}`;
}

/** A 16-bit PNG over the plane's whole range, its scale in text chunks. */
export async function exportPng(compute, plane, stem) {
  const { width, height, values, unit } = plane;
  const blob = await compute.png({ width, height, values, scale: plane.exportScale(), unit });
  download(blob, exportName(plane, stem, 'png'));
}

/** A FITS file with the plane's values, and for the median the count of exposures. */
export async function exportFits(compute, plane, counts, stem) {
  const { width, height } = plane;
  const values = plane.values instanceof Uint16Array ? Float32Array.from(plane.values) : plane.values;
  const count = plane.name === 'median' && counts ? counts.values : null;
  const blob = await compute.fits({ width, height, values, count });
  download(blob, exportName(plane, stem, 'fits'));
}
