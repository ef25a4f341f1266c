import { formatBytes } from '../app/bytes.js';
import { byId, say } from '../app/dom.js';
import { formatCount, formatSeconds } from '../app/format.js';
import { fetchedText } from './cost.js';
import { CHANNELS, mzText } from './ion-list.js';
import { windowOf } from './window.js';
import { SpectrumPlot } from './spectrum-plot.js';

/** A spectrum that reads more than this is asked about first. */
const DEAR = 8 * 2 ** 20;

/** Bytes a second that a full pass is reckoned with, for the sentence that asks. */
const RATE = 40e6;

/** How long a reading goes on before it is shown how far it is, in milliseconds: most are done by then. */
const GLANCE = 250;

/** Surroundings of an ion, in half widths of its window. */
const AROUND = 60;

/** What the accent of the page stands for where there are no channels. */
const SINGLE = '#e6bd6a';
const COLOURS = ['#ff6b64', '#58d27b', '#79a7ff'];

/**
 * The spectrum on show: the mean, the maximum, that of the pinned pixel or of the region. Those of pixels and regions
 * are read when they are asked for; what would take a full pass over a large store is confirmed first.
 */
export class SpectrumPanel {
  /**
   * @param {object} parts `session`, `state` (a function), `place` (a function to the pinned pixel or null), `region`
   *   (a function to the region or null), `pick` (m/z → shows the image), `leading` (a function to the
   *   ions of the annotation on show, or null), `changed`, `failed`
   */
  constructor(parts) {
    Object.assign(this, parts);
    this.kind = 'mean';
    this.shown = null;
    this.agreed = false;
    this.reading = null;
    this.plot = new SpectrumPlot(byId('plot'), byId('plot-spoken'), byId('plot-tip'), {
      pick: (mz) => this.pick(mz),
      moved: (range) => {
        this.state().xr = range;
        this.changed();
      },
    });
    this.radios = [...document.querySelectorAll('input[name="spectrum"]')];
    for (const radio of this.radios) radio.addEventListener('change', () => this.choose(radio.value));
    byId('plot-log').addEventListener('click', () => this.toggleLog());
    byId('plot-window').addEventListener('click', () => this.zoomToIon());
    byId('plot-all').addEventListener('click', () => this.plot.move(null));
    byId('ask-yes').addEventListener('click', () => this.agree());
    byId('ask-no').addEventListener('click', () => this.choose(this.state().sp));
    byId('reading-cancel').addEventListener('click', () => {
      this.cancel();
      byId('plot').focus();
    });
  }

  /** The dataset has changed. */
  opened() {
    this.agreed = false;
    this.plot.range = null;
    this.choose(this.state().sp);
    this.plot.zoom(this.state().xr);
  }

  /** There is no dataset. */
  clear() {
    this.stop();
    this.shown = null;
    this.plot.clear();
    say(byId('spectrum-note'), '');
    this.enable();
  }

  /** Chooses what is shown. @param {string} kind mean, max, pixel or region */
  async choose(kind) {
    this.stop();
    this.kind = kind;
    for (const radio of this.radios) radio.checked = radio.value === kind;
    const { session } = this;
    if (!session.info) return;
    if (kind === 'mean' || kind === 'max') {
      this.state().sp = kind;
      const { mz, mean, max } = session.mean;
      const text = kind === 'mean' ? 'Mean' : 'Largest intensity';
      this.show({ mz, values: kind === 'mean' ? mean : max, name: kind }, `${text} of ${formatCount(session.info.spectra)} spectra`);
      this.changed();
    } else await this.read(kind);
  }

  /** The pinned pixel or the region has changed. */
  async follow(kind) {
    if (this.kind === kind) await this.choose(kind);
  }

