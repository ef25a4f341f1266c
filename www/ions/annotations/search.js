/** A search: its list of molecules, the run in workers, how far it is, cancelling and going on. */
import { formatBytes } from '../../app/bytes.js';
import { byId, make, say } from '../../app/dom.js';
import { formatCount, formatSeconds } from '../../app/format.js';
import { Annotator } from '../annotator.js';
import { refusal } from '../refusal.js';
import { SearchForm } from './form.js';
import { adductText } from './formula.js';

/** The list that comes with the page. */
const BUILT_IN = new URL('../molecules.csv', import.meta.url).href;
const BUILT_IN_NAME = 'Common metabolites and lipids';

/** How long the settings rest before the list is counted anew, in milliseconds. */
const REST = 300;

/** Left-out rows that are listed; a list of another kind of file has thousands. */
const LISTED = 100;

const PHASES = { list: 'Reading the molecules', plan: 'Planning', ions: 'Scoring ions', fdr: 'Estimating the FDR' };

export class Search {
  /**
   * @param {object} parts `session`, `state` (a function), `memory` (a function to the bytes that annotation may take), `changed`,
   *   `begun` (a run has started), `found` (called with a result)
   */
  constructor(parts) {
    Object.assign(this, parts);
    /** The list in use, null for the built-in one; and the last one of one's own, to come back to. @type {File | null} */
    [this.list, this.own] = [null, null];
    this.counted = null;
    this.running = null;
    /** @type {AbortController | null} ends the counting of a list */
    this.counting = null;
    /** What was cancelled or failed, as it was asked for. */
    this.halted = null;
    this.timer = 0;
    this.turn = 0;
    this.form = new SearchForm({
      state: this.state,
      info: () => this.session.info,
      changed: () => {
        this.enable();
        this.changed();
      },
      recount: () => this.recount(),
    });
    byId('molecules').addEventListener('change', () => this.chosen());
    byId('molecules-choose').addEventListener('click', () => byId('molecules-file').click());
    byId('molecules-file').addEventListener('change', (event) => {
      if (event.target.files.length > 0) this.take(event.target.files[0]);
      event.target.value = '';
    });
    byId('annotate').addEventListener('click', () => this.run(this.wished()));
    byId('annotating-cancel').addEventListener('click', () => this.cancel());
    // What goes on is what was begun, whatever the fields say by now.
    byId('annotating-resume').addEventListener('click', () => this.run(this.halted));
    byId('annotating-discard').addEventListener('click', () => this.discard());
    byId('search').addEventListener('toggle', () => this.summary());
    byId('search-more').addEventListener('toggle', () => this.form.warn());
  }

  /** The workers; made when they are first asked for anything. */
  get annotator() {
    this.workers ??= new Annotator({ memory: this.memory(), workers: Math.max(1, navigator.hardwareConcurrency || 2) });
    return this.workers;
  }

  /** Ends what runs and gives the workers back. */
  close() {
    this.cancel();
    this.counting?.abort();
    this.running = null;
    this.halted = null;
    this.workers?.close();
    this.workers = null;
    this.showRun();
  }

  /** A list of molecules was chosen or dropped. @param {File} file */
  take(file) {
    [this.list, this.own] = [file, file];
    const option = new Option(file.name, file.name, true, true);
    byId('molecules').replaceChildren(new Option(BUILT_IN_NAME, ''), option);
    byId('search').open = true;
    this.recount(0);
    this.changed();
  }

  chosen() {
    this.list = byId('molecules').value === '' ? null : this.own;
    this.recount(0);
  }

  get listName() {
    return listName(this.molecules());
  }

  /** What the annotator is given of the list. */
  molecules() {
    return { molecules: this.list ?? { url: BUILT_IN }, name: this.list?.name ?? 'molecules.csv' };
  }

  /** Counts molecules and ions anew, once the settings rest. */
  recount(rest = REST) {
    clearTimeout(this.timer);
    this.counting?.abort();
    this.turn += 1;
    this.counted = null;
    this.enable();
    this.timer = setTimeout(() => this.count(), rest);
  }

  /** What was counted is of other settings: those of another dataset. */
  stale() {
    this.turn += 1;
    this.counted = null;
    this.enable();
  }

  async count() {
    const { turn } = this;
    if (!this.form.good || this.running) return;
    say(byId('molecules-note'), 'Reading the list…');
    // One at a time: the core that counts takes all that annotation may take.
    this.counting = new AbortController();
    try {
      const info = await this.annotator.check({ ...this.molecules(), ...this.form.value() }, { signal: this.counting.signal });
      if (turn !== this.turn) return;
      this.counted = info;
      this.showList(info, '');
    } catch (error) {
      if (turn !== this.turn || error.name === 'AbortError') return;
      this.showList(null, refusal(error, this.session.memory));
    }
    this.enable();
  }

  /** Whether anything was counted yet; the tab is opened for the first time. */
  begin() {
    if (!this.counted && !this.running) this.recount(0);
  }

  showList(info, error) {
    this.form.complain('molecules-error', error);
    const parts = info ? [counted(info.formulas, 'formula'), ...(info.molecules > 0 ? [counted(info.molecules, 'molecule')] : [])] : [];
    say(byId('molecules-note'), [parts.join(', '), ...(info?.warnings ?? [])].filter(Boolean).join('. '));
    const rejected = info?.rejected ?? [];
    const count = info?.rejectedRows ?? 0;
    byId('rejected').hidden = count === 0;
    say(byId('rejected-summary'), `${counted(count, 'row')} left out`);
    byId('rejected-list').replaceChildren(...rejected.slice(0, LISTED).map(({ line, text, what }) => {
      const item = make('li');
      item.append(make('b', '', `Line ${formatCount(line)}: `), what, ...(text ? [' ', make('code', '', short(text))] : []));
      return item;
    }), ...(count > LISTED ? [make('li', '', `and ${formatCount(count - LISTED)} more`)] : []));
  }

