import { formatBytes } from '../app/bytes.js';
import { byId, make, say } from '../app/dom.js';
import { formatCount, formatValue } from '../app/format.js';

/** What the counts of a store say about what was found and repaired while packing; 0 is left out. */
const COUNTS = {
  zeros_dropped: 'Zero intensities left out',
  unsorted_spectra: 'Spectra sorted by m/z',
  duplicate_pixels: 'Positions with several spectra, summed',
  bad_spectra: 'Bad spectra left out',
  empty_spectra: 'Spectra without peaks',
  negative_intensities: 'Negative intensities kept',
};

/** The size of a pixel: "50 µm", "50 × 100 µm" or "unknown". @param {[number, number] | null} size */
export function pixelText(size) {
  const [x, y] = size ?? [];
  if (!(x > 0) || !(y > 0)) return 'unknown';
  const text = (v) => String(Number(v.toPrecision(4)));
  return `${x === y ? text(x) : `${text(x)} × ${text(y)}`}\u202fµm`;
}

/** The dataset as rows of name and value. @param {object} info as the core gives it */
export function facts(info) {
  const pixels = info.width * info.height * info.slices.length;
  const rows = [
    ['Pixels', `${formatCount(info.width)} × ${formatCount(info.height)}${info.slices.length > 1 ? ` × ${info.slices.length} slices` : ''}`],
    ['Acquired', info.acquired < pixels ? `${formatCount(info.acquired)} of ${formatCount(pixels)}` : 'all'],
    ['Spectra', formatCount(info.spectra)],
    ['Peaks', formatCount(info.peaks)],
    ['m/z', info.mz ? `${formatValue(info.mz[0])} to ${formatValue(info.mz[1])}` : 'none'],
    ['Pixel size', pixelText(info.pixelSize)],
    ['Polarity', info.polarity || 'unknown'],
    ['Spectra hold', { centroid: 'centroids', profile: 'profiles' }[info.representation] ?? 'not stated'],
    ['Instrument', info.instrument || 'not stated'],
    ['Source', info.source || 'not stated'],
    ['Store', formatBytes(info.bytes)],
  ];
  for (const [key, text] of Object.entries(COUNTS)) if (info.counts?.[key] > 0) rows.push([text, formatCount(info.counts[key])]);
  return rows;
}

/** Writes the facts and the warnings into the panel. @param {boolean} keepable whether the store could be kept on this computer */
export function showFacts(info, keepable) {
  byId('facts').replaceChildren(...facts(info).map(([name, value]) => {
    const row = make('div');
    row.append(make('dt', '', name), make('dd', '', value));
    return row;
  }));
  const { warnings = [] } = info;
  byId('facts-warnings').replaceChildren(...warnings.map((text) => make('p', 'warning', text)));
  say(byId('facts-tally'), warnings.length === 0 ? '' : `${warnings.length} warning${warnings.length === 1 ? '' : 's'}`);
  byId('tab-data').classList.toggle('warned', warnings.length > 0);
  byId('keep-now').hidden = !keepable;
}

/** The line in the head: name, size, pixel size, polarity. */
export function headline(name, info) {
  const parts = [name, `${formatCount(info.width)} × ${formatCount(info.height)} pixels`];
  if (info.pixelSize) parts.push(pixelText(info.pixelSize));
  if (info.polarity && info.polarity !== 'unknown') parts.push(info.polarity);
  return parts.join(' · ');
}
