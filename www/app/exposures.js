import { make, say } from './dom.js';

const BITPIX = { 8: 'u8', 16: 'i16', 32: 'i32', 64: 'i64', '-32': 'f32', '-64': 'f64' };

/** The list of exposures: what each is, what is noted about it, or why it is left out. */
export class ExposureList {
  /**
   * @param {HTMLElement} list @param {HTMLElement} common @param {HTMLElement} summary
   * @param {(index: number) => void} choose called with the exposure to be shown as a layer
   */
  constructor(list, common, summary, choose) {
    Object.assign(this, { list, common, summary });
    this.exposures = [];
    list.addEventListener('click', (event) => {
      const button = event.target.closest('button');
      if (button) choose(Number(button.dataset.index));
    });
  }

  /** Empties the list. */
  clear(text) {
    this.exposures = [];
    this.list.replaceChildren();
    say(this.summary, text);
    say(this.common, '');
  }

  /** Adds or replaces one. */
  set(index, info) {
    this.exposures[index] = info;
    const item = row(index, info);
    const old = this.list.querySelector(`button[data-index="${index}"]`)?.closest('li');
    if (old) old.replaceWith(item);
    else this.list.append(item);
    this.summarise();
  }

  /** Replaces all. What all have in common is said once, in the head. */
  setAll(exposures) {
    this.exposures = exposures;
    const kinds = new Set(exposures.filter((info) => info.ok).map(kind));
    const common = kinds.size === 1 ? [...kinds][0] : '';
    say(this.common, common);
    this.list.replaceChildren(...exposures.map((info, index) => row(index, info, common)));
    this.summarise();
  }

  /** Why nothing can be opened, when every exposure is left out: the first one's reason. @returns {Error | null} */
  get refusal() {
    const known = this.exposures.filter(Boolean);
    if (known.length === 0 || known.some((info) => info.ok)) return null;
    const [{ name, reason }] = known;
    const why = reason ?? 'no reason given';
    const named = why.includes(shortName(name)) ? why : `${shortName(name)}: ${why}`;
    return new Error(known.length === 1 ? named : `None of the ${known.length} exposures can be used. ${named}`);
  }

  summarise() {
    const known = this.exposures.filter(Boolean);
    const used = known.filter((info) => info.ok).length;
    say(this.summary, used === known.length ? `${used}` : `${used} of ${known.length}`);
  }

  /** Marks the one that is shown as a layer (−1: none) and whether others can be asked for. */
  mark(shown, enabled) {
    for (const button of this.list.querySelectorAll('button')) {
      const index = Number(button.dataset.index);
      button.setAttribute('aria-pressed', String(index === shown));
      button.disabled = !enabled || !this.exposures[index]?.ok;
    }
  }
}

function row(index, info, common = '') {
  const item = make('li', info.ok ? 'used' : 'excluded');
  const button = make('button', 'exposure');
  button.type = 'button';
  button.dataset.index = String(index);
  button.title = info.ok ? 'Show this exposure alone' : '';
  button.append(make('span', 'state', info.ok ? '●' : '○'), nameOf(info.name));
  button.append(make('span', 'facts', shape(info)));
  if (info.width && kind(info) !== common) button.append(make('span', 'kind', kind(info)));
  button.setAttribute('aria-pressed', 'false');
  button.disabled = !info.ok;
  item.append(button);
  if (!info.ok) item.append(make('p', 'reason', `Left out: ${info.reason ?? 'no reason given'}`));
  for (const note of info.notes ?? []) item.append(make('p', 'note', note));
  return item;
}

/** A name whose end stays in sight when there is no room: files of a stack differ at the end. */
function nameOf(name) {
  const short = shortName(name);
  const at = Math.max(0, short.length - 12);
  const element = make('span', 'name');
  element.title = name;
  element.append(make('span', 'head', short.slice(0, at)), make('span', 'tail', short.slice(at)));
  return element;
}

/** Size and number type: 1024 × 1024 f32. */
function shape(info) {
  return info.width ? `${info.width}\u202f×\u202f${info.height} ${BITPIX[info.bitpix] ?? `BITPIX ${info.bitpix}`}` : '';
}

/** HDU and unit: SCI · MJy/sr. */
function kind(info) {
  if (info.hdu === undefined) return info.unit ?? '';
  const hdu = info.extname ? `${info.extname}${info.extver > 1 ? `,${info.extver}` : ''}` : `HDU ${info.hdu}`;
  return info.unit ? `${hdu} · ${info.unit}` : hdu;
}

/** The last part of a path or address. */
export function shortName(name) {
  const path = name.split(/[?#]/)[0].replace(/\/+$/, '');
  return path.slice(path.lastIndexOf('/') + 1) || name;
}
