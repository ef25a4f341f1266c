import { formatBytes } from '../app/bytes.js';
import { byId, make } from '../app/dom.js';
import { formatCount, formatValue } from '../app/format.js';

/** What was fetched, or will be: 4.2 MB in 12 requests. */
export function fetchedText(bytes, requests) {
  return `${formatBytes(bytes)} in ${formatCount(requests)} request${requests === 1 ? '' : 's'}`;
}

/** Writes what the images on show have cost: requests and bytes, peaks in the window, the largest value. */
export function showCost(planes) {
  const sum = (key) => planes.reduce((total, { image }) => total + image[key], 0);
  const text = planes.length === 0 ? '' : fetchedText(sum('bytes'), sum('requests'));
  byId('image-cost').replaceChildren(...(text ? [make('span', '', planes.length > 1 ? 'Images: ' : 'Image: '), text] : []));
  const rows = planes.length === 0 ? [] : [['Fetched', text], ['Peaks in the window', formatCount(sum('hits'))]];
  if (planes.length === 1) rows.push(['Largest value', formatValue(planes[0].image.max)]);
  byId('cost').replaceChildren(...rows.map(([name, value]) => {
    const row = make('div');
    row.append(make('dt', '', name), make('dd', '', value));
    return row;
  }));
}
