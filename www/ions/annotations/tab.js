/** The Annotations panel: connects search, table, the chosen annotation and what is saved, with the page around them. */
import { byId, make, say } from '../../app/dom.js';
import { formatCount, formatSeconds } from '../../app/format.js';
import { fetchedText } from '../cost.js';
import { Detail } from './detail.js';
import { adductText, ionKey, ionText } from './formula.js';
import { windowsOf } from './instrument.js';
import { readResults } from './results-file.js';
import { adductsOf, filtered, sorted } from './rows.js';
import { Save } from './save.js';
import { listName, Search } from './search.js';
import { AnnotationTable } from './table.js';

/** How long a choice that moves on has to rest before images are fetched, in milliseconds. */
const REST = 160;

/** As results come: by FDR, and where that is the same by score. */
const BEST_FIRST = Object.freeze({ by: 'fdr', down: false });

/** Files that are results, and files that are lists of molecules. */
const RESULTS = /\.json$/i;
const LIST = /\.(csv|tsv|tab|txt)$/i;

export class Annotations {
  /**
   * @param {object} parts `session`, `state` (a function), `memory` (a function to bytes), `changed` (something that a link
   *   holds), `wanted` (other images are wanted), `how` (a function to slice and normalisation), `layer` (m/z, ppm, channel → into
   *   the three-colour image), `failed`, `turnTo` (a panel's name), `dataset` (a function to its name)
   */
  constructor(parts) {
    Object.assign(this, parts);
    /** @type {{rows: object[], name: string, from: string, wish: object | null, charge: number, csv: Blob | null, json: Blob,
     *   warnings: string[], settings?: object, of?: object} | null} `wish` of a run here, `settings` and `of` of a file */
    this.results = null;
    this.row = null;
    this.peak = 0;
    /** Whether the image on show is that of the chosen annotation. */
    this.leading = false;
    this.filter = { adduct: '', text: '' };
    this.order = { ...BEST_FIRST };
    this.rows = [];
    /** @type {Map<number, import('./rows.js').Row>} ions that were put into the three-colour image, by m/z */
    this.names = new Map();
    this.lower = 'isotopes';
    this.timer = 0;
    const state = this.state;
    this.search = new Search({
      session: this.session, state, memory: this.memory, changed: this.changed,
      begun: () => this.begun(),
      found: (result, wish) => this.found(result, wish),
    });
    this.table = new AnnotationTable(
      { grid: byId('annotations'), head: byId('annotations-head'), body: byId('annotations-body'), room: byId('annotations-room') },
      {
        chosen: (row, held) => this.choose(row, held),
        entered: (row) => this.enter(row),
        sort: (by, down) => this.sort(by, down),
      },
    );
    this.detail = new Detail({ state, picked: (at) => this.pick(at), layer: (channel) => this.addLayer(channel) });
    this.save = new Save({
      results: () => this.results,
      shown: () => this.rows,
      possible: () => this.session.info !== null,
      images: (row, signal) => this.pngs(row, signal),
      failed: this.failed,
      open: () => byId('results-file').click(),
    });
    this.connect();
  }

