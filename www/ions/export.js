import { download } from '../app/dom.js';
import { stem } from './pair.js';

/** A name for a file of an ion: dataset, m/z, ending. */
export function exportName(dataset, part, extension) {
  return `${safe(dataset)}_${part}.${extension}`;
}

/** A dataset's name without its ending, as every file system takes it. */
function safe(dataset) {
  return stem(dataset).replace(/[^\p{L}\p{N}._+-]+/gu, '_').replace(/^[._]+/, '').slice(0, 80) || 'dataset';
}

/** How an ion is named in a file: its m/z, and what the values were divided by. */
export function ionPart({ mz, normalise, slice }) {
  return [`mz${mz.toFixed(4)}`, normalise === 'none' ? '' : normalise, slice > 0 ? `slice${slice + 1}` : ''].filter(Boolean).join('_');
}

/**
 * 16-bit PNG or CSV of every ion on show, one file each. Positions in a CSV are those of the file, as in the readout.
 * @param {'png' | 'alpha' | 'csv'} kind @param {[number, number]} origin position of the first pixel
 */
export async function exportImages(compute, planes, kind, dataset, origin) {
  for (const { image, ion } of planes) {
    const blob = kind === 'csv' ? await compute.csv({ ...image, origin }) : await compute.png(image, { alpha: kind === 'alpha' });
    download(blob, exportName(dataset, kind === 'alpha' ? `${ionPart(ion)}_alpha` : ionPart(ion), kind === 'csv' ? 'csv' : 'png'));
  }
}

/** The packed store, for another computer or a web server. */
export async function exportStore(compute, dataset) {
  const blob = await compute.store();
  if (!blob) throw new Error('The store is not on this computer: it lies where it was opened from, and can be copied from there.');
  download(blob, `${safe(dataset)}.sectile`);
}
