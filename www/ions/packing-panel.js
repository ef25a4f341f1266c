import { formatBytes } from '../app/bytes.js';
import { byId, make, say } from '../app/dom.js';
import { formatSeconds } from '../app/format.js';
import { fetchedText } from './cost.js';
import { STORAGE } from './open-panel.js';
import { isLocal, nameOf } from './pair.js';

/** The phases of packing, in words. */
const PHASES = { index: 'Reading the imzML', plan: 'Planning', read: 'Reading the spectra', sort: 'Sorting by m/z', done: 'Finishing' };

/** How far opening and packing are; cancel, and going on afterwards. */
export class PackingPanel {
  /** @param {object} parts `session`, `resume` (opens the same source again), `discard` (removes what is left over) */
  constructor(parts) {
    Object.assign(this, parts);
    this.bars = [byId('packing-bar'), byId('waiting-bar')];
    this.overall = 0;
    this.planned = null;
    byId('cancel').addEventListener('click', () => this.session.cancel());
    byId('resume').addEventListener('click', () => this.resume());
    byId('discard').addEventListener('click', () => {
      byId('packing').hidden = true;
      this.discard();
    });
    this.session.addEventListener('opening', ({ detail }) => this.begin(detail.source));
    this.session.addEventListener('packing', ({ detail }) => this.update(detail));
    this.session.addEventListener('opened', () => this.done());
    this.session.addEventListener('closed', ({ detail }) => this.stopped(detail.error));
  }

  begin(source) {
    this.packs = Boolean(source.pair);
    this.local = isLocal(source);
    this.overall = 0;
    this.planned = null;
    byId('packing').hidden = false;
    byId('waiting').hidden = false;
    say(byId('packing-title').firstChild, this.packs ? 'Packing' : 'Opening');
    say(byId('packing-name'), nameOf(source));
    say(byId('waiting-name'), nameOf(source));
    this.progress(null);
    this.text(this.packs ? 'Reading the imzML…' : 'Reading the directory…');
    const plan = this.packs
      ? `The spectra are sorted by m/z into a store, once. ${this.local ? 'Nothing leaves this computer.' : 'The files are read from where they lie.'}`
      : '';
    byId('packing-plan').replaceChildren(...(plan ? [make('p', 'hint', plan)] : []));
    this.buttons({ cancel: true });
    say(byId('status'), this.packs ? 'Packing.' : 'Opening.');
  }

  /** @param {import('./client.js').Progress} state */
  update(state) {
    const { phase, seconds_left: left, peak_bytes: peak } = state;
    this.overall = Math.max(this.overall, state.overall);
    if (this.overall > 0) this.progress(this.overall);
    const parts = [PHASES[phase] ?? phase];
    if (this.overall > 0) parts.push(`${Math.floor(100 * this.overall)} %`);
    if (left !== null && left !== undefined && left > 0.5) parts.push(`${left < 60 ? `${Math.ceil(left)} s` : formatSeconds(left)} left`);
    if (peak > 0) parts.push(`peak ${formatBytes(peak)}`);
    this.text(parts.slice(0, 3).join(' · '), parts.join(' · '));
    if (state.plan) this.plan(state.plan);
  }

  /** The bars, in the panel and over the image: one from the first byte to the last; null only says that something goes on. */
  progress(part) {
    for (const bar of this.bars) {
      if (part === null) bar.removeAttribute('value');
      else bar.value = part;
    }
  }

  text(short, long = short) {
    say(byId('waiting-text'), short);
    say(byId('packing-text'), long);
  }

  /** What packing will take, once the imzML has been read. */
  plan(plan) {
    if (this.planned === plan) return;
    this.planned = plan;
    const list = make('dl', 'figures');
    const add = (name, value) => {
      const row = make('div');
      row.append(make('dt', '', name), make('dd', '', value));
      list.append(row);
    };
    add('To read', fetchedText(plan.payload_bytes, plan.requests));
    add('Scratch space', formatBytes(plan.spill_bytes));
    add('Store, about', formatBytes(plan.store_bytes_estimate));
    add('Peak memory', `${formatBytes(plan.peak_bytes)} of ${formatBytes(this.session.share)}`);
    byId('packing-plan').replaceChildren(list);
  }

  done() {
    if (byId('packing').contains(document.activeElement)) byId('view').focus();
    byId('packing').hidden = true;
    byId('waiting').hidden = true;
    say(byId('status'), `Opened ${nameOf(this.session.source)}.`);
  }

  stopped(error) {
    const cancelled = error?.name === 'AbortError';
    byId('waiting').hidden = true;
    const bar = byId('packing-bar');
    if (!bar.hasAttribute('value')) bar.value = 0;
    const far = this.overall > 0 ? ` at ${Math.floor(100 * this.overall)} %` : '';
    const kept = this.packs && STORAGE ? ' What has been sorted so far is kept: resuming goes on from there.' : '';
    const text = cancelled ? `Cancelled${far}.${kept}` : 'Stopped by an error.';
    say(byId('packing-text'), text);
    say(byId('status'), text);
    if (!this.packs && cancelled) byId('packing').hidden = true;
    const focused = document.activeElement === byId('cancel');
    this.buttons({ resume: true, discard: this.packs });
    if (focused && !byId('packing').hidden) byId('resume').focus();
    byId('resume').textContent = cancelled && kept ? 'Resume' : 'Try again';
  }

  buttons({ cancel = false, resume = false, discard = false }) {
    byId('cancel').hidden = !cancel;
    byId('resume').hidden = !resume;
    byId('discard').hidden = !discard;
  }
}
