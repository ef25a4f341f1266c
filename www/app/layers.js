import { byId, say } from './dom.js';
import { shortName } from './exposures.js';
import { ION, ionLayer } from './served/address.js';

/** What layers of all exposures are called. */
const WHOLE = { median: 'Median of all', rms: 'Scatter of all (RMS)', count: 'Exposures per pixel' };

/**
 * Which layer is on show: median, count, or one exposure, which is loaded when it is first asked for; of a served stack
 * also the scatter.
 *
 * The wanted layer and the one on show differ while an exposure loads, or before the median has begun.
 */
export class Layers {
  /**
   * @param {object} parts `session`, `display`, `state` (a function), `changed` (called after every change),
   *   `failed` (called with an error), `budget` (a function to bytes)
   */
  constructor(parts) {
    Object.assign(this, parts);
    this.radios = [...document.querySelectorAll('input[name="layer"]')];
    for (const radio of this.radios) {
      radio.addEventListener('change', () => this.choose(radio.value === 'exposure' ? this.lastExposure() : radio.value));
    }
    byId('previous').addEventListener('click', () => this.step(-1));
    byId('next').addEventListener('click', () => this.step(1));
    this.exposure = 0;
    byId('ion-show').addEventListener('click', () => this.typed());
    byId('ion').addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.typed();
    });
  }

  /** Shows the ion that was typed. */
  typed() {
    const layer = ionLayer(byId('ion').value);
    byId('ion').setAttribute('aria-invalid', String(!layer));
    if (layer) this.choose(layer);
  }

  /** Layers in the order of the step buttons; exposures that are left out are not among them. */
  get names() {
    if (this.session.served?.ions) return [...this.session.planes.keys()];
    const exposures = this.session.stack?.exposures ?? [];
    const usable = exposures.flatMap((info, index) => (info.ok ? [`exp-${index + 1}`] : []));
    return ['median', ...(this.session.served?.scatter ? ['rms'] : []), 'count', ...usable];
  }

  lastExposure() {
    const usable = this.names.filter((name) => indexOf(name) >= 0);
    return usable.find((name) => name === `exp-${this.exposure + 1}`) ?? usable[0] ?? 'median';
  }

  /** Moves along the layers. */
  step(by) {
    const { names } = this;
    if (names.length === 0) return;
    const at = Math.max(0, names.indexOf(this.state().v));
    this.choose(names[(at + by + names.length) % names.length]);
  }

  /** Asks for a layer; an exposure is loaded if need be. */
  async choose(name) {
    const { session } = this;
    const index = indexOf(name);
    if (index >= 0 && session.stack && !session.stack.exposures[index]?.ok) return;
    if (session.served && !session.provide(name)) return;
    if (index >= 0 && session.task !== '' && !session.planes.get(name)?.complete) {
      this.label();
      return;
    }
    this.state().v = name;
    if (index >= 0) this.exposure = index;
    this.label();
    this.changed();
    if (index >= 0 && session.stack && !session.served) {
      try {
        await session.load(index, this.budget());
      } catch (error) {
        this.failed(error);
        if (this.state().v === name) this.state().v = 'median';
      }
    }
    await this.refresh();
  }

  /** Shows the wanted layer if it is there, else none. */
  async refresh() {
    const plane = this.session.planes.get(this.state().v) ?? null;
    if (plane !== this.display.plane) await this.display.show(plane);
    this.label();
    this.changed();
  }

  /** Writes which layer is wanted and which can be asked for. */
  label() {
    const { v } = this.state();
    const index = indexOf(v);
    const info = this.session.stack?.exposures[index];
    say(byId('layer-name'), index >= 0 ? `${index + 1} · ${info ? shortName(info.name) : 'exposure'}` : WHOLE[v] ?? ionText(v));
    this.labelIons(v);
    const kind = index >= 0 ? 'exposure' : v;
    for (const radio of this.radios) radio.checked = radio.value === kind;
    const free = this.session.stack !== null && this.session.task === '';
    this.radios.find((radio) => radio.value === 'exposure').disabled = !free && index < 0;
    byId('layer-rms').hidden = !this.session.served?.scatter;
    byId('previous').disabled = this.session.stack === null;
    byId('next').disabled = this.session.stack === null;
  }

  /** Ions are typed, not chosen from a list. */
  labelIons(v) {
    const ions = this.session.served?.ions === true;
    byId('layers').hidden = ions;
    byId('ion-field').hidden = !ions;
    if (!ions) return;
    const { mz } = this.session.served.info;
    byId('ion').placeholder = mz?.length === 2 ? `m/z ${Math.ceil(mz[0])} to ${Math.floor(mz[1])}, or a formula` : 'm/z or a formula';
    if (ION.test(v)) {
      if (document.activeElement !== byId('ion')) byId('ion').value = ionText(v).replace('m/z ', '');
    } else say(byId('layer-name'), 'No ion yet');
  }
}

/** An ion's layer as people write it. */
function ionText(layer) {
  return layer.startsWith('mz-') ? `m/z ${layer.slice(3)}` : layer;
}

/** The zero-based index of a layer named exp-1, exp-2 …; −1 for others. */
export function indexOf(name) {
  return name.startsWith('exp-') ? Number(name.slice(4)) - 1 : -1;
}
