/** The columns of the table of annotations. */
import { make } from '../../app/dom.js';
import { adductText, formulaNodes } from './formula.js';
import { levelOf, named, nameOf } from './rows.js';

/** A score, 0 to 1. */
export const score = (value) => (value === value ? value.toFixed(3) : '–');

/**
 * @typedef {object} Column
 * @property {string} key of the row, by which is sorted too
 * @property {string} title @property {string} hint
 * @property {string} [kind] `wide` is shown where there is room, `number` stands at the right
 * @property {(row: import('./rows.js').Row) => (Node | string)[]} cells
 */

/** @type {readonly Column[]} */
export const COLUMNS = Object.freeze([
  { key: 'formula', title: 'Formula', hint: 'Formula of the neutral molecule', cells: ({ formula }) => formulaNodes(formula) },
  { key: 'adduct', title: 'Adduct', hint: 'Neutral loss and adduct', cells: ({ adduct }) => [adductText(adduct)] },
  { key: 'mz', title: 'm/z', hint: 'Of the first isotope peak', kind: 'number', cells: ({ mz }) => [mz.toFixed(4)] },
  { key: 'name', title: 'Molecules', hint: 'Molecules of the list with this formula', kind: 'name', cells: names },
  { key: 'chaos', title: 'chaos', hint: 'Spatial chaos: how far the image is from noise, 0 to 1', kind: 'number wide', cells: (row) => [score(row.chaos)] },
  { key: 'spatial', title: 'spatial', hint: 'How alike the isotope images are, 0 to 1', kind: 'number wide', cells: (row) => [score(row.spatial)] },
  { key: 'spectral', title: 'spectral', hint: 'How well the isotope intensities fit theory, 0 to 1', kind: 'number wide', cells: (row) => [score(row.spectral)] },
  { key: 'msm', title: 'MSM', hint: 'Chaos × spatial × spectral', kind: 'number', cells: (row) => [score(row.msm)] },
  { key: 'fdr', title: 'FDR', hint: 'Part of the annotations down to this score that is likely to be false', kind: 'number', cells: ({ fdr }) => [fdrChip(fdr)] },
]);

function names(row) {
  const more = named(row).length - 1;
  return [make('span', '', nameOf(row)), ...(more > 0 ? [make('small', '', `+${more}`)] : [])];
}

/** An FDR on the colour of its level. @param {number} fdr 0 to 1 */
export function fdrChip(fdr) {
  return make('span', `fdr level-${levelOf(fdr)}`, percent(fdr));
}

/** A part as per cent: 5 %, 0.8 %. */
export function percent(part) {
  if (part !== part) return '–';
  const value = 100 * part;
  return `${value >= 9.95 || Number.isInteger(Number(value.toFixed(2))) ? Math.round(value) : value.toFixed(1)}\u202f%`;
}
