/** The fields of a search: what is wrong with them is said at once, and a search starts only from fields that make sense. */
import { byId, make, say } from '../../app/dom.js';
import { adductText } from './formula.js';
import { contrary, OFFERED, parseAdducts, USUAL } from './adducts.js';
import { analyzerOf, polarityOf, powerOf, USUAL_POWER } from './instrument.js';

/** Fewer decoys than this make an FDR too coarse to mean much. */
const FEW_DECOYS = 20;

/** A number of a field, with the thousands apart or not. */
function numberOf(id) {
  return Number(byId(id).value.trim().replace(/(?<=\d)[\s,](?=\d{3})/g, '').replace(',', '.') || NaN);
}

export class SearchForm {
  /** @param {object} parts `state` (a function), `info` (a function to the dataset's facts or null), `changed` (settings), `recount` (list, adducts or decoys) */
  constructor(parts) {
    Object.assign(this, parts);
    this.adducts = [];
    this.polarities = radios('polarity', (value) => this.set({ pol: value, ad: null }));
    this.analyzers = radios('analyzer', (value) => this.set({ ana: value, rp: 0 }));
    byId('adducts').addEventListener('click', (event) => event.target.closest('button') && this.toggled(event.target.closest('button').dataset.adduct));
    byId('adducts-more').addEventListener('input', () => this.typed());
    for (const id of ['resolving', 'ppm', 'decoys']) byId(id).addEventListener('input', () => this.numbers());
    byId('scoring').addEventListener('change', (event) => this.set({ sco: event.target.value }));
    byId('hotspots').addEventListener('change', (event) => this.set({ ahot: event.target.checked }));
  }

  /** Polarity in use, and whether the file has said so. */
  get polarity() {
    return this.state().pol || this.stated || 'positive';
  }

  /** The polarity that the file states, or null. */
  get stated() {
    return polarityOf(this.info()?.polarity);
  }

  get analyzer() {
    return this.state().ana || analyzerOf(this.info()?.instrument) || 'orbitrap';
  }

  /** The resolving power where nobody has written another. */
  get usualPower() {
    return powerOf(this.info()?.instrument) ?? USUAL_POWER;
  }

  set(part) {
    Object.assign(this.state(), part);
    this.write();
    this.changed();
    if ('ad' in part || 'dec' in part || 'pol' in part) this.recount();
  }

  toggled(adduct) {
    const all = this.adducts.map(({ text }) => text);
    const texts = all.includes(adduct) ? all.filter((text) => text !== adduct) : [...all, adduct];
    this.set({ ad: texts });
    byId('adducts').querySelector(`[data-adduct="${CSS.escape(adduct)}"]`)?.focus();
  }

  /** Takes the field of other adducts. */
  typed() {
    const offered = OFFERED[this.polarity];
    const kept = this.adducts.map(({ text }) => text).filter((text) => offered.includes(text));
    try {
      const more = parseAdducts(byId('adducts-more').value);
      this.complain('adducts-error', '', ['adducts-more']);
      this.set({ ad: [...new Set([...kept, ...more.map(({ text }) => text)])] });
    } catch (error) {
      this.complain('adducts-error', error.message, ['adducts-more']);
      this.changed();
    }
  }

  /** Takes the fields of numbers. */
  numbers() {
    const found = { rp: numberOf('resolving'), appm: numberOf('ppm'), dec: numberOf('decoys') };
    const wrong = [];
    if (!(found.rp >= 1000 && found.rp <= 1e7)) wrong.push(['resolving', `“${byId('resolving').value.trim()}” is not a resolving power: write a number from 1000 on, like 140000.`]);
    if (!(found.appm >= 0.01 && found.appm <= 1000)) wrong.push(['ppm', `“${byId('ppm').value.trim()}” is not a tolerance: write a number above 0, like 3.`]);
    if (!(Number.isInteger(found.dec) && found.dec >= 1 && found.dec <= 80)) wrong.push(['decoys', `“${byId('decoys').value.trim()}” is not a number of decoys: write a whole number from 1 to 80, like 20.`]);
    for (const id of ['resolving', 'ppm', 'decoys']) byId(id).setAttribute('aria-invalid', String(wrong.some(([field]) => field === id)));
    this.complain('search-error', wrong[0]?.[1] ?? '');
    if (wrong.length > 0) {
      this.changed();
      return;
    }
    const recount = found.dec !== this.state().dec;
    if (found.rp === this.usualPower) found.rp = 0;
    Object.assign(this.state(), found);
    this.warn();
    this.changed();
    if (recount) this.recount();
  }