  connect() {
    byId('filter-text').addEventListener('input', (event) => this.narrow({ text: event.target.value }));
    byId('filter-adduct').addEventListener('change', (event) => this.narrow({ adduct: event.target.value }));
    byId('filter-fdr').addEventListener('change', (event) => {
      this.state().lvl = Number(event.target.value);
      this.narrow({});
      this.changed();
    });
    byId('filter-text').addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && event.target.value !== '') {
        event.preventDefault();
        event.target.value = '';
        this.narrow({ text: '' });
      }
      if (event.key !== 'ArrowDown' && event.key !== 'Enter') return;
      event.preventDefault();
      byId('annotations').focus();
      if (this.table.at < 0) this.table.choose(0, false);
    });
    byId('results-open').addEventListener('click', () => byId('results-file').click());
    byId('results-file').addEventListener('change', (event) => {
      if (event.target.files.length > 0) this.openResults(event.target.files[0]);
      event.target.value = '';
    });
    byId('below-spectrum').addEventListener('click', () => this.below('spectrum'));
    byId('below-isotopes').addEventListener('click', () => this.below('isotopes'));
  }

  /** Takes what belongs here of chosen or dropped files: a list of molecules, or results. @returns {boolean} whether it was taken */
  files(files) {
    if (files.length !== 1) return false;
    const [file] = files;
    if (RESULTS.test(file.name)) this.openResults(file);
    else if (LIST.test(file.name)) {
      this.turnTo('annotations');
      this.search.take(file);
    } else return false;
    return true;
  }

  /** The panel has come into sight. */
  seen() {
    this.search.form.write();
    this.search.begin();
    this.search.enable();
    this.table.measure();
  }

  /** Another dataset is opened: what was found in the last one goes; results from a file stay. */
  closed() {
    this.search.close();
    this.save.cancel();
    if (this.results?.wish) {
      this.state().run = false;
      this.forget();
    }
    else this.leave();
  }

  /** The dataset is open. */
  opened() {
    this.search.form.write();
    this.search.stale();
    if (this.state().side === 'annotations') {
      if (this.state().run && !this.results && this.search.form.good) this.search.run(this.search.wished());
      else this.search.begin();
    }
    if (this.results) this.warn();
    if (!this.row) return;
    // Results from a file get their images now.
    this.leading = true;
    this.state().rgb = false;
    this.describe();
  }

  forget() {
    Object.assign(this, { results: null, row: null, leading: false });
    this.describe();
    this.showResults();
  }

  begun() {
    byId('results-none').hidden = true;
  }

  found(result, wish) {
    const { annotator } = this.search;
    this.take({
      rows: result.rows, warnings: result.warnings, wish, charge: result.info.charge ?? wish.charge, name: this.dataset(),
      from: `${listName(wish)} · ${formatSeconds(result.seconds)} · ${fetchedText(result.bytes, result.requests)}`,
      csv: annotator.csv(), json: annotator.json(),
    });
  }

  /** Opens the results of an earlier run. @param {File} file */
  async openResults(file) {
    this.turnTo('annotations');
    try {
      const { rows, warnings, settings, charge, of, list } = await readResults(file);
      this.search.cancel();
      byId('search').open = false;
      this.take({ rows, warnings, wish: null, settings, charge, of, name: of.source || file.name, from: [file.name, of.source, list].filter(Boolean).join(' · '), csv: null, json: file });
    } catch (error) {
      this.failed(error);
    }
  }

  take(results) {
    Object.assign(this, { results, row: null, leading: false, filter: { adduct: '', text: '' }, order: { ...BEST_FIRST } });
    byId('filter-text').value = '';
    this.describe();
    this.showResults();
    // The ion of a link, else the best one: a table is read from its top.
    if (!(this.state().ann && this.table.find(this.state().ann)) && this.rows.length > 0) this.table.choose(0, false);
    this.changed();
  }

  /** Writes the table and all around it anew. */
  showResults() {
    const { results } = this;
    byId('results').hidden = results === null;
    byId('results-none').hidden = results !== null || this.search.running !== null;
    say(byId('annotations-tally'), '');
    if (!results) return;
    say(byId('results-from'), results.from);
    byId('results-from').title = results.from;
    const adducts = adductsOf(results.rows);
    byId('filter-adduct').replaceChildren(new Option('all adducts', ''), ...adducts.map((adduct) => new Option(adductText(adduct), adduct)));
    this.warn();
    this.narrow({});
  }

  /** What the results say to be careful about; that they are of another dataset is seen here only. */
  warn() {
    const { warnings, of } = this.results;
    const { info } = this.session;
    const other = of && info && (of.width !== info.width || of.height !== info.height || (of.source && info.source && of.source !== info.source));
    const size = of?.width > 0 && of.height > 0 ? ` (${of.width} × ${of.height} pixels)` : '';
    const all = other ? [...warnings, `These results are of ${of.source || 'another dataset'}${size}, not of the dataset that is open: images may not fit them.`] : warnings;
    byId('results-warnings').replaceChildren(...all.map((text) => make('p', 'warning', text)));
  }

  /** Applies the filters. */
  narrow(part) {
    Object.assign(this.filter, part);
    if (!this.results) return;
    const { rows } = this.results;
    const { lvl } = this.state();
    byId('filter-fdr').value = String(lvl);
    byId('filter-adduct').value = this.filter.adduct;
    this.rows = sorted(filtered(rows, { ...this.filter, fdr: lvl / 100 }), this.order.by, this.order.down);
    this.table.mark(this.order.by, this.order.down);
    this.table.show(this.rows, this.row);
    say(byId('results-count'), `${formatCount(this.rows.length)} of ${formatCount(rows.length)} annotations`);
    say(byId('annotations-tally'), formatCount(this.rows.length));
    this.none();
  }

  /** What to try where no row is left. */
  none() {
    const { rows, results } = this;
    byId('annotations-none').hidden = rows.length > 0;
    const beyond = results.rows.length > 0 && !this.filter.text && !this.filter.adduct;
    say(byId('annotations-none'), rows.length > 0 ? '' : results.rows.length === 0
      ? 'None of these molecules was found. Check polarity and adducts, widen the tolerance (a shifted calibration shows in the m/z error of known ions), or take another list.'
      : beyond ? `Nothing at an FDR of ${this.state().lvl} % or less. A higher level shows weaker annotations; a longer list and 20 decoys make the FDR finer.`
        : 'No annotation passes these filters.');
  }

  sort(by, down) {
    this.order = { by, down };
    this.narrow({});
  }

  /** A row was chosen: what is known of it is shown at once, its images when the choice rests. */
  choose(row, held) {
    if (row !== this.row) this.peak = 0;
    Object.assign(this, { row, leading: this.session.info !== null });
    const state = this.state();
    state.ann = ionKey(row);
    this.describe();
    if (this.leading) {
      state.rgb = false;
      state.lim = [null, null, null];
    }
    clearTimeout(this.timer);
    if (!this.leading) this.changed();
    else if (held && !this.ready()) this.timer = setTimeout(() => this.wanted(), REST);
    else this.wanted();
  }

  /** Whether the images of the chosen annotation are held already. */
  ready() {
    return this.ions().every((ion) => this.session.held(ion, this.how()));
  }

  enter(row) {
    clearTimeout(this.timer);
    this.choose(row, false);
    this.turnTo('annotations');
  }

  /** Shows another isotope in the large image. */
  pick(at) {
    this.peak = at;
    this.leading = this.session.info !== null;
    Object.assign(this.state(), { rgb: false, lim: [null, null, null] });
    if (this.leading) this.wanted();
  }

  /** Another ion has taken the large image. */
  leave() {
    clearTimeout(this.timer);
    this.leading = false;
    this.detail.mark(-1);
    this.layers();
  }

  addLayer(channel) {
    const { row, peak } = this;
    if (!row || !this.session.info) return;
    const { ppm } = this.settings();
    this.leading = false;
    this.names.set(row.peaks[peak].mz, row);
    this.layer(row.peaks[peak].mz, ppm, channel);
    this.detail.mark(-1);
    this.layers();
  }

  /** Marks the channels that hold the chosen ion. */
  layers() {
    const { mz, ch, rgb } = this.state();
    const own = this.row?.peaks[this.peak].mz;
    this.detail.channels([0, 1, 2].map((i) => rgb && ch[i] !== null && Math.abs(mz[ch[i]] - own) < 1e-8 * own), this.session.info !== null);
  }

  settings() {
    return this.results.wish ?? this.results.settings;
  }

  /** Windows of an annotation's isotopes, as the page asks for ions. */
  ions(row = this.row) {
    return windowsOf(row.peaks, this.settings());
  }

  /** What the page is to show, when the chosen annotation leads; else null. @returns {{ions: object[], shown: number} | null} */
  leads() {
    return this.leading && this.row && this.session.info ? { ions: this.ions(), shown: this.peak } : null;
  }

  /** Its images have come. */
  images(planes) {
    this.detail.images(planes, this.session.info.pixelSize);
    this.detail.mark(this.peak);
    this.layers();
  }

  /** The annotation of which an m/z of the page is an isotope, or null. */
  rowOf(mz) {
    return this.row?.peaks.some((peak) => peak.mz === mz) ? this.row : (this.names.get(mz) ?? null);
  }

  /** What an m/z is called on screen; "" where it is of no annotation. */
  nameOf(mz) {
    const row = this.rowOf(mz);
    return row ? ionText(row) : '';
  }

  /** The same for the name of a file. */
  keyOf(mz) {
    const row = this.rowOf(mz);
    return row ? ionKey(row).replace(/[[\]]/g, '') : '';
  }

  /**
   * 16-bit PNGs of a row's isotopes, of intensities as they are, in the slice that was annotated, and as the command line
   * writes them; null where there is no signal.
   */
  async pngs(row, signal) {
    const core = this.session.core();
    const how = { slice: this.settings().slice ?? 0, normalise: 'none' };
    const images = await core.images(this.ions(row).map((ion) => ({ ...ion, ...how })), { signal });
    return Promise.all(images.map((image) => (image.hits > 0 ? core.png(image, { shares: true }) : null)));
  }

  /** Chooses the part below the image, on large screens: isotopes or spectrum. */
  below(name) {
    this.lower = name;
    this.showBelow();
    byId(name === 'spectrum' ? 'below-isotopes' : 'below-spectrum').focus();
  }

  /** Without a chosen annotation the spectrum keeps its place. */
  showBelow() {
    byId('below-isotopes').hidden = this.row === null;
    byId('main').dataset.below = this.row ? this.lower : 'spectrum';
  }

  /** Shows the chosen annotation, its images to follow. */
  describe() {
    this.detail.show(this.row, this.results?.charge ?? 1, this.session.info ? '' : 'open the dataset');
    this.showBelow();
    this.layers();
  }

  /** "/" goes to the filter. */
  toFilter() {
    this.turnTo('annotations');
    if (this.results) byId('filter-text').focus();
    else byId('search').open = true;
  }

  /** The address was edited. */
  followed() {
    this.search.form.write();
    this.search.enable();
    if (!this.results) return;
    this.narrow({});
    const { ann } = this.state();
    if (ann && (!this.row || ionKey(this.row) !== ann)) this.table.find(ann);
  }

  /** The look or the settings have changed. */
  write() {
    if (this.results) this.state().run = this.results.wish !== null && this.search.linked(this.results.wish);
    this.detail.paint();
    this.layers();
  }
}
