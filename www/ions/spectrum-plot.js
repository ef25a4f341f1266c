import uPlot from '../vendor/uplot.js';
import { say } from '../app/dom.js';
import { formatTick, formatValue } from '../app/format.js';
import { mzText } from './ion-list.js';
import { neighbour, peakAt } from './peaks.js';
import { watchPlot } from './plot-pointer.js';
import { drawMarker, drawWindows, sticks } from './plot-paint.js';

const INK = { text: '#98a5b9', grid: '#1a212c', tick: '#374357', stick: '#8fb4e8' };
const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/** Narrowest part of the m/z axis on show, as a part of the m/z. */
const NARROWEST = 2e-6;

/** A peak that the keyboard stops at reaches this part of the highest on screen. */
const FLOOR = 0.01;

/**
 * A spectrum as sticks, with the windows of the chosen ions behind them.
 *
 * Drag over a part zooms in, wheel zooms about the pointer, double click shows all, a press without movement picks
 * the nearest peak. By keyboard: arrows move from peak to peak (with shift the axis), Enter picks, plus, minus, zero.
 */
export class SpectrumPlot {
  /**
   * @param {HTMLElement} box focusable @param {HTMLElement} spoken @param {HTMLElement} tip what is under the pointer
   * @param {{pick(mz: number): void, moved(range: [number, number] | null): void}} on `moved`: null for the whole range
   */
  constructor(box, spoken, tip, on) {
    Object.assign(this, { box, spoken, tip, on });
    this.mz = new Float64Array(0);
    this.values = new Float32Array(0);
    this.whole = [0, 1];
    this.range = null;
    this.log = false;
    /** @type {{lo: number, hi: number, colour: string}[]} */
    this.windows = [];
    this.marked = null;
    this.plot = null;
    box.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(box);
  }

  /** Shows a spectrum. @param {Float64Array} mz ascending @param {ArrayLike<number>} values @param {[number, number]} whole the m/z axis */
  data(mz, values, whole) {
    Object.assign(this, { mz, values, whole, marked: null });
    this.build();
  }

  /** Linear or logarithmic intensities. */
  scale(log) {
    if (log === this.log) return;
    this.log = log;
    if (this.plot) this.build();
  }

  /** The part of the m/z axis on show; null for all of it. */
  zoom(range) {
    this.range = range ? this.within(range) : null;
    this.plot?.setScale('x', bounds(this.range ?? this.whole));
  }

  /** Sets the windows behind the sticks. */
  shade(windows) {
    this.windows = windows;
    this.plot?.redraw(false);
  }

  /** Removes the spectrum. */
  clear() {
    this.plot?.destroy();
    this.plot = null;
    say(this.tip, '');
    this.mz = new Float64Array(0);
    this.values = new Float32Array(0);
  }

  build() {
    this.plot?.destroy();
    this.plot = null;
    const { clientWidth: width, clientHeight: height } = this.box;
    if (this.mz.length === 0 || width === 0 || height === 0) return;
    this.plot = new uPlot(this.options(width, height), [this.mz, this.values], this.box);
    this.plot.setScale('x', bounds(this.range ?? this.whole));
    watchPlot(this.plot, {
      zoomTo: (lo, hi) => this.move([lo, hi]),
      zoomBy: (factor, at) => this.zoomBy(factor, at),
      pan: (by) => this.pan(by),
      all: () => this.move(null),
      pick: (at) => this.picked(at),
    });
  }

