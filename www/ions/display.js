import { byId, make, say } from '../app/dom.js';
import { formatTick } from '../app/format.js';
import { colormap } from '../view/colormaps.js';
import { apart, percentile } from '../view/limits.js';
import { CHANNELS, mzText } from './ion-list.js';
import { Picture } from './plane.js';

/** How the images are looked at: limits, stretch and colours, over the view, the histogram and the colour scale. */
export class Display {
  /**
   * @param {object} parts
   * @param {import('../view/view.js').View} parts.view
   * @param {import('../app/histogram.js').Histogram} parts.histogram
   * @param {import('../app/colorbar.js').Colorbar} parts.colorbar
   * @param {() => import('./state.js').State} parts.state
   * @param {(mz: number) => string} parts.nameOf what an m/z is called, or ""
   * @param {(limits: {lo: number, hi: number}) => void} parts.shown called with the limits in use of the chosen channel
   */
  constructor(parts) {
    Object.assign(this, parts);
    /** @type {{plane: import('./plane.js').IonPlane, channel: number}[]} what is on show */
    this.layers = [];
    this.picture = null;
    this.channel = 0;
  }

  /**
   * Shows one plane through the colormap, or up to three in their channels' colours; none clears the view.
   * @param {{plane: import('./plane.js').IonPlane, channel: number}[]} layers @param {[number, number] | null} pixelSize
   */
  show(layers, pixelSize) {
    this.layers = layers;
    if (!layers.some(({ channel }) => channel === this.channel)) this.channel = layers[0]?.channel ?? 0;
    this.picture = layers.length > 0 ? new Picture(layers.map(({ plane }) => plane), pixelSize) : null;
    this.rescale();
    this.view.show(this.picture);
    this.refresh();
  }

  /** Limits by the state's rule anew. */
  refresh() {
    if (this.rescale()) this.view.invalidate();
    this.restyle();
    const layer = this.chosen;
    if (!layer) {
      this.histogram.data(new Float32Array(0), { lo: 0, hi: 1 });
      return;
    }
    const limits = this.limitsOf(layer);
    this.histogram.data(layer.plane.signal, domain(layer.plane.signal, limits));
    this.shown(limits);
  }

  /** The layer whose limits are edited. */
  get chosen() {
    return this.layers.find(({ channel }) => channel === this.channel) ?? null;
  }

  /** The limits in use of a layer. */
  limitsOf({ plane, channel }) {
    const { lim, hot } = this.state();
    return apart(lim[channel] ?? plane.limits(hot));
  }

  rescale() {
    let changed = false;
    for (const layer of this.layers) changed = layer.plane.rescale(this.limitsOf(layer)) || changed;
    return changed;
  }

  /** Takes limits of the chosen channel set by hand. */
  adjust(limits) {
    const layer = this.chosen;
    if (!layer) return;
    this.state().lim[layer.channel] = apart(limits);
    if (this.rescale()) this.view.invalidate();
    this.restyle();
    this.shown(this.limitsOf(layer));
  }

  /** Chooses the channel whose limits are edited. */
  choose(channel) {
    if (!this.layers.some((layer) => layer.channel === channel)) return;
    this.channel = channel;
    this.refresh();
  }

  /** Colours and stretch anew. */
  restyle() {
    const { view, layers } = this;
    const { cm, inv, s, rgb } = this.state();
    const table = colormap(cm, inv);
    view.colours(table);
    byId('legend').hidden = !rgb || layers.length === 0;
    if (layers.length === 0 || rgb) this.colorbar.hide();
    if (layers.length === 0) return;
    const ends = layers.map((layer) => this.limitsOf(layer));
    const codes = layers.map(({ plane }, i) => ({ lo: plane.codeOf(ends[i].lo), hi: plane.codeOf(ends[i].hi) }));
    if (rgb) view.compose(layers.map(({ channel }, i) => ({ ...codes[i], stretch: s, tint: CHANNELS[channel].tint })));
    else view.transfer(codes[0].lo, codes[0].hi, s);
    this.histogram.show(this.limitsOf(this.chosen), { stretch: s, table });
    if (rgb) this.legend(ends);
    else this.colorbar.show({ ...ends[0], stretch: s, unit: this.title(layers[0].plane.ion.mz, 'm/z '), table });
  }

  /** An ion by name and m/z. */
  title(mz, word = '') {
    const name = this.nameOf(mz);
    return name ? `${name} · ${mzText(mz)}` : `${word}${mzText(mz)}`;
  }

  legend(ends) {
    byId('legend').replaceChildren(...this.layers.map(({ plane, channel }, i) => {
      const item = make('li', CHANNELS[channel].name);
      item.append(make('i'), make('span', '', this.title(plane.ion.mz)), make('small', '', `${formatTick(ends[i].lo)} … ${formatTick(ends[i].hi)}`));
      return item;
    }));
  }

  /** What the panel says about whose limits these are. */
  label() {
    const layer = this.chosen;
    say(byId('limits-of'), layer ? mzText(layer.plane.ion.mz) : '');
    byId('channels').hidden = !this.state().rgb;
    byId('colours').hidden = this.state().rgb;
    for (const radio of byId('channels').querySelectorAll('input')) {
      const channel = Number(radio.value);
      radio.checked = channel === this.channel;
      radio.disabled = !this.layers.some((other) => other.channel === channel);
    }
  }
}

/** What the histogram spans: the signal but for its brightest pixels, and the limits, with a margin. */
function domain(sorted, limits) {
  const low = Math.min(limits.lo, sorted.length > 0 ? sorted[0] : limits.lo);
  const top = sorted.length > 0 ? Math.min(percentile(sorted, 99.9), limits.hi + 2 * (limits.hi - limits.lo)) : limits.hi;
  const high = Math.max(limits.hi, top);
  const margin = 0.06 * (high - low);
  return { lo: low - margin, hi: high + margin };
}