  /** Reads the spectrum of the pixel or the region, if need be after asking. */
  async read(kind) {
    const where = kind === 'pixel' ? this.place() : this.region();
    if (!where) {
      this.show(null, '', kind === 'pixel' ? 'Click a pixel of the image, or move the cursor with the arrow keys: its spectrum appears here.' : 'Mark a rectangle (r) or a polygon (g) in the image: its mean spectrum appears here.');
      return;
    }
    const ending = new AbortController();
    this.reading = ending;
    const { signal } = ending;
    try {
      const slice = this.state().sl;
      const wish = kind === 'pixel' ? { x: where.x, y: where.y, slice } : { ...where.shape, slice };
      const plan = await this.session.core().planSpectrum(wish);
      if (signal.aborted) return;
      // From a pair whose index has not been read the cost is not known yet; it is a part of the pair only.
      if (plan.bytes !== null && plan.bytes > DEAR && !this.agreed) {
        this.ask(kind, plan);
        return;
      }
      this.begin(kind, ending);
      const options = { signal, onProgress: (reading) => signal.aborted || this.progress(reading) };
      const found = kind === 'pixel' ? await this.session.core().spectrum(wish, options) : await this.session.core().region(wish, options);
      if (signal.aborted) return;
      byId('reading').hidden = true;
      const values = found.intensity ?? found.mean;
      this.reading = null;
      const whose = kind === 'pixel' ? where.text : `Mean of ${formatCount(found.pixels)} acquired pixels`;
      this.show({ mz: found.mz, values, name: where.name }, [whose, `${formatCount(found.mz.length)} peaks`, cost(found)].join(' · '), kind === 'pixel' ? 'This pixel was not acquired, or has no peaks.' : undefined);
    } catch (error) {
      if (signal.aborted || error.name === 'AbortError') return;
      this.reading = null;
      byId('reading').hidden = true;
      this.show(null, '', 'The spectrum could not be read.');
      this.failed(error);
    }
  }

  /** Says that a reading goes on; how far, only once it has gone on for longer than a glance. */
  begin(kind, { signal }) {
    this.show(null, kind === 'pixel' ? 'Reading the pixel…' : 'Reading the region…', '');
    byId('reading-bar').removeAttribute('value');
    say(byId('reading-text'), 'Reading…');
    this.began = performance.now();
    setTimeout(() => {
      if (this.reading?.signal === signal && !signal.aborted) byId('reading').hidden = false;
    }, GLANCE);
  }

  /** @param {import('../core/ion-store.js').Reading} reading */
  progress({ phase, bytes, total }) {
    if (total > 0) byId('reading-bar').value = Math.min(1, bytes / total);
    const left = bytes > 0 && phase === 'peaks' ? ((performance.now() - this.began) / 1000) * (total / bytes - 1) : 0;
    const parts = [phase === 'index' ? 'Reading the imzML' : 'Reading the peaks', `${formatBytes(bytes)} of ${formatBytes(total)}`];
    if (left > 0.5) parts.push(`${left < 60 ? `${Math.ceil(left)} s` : formatSeconds(left)} left`);
    say(byId('reading-text'), parts.join(' · '));
  }

  /** Ends a reading or a question. @returns {boolean} whether there was one */
  cancel() {
    if (!this.reading) return false;
    this.choose(this.state().sp);
    return true;
  }

  ask(kind, plan) {
    this.show(null, '', '');
    const what = kind === 'pixel' ? 'the spectrum of a pixel' : 'the spectrum of a region';
    byId('ask').hidden = false;
    const costs = `${formatBytes(plan.bytes)} (${formatCount(plan.requests)} request${plan.requests === 1 ? '' : 's'}, about ${formatSeconds(plan.bytes / RATE)} or more)`;
    say(byId('ask-text'), plan.from === 'pair' ? `From the imzML pair ${what} takes ${costs}.` : `A store holds peaks in the order of m/z: ${what} takes a full pass over ${costs}.${this.session.source.pair ? '' : ' Opened by its imzML pair it would be one short read.'}`);
    byId('ask-yes').focus();
  }

  agree() {
    this.agreed = true;
    this.choose(this.kind);
    byId('plot').focus();
  }

