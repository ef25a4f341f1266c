import { byId, make, say } from '../app/dom.js';
import { formatValue } from '../app/format.js';
import { MOST_IONS, settle } from './state.js';

/** The three channels: name, class, colour of their light. */
export const CHANNELS = Object.freeze([
  Object.freeze({ letter: 'R', name: 'red', tint: [1, 0, 0] }),
  Object.freeze({ letter: 'G', name: 'green', tint: [0, 1, 0] }),
  Object.freeze({ letter: 'B', name: 'blue', tint: [0, 0, 1] }),
]);

/** Ions closer than this are the same one. */
const SAME = 1e-8;

/** m/z as text: four decimals, as instruments give them. */
export function mzText(mz) {
  return mz.toFixed(4);
}

/**
 * Several m/z of a text, apart by spaces, semicolons, or a comma with a space.
 * @throws {RangeError} for what is not an m/z
 */
export function parseMz(text) {
  if (/\d,\d/.test(text)) throw new RangeError(`“${text.trim()}”: write the decimal point as a dot, and a space between several m/z.`);
  const parts = text.split(/[\s;,]+/).filter(Boolean);
  if (parts.length === 0) throw new RangeError('Type an m/z, like 885.5493.');
  return parts.map((part) => {
    const mz = Number(part);
    if (!(mz > 0 && mz < 1e7)) throw new RangeError(`“${part}” is not an m/z. Write it like 885.5493.`);
    return mz;
  });
}

/** The half width of the window. @throws {RangeError} */
export function parseTolerance(text, unit) {
  const value = Number(text.trim().replace(',', '.'));
  const most = unit === 'ppm' ? 1e5 : 1e3;
  if (!(value > 0 && value <= most)) throw new RangeError(`“${text.trim()}” is not a tolerance: write a number above 0, like ${unit === 'ppm' ? '3' : '0.01'}.`);
  return value;
}

/** The fields for m/z and tolerance, and the list of ions with their channels. */
export class IonList {
  /** @param {object} parts `state` (a function), `changed` (called when other images are wanted), `planeOf` (index → plane or null), `nameOf` (m/z → what it
   *   is called, or ""), `away` (whether an annotation is on show in their place) */
  constructor(parts) {
    Object.assign(this, parts);
    this.list = byId('ions');
    this.modes = [...document.querySelectorAll('input[name="mode"]')];
    for (const radio of this.modes) radio.addEventListener('change', () => this.mode(radio.value === 'rgb'));
    byId('add').addEventListener('click', () => this.typed());
    for (const id of ['mz', 'tolerance']) {
      byId(id).addEventListener('keydown', (event) => event.key === 'Enter' && this.typed(id === 'tolerance'));
    }
    byId('tolerance').addEventListener('change', () => this.width());
    byId('tolerance-unit').addEventListener('change', () => this.width());
    this.list.addEventListener('click', (event) => this.clicked(event));
  }

  /** Takes what the m/z field holds. */
  typed(widthOnly = false) {
    if (!this.width()) return;
    if (widthOnly && byId('mz').value.trim() === '') return;
    try {
      const all = parseMz(byId('mz').value);
      // Of a longer list the first would silently make room for the last.
      if (all.length > MOST_IONS) throw new RangeError(`${all.length} m/z are too many at a time; the list holds ${MOST_IONS}`);
      this.complain('');
      for (const mz of all) this.add(mz, false);
      this.changed();
    } catch (error) {
      this.complain(error.message, byId('mz'));
    }
  }

  /** Takes the tolerance. @returns {boolean} whether it makes sense */
  width() {
    const state = this.state();
    const unit = byId('tolerance-unit').value;
    try {
      const tol = parseTolerance(byId('tolerance').value, unit);
      this.complain('');
      if (tol === state.tol && unit === state.unit) return true;
      Object.assign(state, { tol, unit });
      this.changed();
      return true;
    } catch (error) {
      this.complain(error.message, byId('tolerance'));
      return false;
    }
  }

  complain(text, field = null) {
    for (const id of ['mz', 'tolerance']) byId(id).removeAttribute('aria-invalid');
    field?.setAttribute('aria-invalid', 'true');
    byId('mz-error').hidden = text === '';
    say(byId('mz-error'), text);
  }

  /** Shows an ion: a new one is added to the list, and in three colours to a free channel. */
  add(mz, tell = true) {
    const state = this.state();
    let at = state.mz.findIndex((other) => Math.abs(other - mz) <= SAME * mz);
    if (at < 0) {
      if (state.mz.length >= MOST_IONS) this.removeAt(0);
      at = state.mz.push(mz) - 1;
    }
    state.at = at;
    if (!state.rgb) state.lim[0] = null;
    else if (!state.ch.includes(at)) this.assign(at, state.ch.includes(null) ? state.ch.indexOf(null) : 2);
    if (tell) this.changed();
  }

  /** Puts an ion into a channel of the three-colour image, or out of it where it is there already. */
  layer(mz, channel) {
    const state = this.state();
    const at = state.mz.findIndex((other) => Math.abs(other - mz) <= SAME * mz);
    if (state.rgb && at >= 0 && state.ch[channel] === at) [state.ch[channel], state.lim[channel]] = [null, null];
    else {
      if (!state.rgb) state.lim = [null, null, null];
      state.rgb = true;
      state.ch[channel] = null;
      this.add(mz, false);
      this.assign(state.at, channel);
    }
    if (state.ch.every((i) => i === null)) state.rgb = false;
    this.changed();
  }