  /** Says what is wrong or doubtful, and of which fields; "" for nothing. */
  complain(id, text, fields = []) {
    for (const field of fields) byId(field).setAttribute('aria-invalid', String(text !== ''));
    byId(id).hidden = text === '';
    say(byId(id), text);
  }

  /** Whether every field makes sense. */
  get good() {
    return this.adducts.length > 0 && byId('adducts-error').hidden && byId('search-error').hidden;
  }

  /** The search as the annotator takes it, but for store and molecules. */
  value() {
    const { rp, appm, sco, dec, ahot } = this.state();
    return {
      adducts: this.adducts.map(({ text }) => text), decoys: dec, scoring: sco, analyzer: this.analyzer,
      resolvingPower: rp || this.usualPower, ppm: appm, hotspot: ahot, charge: this.polarity === 'negative' ? -1 : 1,
    };
  }

  /** Writes the state into the fields. */
  write() {
    const { ad, rp, appm, sco, dec, ahot } = this.state();
    const { polarity, analyzer } = this;
    for (const radio of this.polarities) radio.checked = radio.value === polarity;
    for (const radio of this.analyzers) radio.checked = radio.value === analyzer;
    this.adducts = parseAdducts((ad ?? USUAL[polarity]).join(','));
    const chosen = this.adducts.map(({ text }) => text);
    byId('adducts').replaceChildren(...OFFERED[polarity].map((text) => chip(text, chosen.includes(text))));
    put('adducts-more', chosen.filter((text) => !OFFERED[polarity].includes(text)).join(', '));
    if (byId('adducts-more') !== document.activeElement) this.complain('adducts-error', '', ['adducts-more']);
    byId('adducts-more').placeholder = polarity === 'positive' ? 'others: -H2O+H, [M]+' : 'others: -H2O-H, [M]-';
    put('resolving', String(rp || this.usualPower));
    put('ppm', String(appm));
    put('decoys', String(dec));
    byId('scoring').value = sco;
    byId('hotspots').checked = ahot;
    const info = this.info();
    say(byId('polarity-from'), this.stated === polarity ? 'as the file says' : info && !this.stated ? 'the file does not say' : '');
    const read = analyzerOf(info?.instrument);
    say(byId('analyzer-from'), read && read === analyzer ? `by “${info.instrument}”` : '');
    this.warn();
  }

  warn() {
    const { stated, polarity } = this;
    const against = stated && stated !== polarity;
    this.complain('polarity-warning', against ? `The file says that its ions are ${stated}: ${polarity} adducts will hardly be found.` : '');
    const wrong = contrary(this.adducts, polarity).map(({ text }) => adductText(text));
    const many = wrong.length > 1;
    const text = this.adducts.length === 0 ? 'Choose one adduct at least.' : wrong.length === 0 ? '' : `${wrong.join(', ')} ${many ? 'make ions of' : 'makes an ion of'} the other polarity.`;
    this.complain('adducts-warning', text);
    const { dec, sco, ahot } = this.state();
    this.complain('search-warning', dec < FEW_DECOYS ? `With ${dec} decoy${dec === 1 ? '' : 's'} per target an FDR of 5 or 10 % means little; METASPACE takes 20.` : '');
    const other = [sco === 'metaspace-v3' ? '' : sco.replace('metaspace-', ''), dec === 20 ? '' : `${dec} decoys`, ahot ? 'hotspots clipped' : ''].filter(Boolean);
    say(byId('more-tally'), byId('search-more').open ? '' : other.join(', '));
  }
}

function chip(text, on) {
  const button = make('button', 'chip', adductText(text));
  button.type = 'button';
  button.dataset.adduct = text;
  button.setAttribute('aria-pressed', String(on));
  return button;
}

/** Writes a field unless somebody types in it. */
function put(id, value) {
  if (byId(id) !== document.activeElement) byId(id).value = value;
}

function radios(name, chosen) {
  const all = [...document.querySelectorAll(`input[name="${name}"]`)];
  for (const radio of all) radio.addEventListener('change', () => chosen(radio.value));
  return all;
}
