import { formatValue } from './format.js';
import { histogram } from '../view/limits.js';
import { unbend } from '../view/stretch.js';

/** Bins at most. */
const BINS = 96;

/**
 * The distribution of values, with the two limits as handles: by pointer, or by keyboard (arrows 1 % of the width
 * shown, with shift 0.1 %, Home and End to the ends).
 */
export class Histogram {
  /**
   * @param {HTMLElement} box holds the canvas and two elements of role slider
   * @param {(limits: {lo: number, hi: number}) => void} moved
   */
  constructor(box, moved) {
    this.box = box;
    this.canvas = box.querySelector('canvas');
    this.handles = { lo: box.querySelector('[data-end="lo"]'), hi: box.querySelector('[data-end="hi"]') };
    this.moved = moved;
    this.numbers = new Float32Array(0);
    this.bins = BINS;
    this.domain = { lo: 0, hi: 1 };
    this.limits = { lo: 0, hi: 1 };
    this.look = { stretch: 'linear', table: null };
    for (const end of ['lo', 'hi']) this.watch(end);
    new ResizeObserver(() => this.draw()).observe(box);
  }

  watch(end) {
    const handle = this.handles[end];
    handle.addEventListener('pointerdown', (event) => {
      handle.setPointerCapture(event.pointerId);
      handle.focus();
    });
    handle.addEventListener('pointermove', (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const box = this.canvas.getBoundingClientRect();
      const t = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      this.set(end, this.domain.lo + t * (this.domain.hi - this.domain.lo));
    });
    handle.addEventListener('keydown', (event) => {
      const span = this.domain.hi - this.domain.lo;
      const step = span * (event.shiftKey ? 0.001 : 0.01);
      const to = {
        ArrowLeft: this.limits[end] - step, ArrowDown: this.limits[end] - step,
        ArrowRight: this.limits[end] + step, ArrowUp: this.limits[end] + step,
        Home: this.domain.lo, End: this.domain.hi,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      this.set(end, to);
    });
  }

  set(end, value) {
    const gap = (this.domain.hi - this.domain.lo) / 1000;
    const limits = { ...this.limits };
    limits[end] = end === 'lo' ? Math.min(value, limits.hi - gap) : Math.max(value, limits.lo + gap);
    this.moved(limits);
  }

  /**
   * @param {Float32Array} numbers sorted @param {{lo: number, hi: number}} domain values at the left and right
   * @param {number} [step] of which all values are multiples; 0 for none
   */
  data(numbers, domain, step = 0) {
    this.numbers = numbers;
    Object.assign(this, step > 0 ? whole(domain, step) : { domain, bins: BINS });
    this.draw();
  }

  /** @param {{lo: number, hi: number}} limits @param {{stretch: string, table: Uint8Array}} look */
  show(limits, look) {
    this.limits = limits;
    this.look = look;
    this.draw();
  }

  draw() {
    const { lo, hi } = this.domain;
    for (const end of ['lo', 'hi']) {
      const handle = this.handles[end];
      const t = Math.min(1, Math.max(0, (this.limits[end] - lo) / (hi - lo)));
      handle.style.left = `${100 * t}%`;
      handle.setAttribute('aria-valuemin', String(lo));
      handle.setAttribute('aria-valuemax', String(hi));
      handle.setAttribute('aria-valuenow', String(this.limits[end]));
      handle.setAttribute('aria-valuetext', formatValue(this.limits[end]));
    }
    const ratio = globalThis.devicePixelRatio || 1;
    const width = Math.round(this.canvas.clientWidth * ratio);
    const height = Math.round(this.canvas.clientHeight * ratio);
    if (width === 0 || height === 0) return;
    Object.assign(this.canvas, { width, height });
    const counts = histogram(this.numbers, lo, hi, this.bins);
    this.bars(this.canvas.getContext('2d'), counts, width, height);
  }

  /** Bars as high as the root of their count: the sky's peak must not hide the stars. */
  bars(context, counts, width, height) {
    const most = Math.sqrt(Math.max(1, ...counts));
    const { bins } = this;
    const across = width / bins;
    for (let bin = 0; bin < bins; bin += 1) {
      const tall = Math.round((Math.sqrt(counts[bin]) / most) * (height - 1));
      const value = this.domain.lo + ((bin + 0.5) / bins) * (this.domain.hi - this.domain.lo);
      const within = value >= this.limits.lo && value <= this.limits.hi;
      context.fillStyle = within ? '#8fb4e8' : '#465368';
      context.fillRect(Math.floor(bin * across), height - tall, Math.ceil(across - 0.5), tall);
    }
    this.curve(context, width, height);
  }

  /** The stretch as a line from the lower to the upper limit. */
  curve(context, width, height) {
    const place = (value) => ((value - this.domain.lo) / (this.domain.hi - this.domain.lo)) * width;
    const [left, right] = [place(this.limits.lo), place(this.limits.hi)];
    context.strokeStyle = 'rgb(255 255 255 / 0.55)';
    context.lineWidth = Math.max(1, (globalThis.devicePixelRatio || 1) * 1.25);
    context.beginPath();
    for (let i = 0; i <= 48; i += 1) {
      const level = i / 48;
      context.lineTo(left + unbend(this.look.stretch, level) * (right - left), height - level * (height - 2) - 1);
    }
    context.stroke();
  }
}

/** Bins that each hold equally many of the possible values: others would look like a comb. */
function whole({ lo, hi }, step) {
  const first = Math.floor(lo / step);
  const values = Math.max(1, Math.ceil(hi / step) - first + 1);
  const each = Math.ceil(values / BINS);
  const bins = Math.ceil(values / each);
  const left = (first - 0.5) * step;
  return { bins, domain: { lo: left, hi: left + bins * each * step } };
}
