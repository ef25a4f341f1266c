/** The chosen annotation: its isotope images side by side, theory against measurement, scores and molecules. */
import { byId, make, say } from '../../app/dom.js';
import { formatValue } from '../../app/format.js';
import { paint } from '../picture.js';
import { aspectOf } from '../plane.js';
import { apart } from '../../view/limits.js';
import { fdrChip, score } from './columns.js';
import { ionNodes } from './formula.js';
import { IsotopePlot, measured } from './isotope-plot.js';
import { named } from './rows.js';

/** Molecules that are listed at first; isomers can be hundreds. */
const LISTED = 60;

const OVERLAP = 'Isotope peaks of this ion lie closer together than the tolerance: their windows overlap, so that signal counts twice and the scores may be too high.';

export class Detail {
  /** @param {object} parts `state` (a function), `picked` (index of an isotope → shows it), `layer` (channel → adds or removes it) */
  constructor(parts) {
    Object.assign(this, parts);
    this.row = null;
    this.planes = [];
    this.painted = '';
    this.plot = new IsotopePlot(byId('isotope-plot'));
    this.scales = [...document.querySelectorAll('input[name="isotope-scale"]')];
    for (const radio of this.scales) radio.addEventListener('change', () => this.paint());
    byId('isotope-images').addEventListener('click', (event) => {
      const at = event.target.closest('button')?.dataset.at;
      if (at !== undefined) this.picked(Number(at));
    });
    byId('isotopes-layers').addEventListener('click', (event) => {
      const channel = event.target.closest('button')?.dataset.channel;
      if (channel !== undefined) this.layer(Number(channel));
    });
  }

  /** Shows an annotation, its images to follow; null for none. @param {import('./rows.js').Row | null} row @param {number} charge @param {string} none what stands in place of images */
  show(row, charge, none) {
    Object.assign(this, { row, planes: [], painted: '' });
    byId('panel-annotation').hidden = row === null;
    byId('panel-isotopes').hidden = row === null;
    if (!row) {
      this.plot.show([]);
      return;
    }
    byId('isotopes-name').replaceChildren(...ionNodes(row, charge));
    byId('annotation-name').replaceChildren(...ionNodes(row, charge));
    this.thumbnails(none);
    this.plot.show(row.peaks);
    this.scores(row);
    this.molecules(row);
  }

  thumbnails(none) {
    const found = measured(this.row.peaks);
    byId('isotope-images').replaceChildren(...this.row.peaks.map(({ mz, theory, total }, at) => {
      const item = make('li');
      const button = make('button', 'isotope');
      button.type = 'button';
      button.dataset.at = String(at);
      button.title = `Show m/z ${mz.toFixed(4)} in the large image`;
      button.setAttribute('aria-label', `Isotope ${at + 1}, m/z ${mz.toFixed(4)}, ${theory.toFixed(1)} % in theory, ${found[at].toFixed(1)} % measured`);
      const canvas = make('canvas');
      canvas.setAttribute('aria-hidden', 'true');
      [canvas.width, canvas.height] = [1, 1];
      button.append(canvas, make('span', '', mz.toFixed(4)), make('small', '', none || (total > 0 ? `Σ ${compact(total)}` : 'no signal')));
      item.append(button);
      return item;
    }));
    this.mark(0);
  }

  /** Marks the isotope in the large image; −1 for none. */
  mark(at) {
    for (const button of byId('isotope-images').querySelectorAll('button')) button.setAttribute('aria-pressed', String(Number(button.dataset.at) === at));
  }

  /** Marks the channels that hold this ion. @param {boolean[]} held */
  channels(held, possible) {
    for (const button of byId('isotopes-layers').querySelectorAll('button')) {
      button.setAttribute('aria-pressed', String(held[Number(button.dataset.channel)]));
      button.disabled = !possible;
    }
  }

