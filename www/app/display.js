import { apart, central, percentile, sample } from '../view/limits.js';
import { colormap } from '../view/colormaps.js';

/** While sections arrive, limits are worked out again this often at most. */
const PAUSE = 300;

/**
 * How a layer is looked at: its limits, stretch and colours, kept together over the view, the histogram and the
 * colorbar.
 */
export class Display {
  /**
   * @param {object} parts
   * @param {import('../view/view.js').View} parts.view
   * @param {import('./histogram.js').Histogram} parts.histogram
   * @param {import('./colorbar.js').Colorbar} parts.colorbar
   * @param {() => import('./state.js').State} parts.state
   * @param {(samples: Float32Array) => Promise<[number, number]>} parts.zscale
   * @param {(limits: {lo: number, hi: number}) => void} parts.shown called with the limits in use
   */
  constructor(parts) {
    Object.assign(this, parts);
    this.plane = null;
    this.limits = { lo: 0, hi: 1 };
    this.sorted = new Float32Array(0);
    /** Limits of the count layer set by hand: counts have their own, so that layers can be switched. */
    this.countLimits = null;
    this.exposures = 1;
    this.timer = 0;
    this.analysed = 0;
    this.turn = 0;
  }

  /** Shows a plane, or nothing. */
  async show(plane) {
    this.plane = plane;
    this.view.show(plane);
    if (!plane) {
      this.colorbar.hide();
      this.histogram.data(new Float32Array(0), { lo: 0, hi: 1 });
      return;
    }
    await this.analyse();
  }

  /** A part of a plane has changed; null: it is complete. */
  painted(plane, rect) {
    if (plane !== this.plane) return;
    if (rect) this.view.invalidate(rect);
    if (!rect) {
      clearTimeout(this.timer);
      this.timer = 0;
      this.analyse();
    } else if (this.timer === 0) {
      const wait = Math.max(0, this.analysed + PAUSE - performance.now());
      this.timer = setTimeout(() => {
        this.timer = 0;
        this.analyse();
      }, wait);
    }
  }

  /** Samples the plane and sets limits by the state's rule. */
  async analyse() {
    const { plane } = this;
    if (!plane) return;
    this.analysed = performance.now();
    this.turn += 1;
    const { turn } = this;
    const numbers = sample(plane.sampled);
    const limits = await this.choose(plane, numbers.slice());
    if (plane !== this.plane || turn !== this.turn) return;
    this.sorted = numbers.sort();
    this.apply(apart(limits), true);
  }

  async choose(plane, samples) {
    const { lim, lo, hi } = this.state();
    if (plane.name === 'count') return this.countLimits ?? { lo: 0, hi: this.exposures };
    if (lim === 'user') return { lo, hi };
    const told = plane.limitsBy?.(lim);
    if (told) return told;
    if (lim === 'minmax' || samples.length === 0) return { lo: plane.range.min, hi: plane.range.max };
    if (lim === 'zscale') {
      try {
        const [low, high] = await this.zscale(samples);
        return { lo: low, hi: high };
      } catch {
        // Without a core (retired, or not started) the nearest rule that needs none.
        return central(samples.sort(), 98);
      }
    }
    return central(samples.sort(), Number(lim.slice(1)));
  }

  /** Sets the limits in use. @param {boolean} [fresh] whether the histogram's width follows */
  apply(limits, fresh = false) {
    const { plane, view } = this;
    this.limits = limits;
    if (plane.rescale(limits)) view.invalidate();
    this.restyle();
    if (fresh) this.histogram.data(this.sorted, this.domain(), plane.step);
    this.shown(limits);
  }

  /** The limits set by hand. */
  adjust(limits) {
    if (!this.plane) return;
    if (this.plane.name === 'count') this.countLimits = limits;
    this.apply(apart(limits));
  }

  /** What the histogram spans: nearly all values and the limits, with a margin. */
  domain() {
    const { sorted, limits } = this;
    const low = Math.min(limits.lo, sorted.length > 0 ? percentile(sorted, 0.05) : limits.lo);
    const high = Math.max(limits.hi, sorted.length > 0 ? Math.min(percentile(sorted, 99.9), limits.hi + 2 * (limits.hi - limits.lo)) : limits.hi);
    const margin = 0.06 * (high - low);
    return { lo: low - margin, hi: high + margin };
  }

  /** The stretch of the layer on show: counts are always linear. */
  get stretch() {
    return this.plane?.name === 'count' ? 'linear' : this.state().s;
  }

  /** Colours and stretch anew, limits kept. */
  restyle() {
    const { plane, view, limits, stretch } = this;
    const { cm, inv } = this.state();
    const table = colormap(cm, inv);
    view.colours(table);
    if (!plane) return;
    view.transfer(plane.codeOf(limits.lo), plane.codeOf(limits.hi), stretch);
    this.histogram.show(limits, { stretch, table });
    this.colorbar.show({ ...limits, stretch, unit: plane.unit, table });
  }
}
