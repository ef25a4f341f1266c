import { byId } from '../app/dom.js';
import { formatTick } from '../app/format.js';
import { swatches } from '../app/swatches.js';
import { COLORMAPS } from '../view/colormaps.js';
import { NORMALISATIONS, STRETCHES } from './state.js';

/** The fields of how images are computed and looked at, bound to the state. */
export class Controls {
  /** @param {object} parts `state` (a function), `display`, `changed` (the look), `wanted` (other images are wanted) */
  constructor(parts) {
    Object.assign(this, parts);
    this.stretches = radios('stretch', (value) => this.set({ s: value }));
    this.norms = radios('norm', (value) => this.compute({ norm: value }));
    radios('channel', (value) => {
      this.display.choose(Number(value));
      this.changed();
    });
    swatches(byId('colormaps'), (name) => this.set({ cm: name }));
    this.colormaps = [...document.querySelectorAll('input[name="colormap"]')];
    byId('invert').addEventListener('change', (event) => this.set({ inv: event.target.checked }));
    byId('hot').addEventListener('change', (event) => this.hotspot(event.target.checked));
    byId('automatic').addEventListener('click', () => {
      this.automatic();
      byId('hot').focus();
    });
    byId('slice').addEventListener('change', (event) => this.compute({ sl: Number(event.target.value) }));
    for (const end of ['lo', 'hi']) byId(`limit-${end}`).addEventListener('change', (event) => this.typed(end, event.target));
  }

  /** Changes the look; limits stay. */
  set(part) {
    Object.assign(this.state(), part);
    this.display.restyle();
    this.changed();
  }

  /** Changes what is computed; limits set by hand no longer fit. */
  compute(part) {
    Object.assign(this.state(), part, { lim: [null, null, null] });
    this.wanted();
  }

  /** Clips hotspots or not; that is a rule, so limits set by hand go. */
  hotspot(hot) {
    Object.assign(this.state(), { hot, lim: [null, null, null] });
    this.display.refresh();
    this.changed();
  }

  /** Gives up the limits of the chosen channel that were set by hand. */
  automatic() {
    this.state().lim[this.display.channel] = null;
    this.display.refresh();
    this.changed();
  }

  /** Takes limits set by hand. */
  adjust(limits) {
    this.display.adjust(limits);
    this.changed();
  }

  typed(end, input) {
    const layer = this.display.chosen;
    const value = Number(input.value.trim().replace('−', '-'));
    const good = input.value.trim() !== '' && Number.isFinite(value);
    input.setAttribute('aria-invalid', String(!good));
    if (good && layer) this.adjust({ ...this.display.limitsOf(layer), [end]: value });
  }

  /** Writes the limits in use. */
  showLimits({ lo, hi }) {
    for (const [end, value] of [['lo', lo], ['hi', hi]]) {
      const input = byId(`limit-${end}`);
      if (document.activeElement !== input) input.value = formatTick(value);
      input.removeAttribute('aria-invalid');
    }
  }

  /** Writes the state into the fields. */
  write() {
    const { s, norm, cm, inv, hot, lim, sl } = this.state();
    for (const radio of this.stretches) radio.checked = radio.value === s;
    for (const radio of this.norms) radio.checked = radio.value === norm;
    for (const radio of this.colormaps) radio.checked = radio.value === cm;
    byId('invert').checked = inv;
    byId('hot').checked = hot;
    byId('by-hand').hidden = !lim[this.display.channel];
    byId('slice').value = String(sl);
    this.display.label();
  }

  /** Offers the z slices of a dataset. @param {number[]} slices their z, ascending */
  slices(slices) {
    byId('slice-line').hidden = slices.length < 2;
    byId('slice').replaceChildren(...slices.map((z, index) => new Option(`z = ${z}`, String(index))));
    const state = this.state();
    state.sl = Math.min(state.sl, Math.max(0, slices.length - 1));
  }

  nextStretch() {
    this.set({ s: after(STRETCHES, this.state().s) });
  }

  nextColormap() {
    this.set({ cm: after(COLORMAPS, this.state().cm) });
  }

  nextNormalisation() {
    this.compute({ norm: after(NORMALISATIONS, this.state().norm) });
  }

  /** Moves along the z slices. */
  stepSlice(by) {
    const n = byId('slice').options.length;
    const sl = Math.min(n - 1, Math.max(0, this.state().sl + by));
    if (n > 1 && sl !== this.state().sl) this.compute({ sl });
  }
}

function radios(name, chosen) {
  const all = [...document.querySelectorAll(`input[name="${name}"]`)];
  for (const radio of all) radio.addEventListener('change', () => chosen(radio.value));
  return all;
}

function after(list, item) {
  return list[(list.indexOf(item) + 1) % list.length];
}
