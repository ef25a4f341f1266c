import { byId } from './dom.js';
import { formatTick } from './format.js';
import { swatches } from './swatches.js';
import { COLORMAPS } from '../view/colormaps.js';
import { STRETCHES } from '../view/stretch.js';

const RULES = ['zscale', 'minmax', 'p99.5'];

/** The Display panel's fields, bound to the state; every change goes through `changed`. */
export class Controls {
  /** @param {object} parts `state` (a function), `display`, `changed` */
  constructor(parts) {
    Object.assign(this, parts);
    this.stretches = [...document.querySelectorAll('input[name="stretch"]')];
    for (const radio of this.stretches) radio.addEventListener('change', () => this.set({ s: radio.value }));
    swatches(byId('colormaps'), (name) => this.set({ cm: name }));
    this.radios = [...document.querySelectorAll('input[name="colormap"]')];
    byId('invert').addEventListener('change', (event) => this.set({ inv: event.target.checked }));
    byId('limits').addEventListener('change', (event) => this.rule(event.target.value));
    for (const end of ['lo', 'hi']) {
      byId(`limit-${end}`).addEventListener('change', (event) => this.typed(end, event.target));
    }
  }

  /** Changes the look; limits stay. */
  set(part) {
    Object.assign(this.state(), part);
    this.write();
    this.display.restyle();
    this.changed();
  }

  /** Changes the rule of the limits. */
  rule(lim) {
    const state = this.state();
    if (lim === 'user') Object.assign(state, this.display.limits);
    state.lim = lim;
    this.display.countLimits = null;
    this.write();
    this.display.analyse();
    this.changed();
  }

  /** Takes limits set by hand. */
  adjust(limits) {
    if (this.display.plane && this.display.plane.name !== 'count') Object.assign(this.state(), limits, { lim: 'user' });
    this.display.adjust(limits);
    this.write();
    this.changed();
  }

  typed(end, input) {
    const value = Number(input.value.trim().replace('−', '-'));
    const good = input.value.trim() !== '' && Number.isFinite(value);
    input.setAttribute('aria-invalid', String(!good));
    if (good) this.adjust({ ...this.display.limits, [end]: value });
  }

  /** Writes the state into the fields. */
  write() {
    const { cm, inv, lim } = this.state();
    for (const radio of this.stretches) radio.checked = radio.value === this.display.stretch;
    for (const radio of this.radios) radio.checked = radio.value === cm;
    byId('invert').checked = inv;
    const rules = byId('limits');
    if (![...rules.options].some((option) => option.value === lim)) rules.prepend(new Option(`${lim.slice(1)} %`, lim));
    rules.value = lim;
  }

  /** Writes the limits in use. */
  showLimits({ lo, hi }) {
    for (const [end, value] of [['lo', lo], ['hi', hi]]) {
      const input = byId(`limit-${end}`);
      if (document.activeElement !== input) input.value = formatTick(value);
      input.removeAttribute('aria-invalid');
    }
    byId('limit-unit').textContent = this.display.plane?.unit ?? '';
    const counts = this.display.plane?.name === 'count';
    byId('limits').disabled = counts;
    for (const radio of this.stretches) {
      radio.disabled = counts;
      radio.checked = radio.value === this.display.stretch;
    }
  }

  nextStretch() {
    this.set({ s: after(STRETCHES, this.state().s) });
  }

  nextColormap() {
    this.set({ cm: after(COLORMAPS, this.state().cm) });
  }

  nextRule() {
    this.rule(after(RULES, this.state().lim));
  }
}

function after(list, item) {
  return list[(list.indexOf(item) + 1) % list.length];
}