  /** What can be pressed, and what a search will amount to. */
  enable() {
    const { session, form, counted } = this;
    const open = Boolean(session.info);
    const ready = open && form.good && counted !== null && counted.formulas > 0 && !this.running;
    byId('search-closed').hidden = open;
    byId('annotate').disabled = !ready;
    const ions = counted ? `${formatCount(counted.targets)} ions and ${formatCount(counted.decoys)} decoys` : '';
    say(byId('search-size'), counted && form.good ? `${ions}, in ${formatBytes(this.memory())} of memory` : '');
    this.summary();
  }

  /** What is searched for, for the line of the closed form. */
  summary() {
    const { adducts, ppm } = this.form.value();
    say(byId('search-summary'), byId('search').open ? '' : `${this.listName} · ${adducts.map(adductText).join(' ')} · ${ppm} ppm`);
  }

  /** Where the store lies, for the workers. */
  async store() {
    const { source } = this.session;
    if (source.url || source.file) return source;
    const file = await this.session.core().store();
    if (!file) throw new Error('The packed store is no longer in this browser: open the dataset again.');
    return { file };
  }

  /** What the fields ask for. */
  wished() {
    return { ...this.molecules(), ...this.form.value(), slice: this.state().sl };
  }

  /** Whether the fields ask for what a run was of, with a list that any page has: then a link finds it again. */
  linked(wish) {
    const settings = (of) => JSON.stringify({ ...of, molecules: null });
    return !(wish.molecules instanceof Blob) && settings(wish) === settings(this.wished());
  }

  /** Annotates, or goes on where it was cancelled. @param {object} wish of now, or the one that was halted */
  async run(wish) {
    if (this.running || !this.session.info) return;
    const resumed = wish === this.halted;
    const ending = new AbortController();
    this.counting?.abort();
    Object.assign(this, { running: ending, halted: null, progress: resumed ? this.progress : null, problem: '' });
    byId('search').open = false;
    this.begun(wish);
    this.showRun();
    this.enable();
    byId('annotating-cancel').focus();
    try {
      const store = await this.store();
      const result = await this.annotator.annotate({ store, ...wish }, { signal: ending.signal, onProgress: (progress) => this.running === ending && this.showProgress(progress) });
      if (this.running !== ending) return;
      this.running = null;
      const watched = document.activeElement === byId('annotating-cancel');
      this.found(result, wish);
      // Who waited for the table goes on in it.
      if (watched) byId('annotations').focus({ preventScroll: true });
      say(byId('annotating-status'), `Annotated in ${formatSeconds(result.seconds)}: ${counted(result.rows.length, 'annotation')}.`);
    } catch (error) {
      if (this.running !== ending) return;
      this.running = null;
      this.halted = wish;
      this.problem = error.name === 'AbortError' ? '' : refusal(error, this.session.memory);
    }
    this.showRun();
    this.enable();
    this.changed();
    // Nothing was counted meanwhile: settings that were changed, or a link that ran at once.
    this.begin();
    if (this.halted && document.activeElement === document.body) byId('annotating-resume').focus();
  }

  /** Stops a run; it can be gone on with. @returns {boolean} whether there was one */
  cancel() {
    if (!this.running) return false;
    this.running.abort(new DOMException('cancelled', 'AbortError'));
    return true;
  }

  discard() {
    Object.assign(this, { halted: null, problem: '' });
    this.close();
    byId('search').open = true;
    this.enable();
    this.recount(0);
  }

  showProgress(progress) {
    this.progress = progress;
    const { phase, done, total, secondsLeft } = progress;
    const bar = byId('annotating-bar');
    if (total > 0 && phase === 'ions') bar.value = Math.min(1, done / total);
    else bar.removeAttribute('value');
    say(byId('annotating-part'), total > 0 && phase === 'ions' ? `${Math.floor((100 * done) / total)} %` : '');
    const parts = [PHASES[phase] ?? phase];
    if (phase === 'ions') parts.push(`${formatCount(done)} of ${formatCount(total)}`);
    if (secondsLeft !== null && secondsLeft > 0.5) parts.push(`${formatSeconds(Math.ceil(secondsLeft))} left`);
    say(byId('annotating-text'), parts.join(' · '));
  }

  /** The part that says how a run is doing. */
  showRun() {
    const { running, halted, problem, progress } = this;
    byId('annotating').hidden = !running && !halted;
    say(byId('annotating-title').firstChild, running ? 'Annotating' : problem ? 'Stopped' : 'Cancelled');
    byId('annotating-error').hidden = running !== null || !problem;
    say(byId('annotating-error'), running ? '' : (problem ?? ''));
    byId('annotating-resume').hidden = running !== null;
    say(byId('annotating-resume'), problem ? 'Try again' : 'Go on');
    byId('annotating-discard').hidden = running !== null;
    byId('annotating-cancel').hidden = running === null;
    if (running && !progress) this.showProgress({ phase: 'list', done: 0, total: 0, secondsLeft: null });
    const kept = !running && this.workers?.unfinished;
    if (!running) say(byId('annotating-text'), kept && kept.done > 0 ? `${formatCount(kept.done)} of ${formatCount(kept.total)} ions are done and kept.` : 'Stopped before the first ions were done.');
  }
}

/** What a list is called on screen. @param {{molecules: Blob | {url: string}, name: string}} list */
export function listName({ molecules, name }) {
  return molecules instanceof Blob ? name : BUILT_IN_NAME;
}

function counted(n, word) {
  return `${formatCount(n)} ${word}${n === 1 ? '' : 's'}`;
}

function short(text) {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
