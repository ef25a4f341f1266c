import { formatBytes } from '../bytes.js';
import { byId, make, say } from '../dom.js';
import { formatCount } from '../format.js';
import { ION, viewOf } from './address.js';

/** Requests under way at a time, at most, however many the page would allow: servers count. */
const MOST = 6;

/** A token as it may be sent (RFC 6750 §2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/** What is said while a dataset is opened. */
export const OPENING = 'Opening the dataset…';

/** A dataset that has changed is opened anew at most this often, in milliseconds. */
const ANEW = 10_000;

/** What the Stack panel shows of a dataset that a server has, in place of budget, plan and run. */
export class ServedPanel {
  /** @param {object} parts `session`, `state`, `layers`, `notice`, `failed`, `budget` (to bytes, throws), `reopen`, `opening` (says what it waits for) */
  constructor(parts) {
    Object.assign(this, parts);
    this.told = '';
    this.wait = '';
    this.work = '';
    this.anew = -Infinity;
    this.room = 0;
    const { session } = this;
    session.addEventListener('served-failed', ({ detail }) => this.unavailable(detail));
    session.addEventListener('served-moved', () => this.progress());
    session.addEventListener('served-stale', () => this.stale());
    this.dialog();
  }

  /** How a dataset is opened: see {@link import('./dataset.js').Dataset.open}. */
  how({ root, name }) {
    return {
      most: () => Math.min(MOST, this.state().fly),
      budget: () => this.most(),
      waiting: (text) => {
        this.wait = text;
        if (this.session.served) this.progress();
        else this.opening(text || OPENING);
      },
      permit: (detail) => this.permit(`${root}${name}`, detail),
    };
  }

  /** Says what is waited for until it is there. @template T @param {string} text @param {Promise<T>} work */
  async meanwhile(text, work) {
    this.work = text;
    this.progress();
    try {
      return await work;
    } finally {
      this.work = '';
      this.progress();
    }
  }

  /** The budget; what it was before while what is typed is no amount. */
  most() {
    try {
      this.room = this.budget();
    } catch {
      // The field says what is wrong.
    }
    return this.room;
  }

  /** Shows the layer that the link or the address names, or the usual one. */
  async begin({ layer }) {
    const { served } = this.session;
    const { ions, info } = served;
    const wanted = layer ? viewOf(layer) : this.state().v;
    if (ions && !ION.test(wanted)) {
      const [from, to] = info.mz ?? [];
      const range = Number.isFinite(from) && Number.isFinite(to) ? ` from m/z ${Math.ceil(from)} to ${Math.floor(to)}` : '';
      this.notice.show('info', `It holds ion images${range}: type an m/z, or a formula and its ion such as C42H82NO8P+K, under Display.`, {
        label: 'Type one',
        run: () => {
          byId('tab-display').click();
          byId('ion').focus();
        },
      });
      await this.layers().refresh();
      return;
    }
    await this.layers().choose(served.plane(wanted) ? wanted : 'median');
  }

  /** Writes what is open; nothing is shown while it is no served dataset. */
  write() {
    const { served } = this.session;
    byId('main').dataset.served = served ? served.info.type : '';
    byId('served').hidden = !served;
    byId('read-y').parentElement.title = `Row, counted from 0 at the ${served?.ions ? 'top' : 'bottom'}`;
    if (!served || this.written === served) return;
    this.written = served;
    const { info, base } = served;
    const rows = [
      ['Size', `${formatCount(info.width)}\u202f×\u202f${formatCount(info.height)}`],
      ['Levels', String(info.levels)],
      ...(served.ions ? [['Spectra', formatCount(info.spectra)]] : [['Numbers', info.dtype]]),
      ['Version', String(info.version ?? '–')],
    ];
    byId('served-figures').replaceChildren(...rows.map(([term, text]) => {
      const row = make('div');
      row.append(make('dt', '', term), make('dd', '', text));
      return row;
    }));
    byId('served-link').href = `${base}/info`;
    say(byId('served-host'), new URL(base).host);
  }

  /** Says what is under way. */
  progress() {
    const { served } = this.session;
    const missing = served?.loading.missing ?? 0;
    const tiles = missing > 0 ? `${formatCount(missing)} ${missing === 1 ? 'tile' : 'tiles'} to come` : served?.shown ? 'All of the view is here.' : '';
    say(byId('served-state'), this.wait || this.work || tiles);
    byId('served-state').classList.toggle('waits', this.wait !== '');
    this.used();
  }

  used() {
    const { served } = this.session;
    if (!served) return;
    const { bytes } = served.loading;
    const most = this.most();
    Object.assign(byId('memory-meter'), { max: most, value: Math.min(most, bytes), hidden: false });
    byId('memory-used').replaceChildren(make('span', '', 'Tiles '), `${formatBytes(bytes)} of ${formatBytes(most)}`);
  }

  /** A tile cannot be had. */
  unavailable({ problem, layer, z }) {
    const { served } = this.session;
    const { shown } = served;
    if (shown?.layer !== layer) return;
    const large = problem.status === 413;
    // What stands in for the tiles of the view may be too much where they are not.
    if (large && z < shown.z) return;
    const text = large ? `${problem.message} Zoom in: smaller parts take less.` : problem.message;
    if (text === this.told && !byId('notice').hidden) return;
    this.told = text;
    const kind = problem.status === 202 ? 'info' : 'error';
    this.notice.show(kind, text, { label: 'Try again', run: () => served.loading.retry() });
  }

  /** The server has another version of what is open. */
  stale() {
    if (performance.now() - this.anew < ANEW) return;
    this.anew = performance.now();
    this.reopen();
  }

  dialog() {
    const dialog = byId('token-dialog');
    const give = (token) => {
      this.answer?.(token);
      this.answer = null;
      byId('token').value = '';
      dialog.close();
    };
    const typed = () => {
      const token = byId('token').value.trim();
      if (TOKEN.test(token)) give(token);
      else this.fault(token === '' ? 'Type the token, or cancel.' : 'A token has letters, digits and . _ ~ + / - only.');
    };
    byId('token-give').addEventListener('click', typed);
    byId('token').addEventListener('keydown', (event) => event.key === 'Enter' && typed());
    dialog.addEventListener('close', () => give(null));
  }

  fault(text) {
    say(byId('token-fault'), text);
    byId('token-fault').hidden = text === '';
  }

  /** Asks for the token of a dataset. @returns {Promise<string | null>} null when there is none */
  permit(named, detail) {
    say(byId('token-for'), named.replace(/^https?:\/\//, ''));
    this.answer?.(null);
    this.fault(detail);
    if (!byId('token-dialog').open) byId('token-dialog').showModal();
    byId('token').focus();
    return new Promise((resolve) => {
      this.answer = resolve;
    });
  }
}