  /** Takes the isotope images. @param {import('../plane.js').IonPlane[]} planes in the order of the peaks @param {[number, number] | null} pixelSize */
  images(planes, pixelSize) {
    Object.assign(this, { planes, pixelSize, painted: '' });
    this.paint();
  }

  /** Draws them with the colours at hand; nothing is done where nothing has changed. */
  paint() {
    const { planes, row } = this;
    if (!row || planes.length === 0) return;
    const { s, cm, inv, hot } = this.state();
    const common = this.scales.find(({ checked }) => checked).value === 'common';
    const key = [s, cm, inv, hot, common].join(' ');
    if (key === this.painted) return;
    this.painted = key;
    const own = planes.map((plane) => apart(plane.limits(hot)));
    const most = own[planes.reduce((best, plane, i) => (plane.range.max > planes[best].range.max ? i : best), 0)];
    for (const [i, canvas] of [...byId('isotope-images').querySelectorAll('canvas')].entries()) {
      if (!planes[i]) continue;
      const image = paint([{ plane: planes[i], channel: 0, limits: common ? most : own[i] }], { rgb: false, s, cm, inv });
      draw(canvas, image, aspectOf(this.pixelSize));
      if (planes[i].empty) say(canvas.parentElement.querySelector('small'), 'no signal');
    }
  }

  scores(row) {
    const ppm = row.mzErrAbs === null ? null : (row.mzErrAbs / row.mz) * 1e6;
    const known = (value) => value !== null && value === value;
    const lines = [
      ['MSM', score(row.msm), 'Chaos × spatial × spectral'], ['FDR', fdrChip(row.fdr), 'Part of the annotations down to this score that is likely to be false'],
      ['chaos', score(row.chaos), 'How far the image is from noise'], ['spatial', score(row.spatial), 'How alike the isotope images are'],
      ['spectral', score(row.spectral), 'How well the isotope intensities fit theory'], ['m/z', row.mz.toFixed(4), 'Of the first isotope, in theory'],
      ['m/z error', known(ppm) ? `${sign(ppm, 2)} ppm` : '–', 'Measured less theory, first isotope', 'whole'],
      ['of the other isotopes', known(row.mzErrRel) ? `${sign(row.mzErrRel * 1000, 2)} mDa` : '–', 'Beside that of the first', 'whole'],
    ];
    byId('annotation-scores').replaceChildren(...lines.map(([name, value, hint, kind = '']) => {
      const line = make('div', kind);
      line.title = hint;
      const cell = make('dd');
      cell.append(value);
      line.append(make('dt', '', name), cell);
      return line;
    }));
    byId('annotation-overlap').hidden = !row.overlap;
    say(byId('annotation-overlap'), row.overlap ? OVERLAP : '');
  }

  molecules(row) {
    const molecules = named(row);
    const n = molecules.length;
    say(byId('annotation-molecules-title'), n === 0 ? 'The list names no molecule' : n === 1 ? 'Molecule' : `${n} molecules of this formula`);
    byId('annotation-molecules').replaceChildren(...molecules.slice(0, LISTED).map(({ id, name }) => {
      const item = make('li');
      item.append(name || id, ...(id && name ? [' ', make('small', '', id)] : []));
      return item;
    }), ...(n > LISTED ? [make('li', '', `and ${n - LISTED} more`)] : []));
  }
}

/** Draws an image with its pixels in true proportion. */
function draw(canvas, image, aspect) {
  const [width, height] = aspect >= 1 ? [Math.round(image.width * aspect), image.height] : [image.width, Math.round(image.height / aspect)];
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext('2d');
  if (width === image.width && height === image.height) {
    context.putImageData(image, 0, 0);
    return;
  }
  const plain = new OffscreenCanvas(image.width, image.height);
  plain.getContext('2d').putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(plain, 0, 0, width, height);
}

function sign(value, digits) {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(digits)}`;
}

function compact(value) {
  return value >= 1e5 ? value.toExponential(2).replace('e+', 'e') : formatValue(Number(value.toPrecision(4)));
}