  /** Ends what is asked or read. */
  stop() {
    this.reading?.abort();
    this.reading = null;
    byId('ask').hidden = true;
    byId('reading').hidden = true;
  }

  /** Shows a spectrum, or a sentence in its place. */
  show(spectrum, note, empty = 'There are no peaks.') {
    this.shown = spectrum;
    say(byId('spectrum-note'), note);
    byId('spectrum-note').title = note;
    const none = !spectrum || spectrum.mz.length === 0;
    byId('plot-empty').hidden = !none;
    say(byId('plot-empty'), none ? empty : '');
    if (none) this.plot.clear();
    else this.plot.data(spectrum.mz, spectrum.values, axis(this.session.info.mz ?? [0, 1]));
    this.enable();
  }

  enable() {
    const none = !this.shown || this.shown.mz.length === 0;
    for (const id of ['plot-log', 'plot-all', 'plot-csv']) byId(id).disabled = none;
    byId('plot-window').disabled = none || (this.state().mz.length === 0 && !this.leading());
    for (const radio of this.radios) radio.disabled = !this.session.info;
  }

  /** Writes the state: axis, windows of the ions on show. */
  write() {
    const state = this.state();
    this.plot.scale(state.log);
    byId('plot-log').setAttribute('aria-pressed', String(state.log));
    const leading = this.leading();
    if (leading) {
      this.plot.shade(leading.map((ion) => ({ ...around(ion), colour: SINGLE })));
      this.enable();
      return;
    }
    const shown = state.rgb ? state.ch.map((at, channel) => ({ at, colour: COLOURS[channel] })) : [{ at: state.at, colour: SINGLE }];
    const windows = shown.filter(({ at }) => at !== null && state.mz[at] !== undefined);
    this.plot.shade(windows.map(({ at, colour }) => ({ ...windowOf(state.mz[at], state.tol, state.unit), colour })));
    this.enable();
  }

  toggleLog() {
    this.state().log = !this.state().log;
    this.write();
    this.changed();
  }

  /** Zooms to the chosen ion and its surroundings. */
  zoomToIon() {
    const { mz, at, tol, unit } = this.state();
    const [first] = this.leading() ?? [{ mz: mz[at], [unit]: tol }];
    if (first.mz === undefined) return;
    const { lo, hi } = around(first);
    const half = Math.max(AROUND * ((hi - lo) / 2), 0.02);
    this.plot.move([first.mz - half, first.mz + half]);
  }

  /** The spectrum on show as a table. @returns {{blob: Blob, name: string} | null} */
  csv() {
    if (!this.shown) return null;
    const { mz, values, name } = this.shown;
    const lines = ['m/z,intensity\n'];
    for (let i = 0; i < mz.length; i += 1) lines.push(`${mz[i]},${values[i]}\n`);
    return { blob: new Blob(lines, { type: 'text/csv' }), name };
  }
}

/** A little room at both ends of the axis. */
function axis([lo, hi]) {
  const room = Math.max(0.01 * (hi - lo), 0.5);
  return [Math.max(0, lo - room), hi + room];
}

/** The window of an ion as the page asks for it. */
function around({ mz, ppm, da }) {
  return ppm ? windowOf(mz, ppm, 'ppm') : windowOf(mz, da, 'da');
}

/** Where a spectrum came from, and what it cost. */
function cost({ from, requests, bytes }) {
  const way = from === 'pair' ? 'from the imzML pair' : 'by a full pass over the store';
  return `${way}: ${fetchedText(bytes, requests)}`;
}

/** The names of ions on show, for titles. */
export function shownNames(state) {
  if (!state.rgb) return state.mz[state.at] === undefined ? '' : `m/z ${mzText(state.mz[state.at])}`;
  return state.ch.flatMap((at, i) => (at === null ? [] : [`${CHANNELS[i].letter} ${mzText(state.mz[at])}`])).join(', ');
}