  options(width, height) {
    const axis = { stroke: INK.text, font: FONT, grid: { stroke: INK.grid, width: 1 }, ticks: { stroke: INK.tick, width: 1, size: 4 } };
    return {
      width,
      height,
      // Room above for what stands over the plot.
      padding: [22, 12, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false, setScale: false }, bind: { dblclick: () => null, mousedown: () => null, mouseup: () => null } },
      scales: {
        x: { time: false, auto: false, range: (_, lo, hi) => [lo, hi] },
        y: { distr: this.log ? 3 : 1, range: (_, lo, hi) => (this.log ? logRange(lo, hi) : linearRange(lo, hi)) },
      },
      axes: [
        { ...axis, space: 80, size: 26, values: (_, ticks) => ticks.map(plain) },
        { ...axis, space: 30, size: 56, values: (_, ticks) => ticks.map((tick) => (tick === null ? null : formatTick(tick))) },
      ],
      series: [{}, { stroke: INK.stick, width: 1, paths: sticks, points: { show: false } }],
      hooks: {
        drawClear: [(plot) => drawWindows(plot, this.windows)],
        draw: [(plot) => this.marked && drawMarker(plot, this.marked)],
        setCursor: [(plot) => this.hover(plot)],
      },
    };
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (width === 0 || height === 0) return;
    if (!this.plot) this.build();
    else if (this.plot.width !== width || this.plot.height !== height) this.plot.setSize({ width, height });
  }

  /** The part of the axis on show. */
  get span() {
    return this.range ?? this.whole;
  }

  within([lo, hi]) {
    const [first, last] = this.whole;
    const least = NARROWEST * ((lo + hi) / 2);
    const width = Math.min(last - first, Math.max(hi - lo, least));
    const middle = (lo + hi) / 2;
    const from = Math.min(last - width, Math.max(first, middle - width / 2));
    return width >= last - first ? null : [from, from + width];
  }

  move(range) {
    this.zoom(range);
    this.on.moved(this.range);
  }

  /** Zooms about an m/z, which stays where it is. */
  zoomBy(factor, at = this.marked?.mz ?? (this.span[0] + this.span[1]) / 2) {
    const [lo, hi] = this.span;
    const width = (hi - lo) / factor;
    const part = Math.min(1, Math.max(0, (at - lo) / (hi - lo)));
    this.move([at - part * width, at + (1 - part) * width]);
  }

  /** Moves the axis by a part of what is on show. */
  pan(by) {
    if (!this.range) return;
    const [lo, hi] = this.range;
    const step = by * (hi - lo);
    this.move([lo + step, hi + step]);
  }

  /** Brings an m/z on show with its surroundings, at most `width` wide. */
  reveal(mz, width) {
    const [lo, hi] = this.span;
    const wanted = Math.min(hi - lo, width ?? hi - lo);
    if (mz > lo && mz < hi && wanted === hi - lo) return;
    this.move([mz - wanted / 2, mz + wanted / 2]);
  }

  picked(at) {
    const found = peakAt(this.mz, this.values, at, this.slack);
    if (!found) return;
    this.mark(found);
    this.on.pick(found.mz);
  }

  /** How far from a peak a click may lie: 6 CSS pixels. */
  get slack() {
    const [lo, hi] = this.span;
    const width = this.plot ? this.plot.over.clientWidth : 0;
    return width > 0 ? (6 * (hi - lo)) / width : 0;
  }

  mark(found) {
    this.marked = found;
    this.plot?.redraw(false);
  }

  hover(plot) {
    const { left } = plot.cursor;
    const found = left >= 0 ? peakAt(this.mz, this.values, plot.posToVal(left, 'x'), this.slack) : null;
    const near = found && Math.abs(found.mz - plot.posToVal(left, 'x')) <= this.slack;
    say(this.tip, near ? `${mzText(found.mz)} · ${formatValue(found.height)}` : left >= 0 ? plot.posToVal(left, 'x').toFixed(3) : '');
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.plot) return;
    const act = {
      ArrowLeft: () => (event.shiftKey ? this.pan(-0.25) : this.step(-1)),
      ArrowRight: () => (event.shiftKey ? this.pan(0.25) : this.step(1)),
      Enter: () => this.marked && this.on.pick(this.marked.mz),
      '+': () => this.zoomBy(2), '=': () => this.zoomBy(2), '-': () => this.zoomBy(0.5), '_': () => this.zoomBy(0.5),
      0: () => this.move(null),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  /** Goes to the next peak to the left or right of the marked one, and speaks it. */
  step(by) {
    const [lo, hi] = this.span;
    const from = this.marked?.mz ?? (by > 0 ? lo : hi);
    let top = 0;
    for (let i = 0; i < this.mz.length; i += 1) if (this.mz[i] >= lo && this.mz[i] <= hi && this.values[i] > top) top = this.values[i];
    const found = neighbour(this.mz, this.values, from, by, top * FLOOR);
    if (!found) return;
    this.mark(found);
    this.reveal(found.mz);
    say(this.spoken, `m/z ${mzText(found.mz)}, ${formatValue(found.height)}. Enter shows its image.`);
  }
}

function bounds([min, max]) {
  return { min, max };
}

function linearRange(lo, hi) {
  if (lo === null || hi === null || !(hi > lo || hi > 0)) return [0, 1];
  return [Math.min(0, lo * 1.05), hi * 1.06];
}

function logRange(lo, hi) {
  if (!(hi > 0)) return [1, 10];
  return [Math.min(Math.max(lo > 0 ? lo : 0, hi * 1e-5) * 0.7, hi / 10), hi * 1.7];
}

/** An m/z of the axis without trailing zeros. */
function plain(mz) {
  return String(Number(mz.toFixed(5)));
}