  assign(at, channel) {
    const { ch, lim } = this.state();
    for (let i = 0; i < 3; i += 1) if (ch[i] === at) [ch[i], lim[i]] = [null, null];
    [ch[channel], lim[channel]] = [at, null];
  }

  removeAt(at) {
    const state = this.state();
    state.mz.splice(at, 1);
    state.ch = state.ch.map((i) => (i === at ? null : i > at ? i - 1 : i));
    if (at < state.at || state.at >= state.mz.length) state.at = Math.max(0, state.at - 1);
    state.lim = state.lim.map((part, i) => (state.rgb && state.ch[i] === null ? null : part));
    settle(state);
  }

  /** One ion through the colormap, or up to three in their own colours. */
  mode(rgb) {
    const state = this.state();
    if (rgb === state.rgb) return;
    state.lim = [null, null, null];
    if (rgb && state.ch.every((i) => i === null)) {
      const others = state.mz.map((_, i) => i).filter((i) => i !== state.at);
      state.ch = [state.mz.length > 0 ? state.at : null, others[0] ?? null, others[1] ?? null];
    }
    if (!rgb) state.at = state.ch.find((i) => i !== null) ?? state.at;
    state.rgb = rgb && state.mz.length > 0;
    this.changed();
  }

  /** Moves along the list. */
  step(by) {
    const state = this.state();
    const n = state.mz.length;
    if (n === 0 || state.rgb) return;
    this.choose((state.at + by + n) % n);
  }

  choose(at) {
    const state = this.state();
    if (state.rgb && !state.ch.includes(at)) this.assign(at, state.ch.includes(null) ? state.ch.indexOf(null) : 2);
    if (!state.rgb) state.lim[0] = at === state.at ? state.lim[0] : null;
    state.at = at;
    this.changed();
  }

  clicked(event) {
    const button = event.target.closest('button');
    const at = Number(button?.closest('li').dataset.at);
    if (!button) return;
    const state = this.state();
    if (button.classList.contains('choose')) this.choose(at);
    else if (button.classList.contains('remove')) {
      this.removeAt(at);
      this.changed();
      (this.list.querySelector(`li[data-at="${Math.min(at, state.mz.length - 1)}"] .choose`) ?? byId('mz')).focus();
    } else {
      const channel = Number(button.dataset.channel);
      if (state.ch[channel] === at) [state.ch[channel], state.lim[channel]] = [null, null];
      else this.assign(at, channel);
      if (state.ch.every((i) => i === null)) this.mode(false);
      else this.changed();
      this.list.querySelector(`li[data-at="${at}"] [data-channel="${channel}"]`)?.focus();
    }
  }

  /** Writes the state into the fields and the list. */
  write() {
    const state = this.state();
    for (const radio of this.modes) radio.checked = (radio.value === 'rgb') === state.rgb;
    this.modes[1].disabled = state.mz.length === 0;
    if (document.activeElement !== byId('tolerance')) byId('tolerance').value = String(state.tol);
    byId('tolerance-unit').value = state.unit;
    byId('ions-hint').hidden = state.mz.length > 0;
    say(byId('ions-count'), state.mz.length > 1 ? String(state.mz.length) : '');
    const focused = document.activeElement?.closest?.('#ions li')?.dataset.at;
    this.list.replaceChildren(...state.mz.map((mz, at) => this.row(mz, at, state)));
    if (focused !== undefined) this.list.querySelector(`li[data-at="${focused}"] .choose`)?.focus();
    this.reveal(this.list.querySelector('.chosen'));
  }

  /** Scrolls the list, and nothing else, to an item. */
  reveal(item) {
    if (!item) return;
    const [list, box] = [this.list.getBoundingClientRect(), item.getBoundingClientRect()];
    this.list.scrollTop += Math.max(0, box.bottom - list.bottom) - Math.max(0, list.top - box.top);
  }

  row(mz, at, state) {
    const item = make('li', 'ion');
    item.dataset.at = String(at);
    const choose = make('button', 'choose');
    choose.type = 'button';
    const plane = this.planeOf(at);
    const known = this.nameOf(mz) || (!plane ? '' : plane.empty ? 'no signal' : `max ${formatValue(plane.range.max)}`);
    choose.append(make('span', '', mzText(mz)), make('small', '', known));
    const shown = !this.away() && (state.rgb ? state.ch.includes(at) : at === state.at);
    if (shown && !state.rgb) item.classList.add('chosen');
    choose.setAttribute('aria-pressed', String(shown));
    choose.title = `Show m/z ${mzText(mz)}`;
    item.append(choose);
    if (state.rgb) item.append(...CHANNELS.map((channel, i) => this.chip(channel, i, at, state.ch[i] === at)));
    const remove = make('button', 'remove', '×');
    remove.type = 'button';
    remove.setAttribute('aria-label', `Remove m/z ${mzText(mz)}`);
    item.append(remove);
    return item;
  }

  chip({ letter, name }, i, at, on) {
    const button = make('button', `channel ${name}`, letter);
    button.type = 'button';
    button.dataset.channel = String(i);
    button.setAttribute('aria-pressed', String(on));
    button.setAttribute('aria-label', `Show m/z ${mzText(this.state().mz[at])} in ${name}`);
    return button;
  }
}
