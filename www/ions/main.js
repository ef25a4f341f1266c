import { formatBytes } from '../app/bytes.js';
import { Colorbar } from '../app/colorbar.js';
import { byId, Notice, say } from '../app/dom.js';
import { Histogram } from '../app/histogram.js';
import { Permalink } from '../app/permalink.js';
import { showLink } from '../app/share.js';
import { watchDrops } from '../app/sources.js';
import { View } from '../view/view.js';
import { Annotations } from './annotations/tab.js';
import { Controls } from './controls.js';
import { showCost } from './cost.js';
import { Display } from './display.js';
import { Exports } from './export.js';
import { headline, showFacts } from './facts.js';
import { IonList } from './ion-list.js';
import { bindKeys } from './keyboard.js';
import { OpenPanel, STORAGE } from './open-panel.js';
import { PackingPanel } from './packing-panel.js';
import { isLocal, nameOf } from './pair.js';
import { Readout } from './readout.js';
import { refusal } from './refusal.js';
import { RegionTool } from './region.js';
import { ScaleBar } from './scale-bar.js';
import { Session } from './session.js';
import { shownNames, SpectrumPanel } from './spectrum-panel.js';
import { formatFragment, parseFragment, settle } from './state.js';

/** The budget of the core that lists what is kept, before anything is opened. */
const INITIAL_MEMORY = 256 * 2 ** 20;

/** What an error says when packing could go on without a spectrum. */
const BAD_SPECTRUM = /\bspectrum \d/;

/** The panels of which a phone shows one at a time. */
const TABS = ['ions', 'annotations', 'spectrum', 'display', 'data'];

/** Those of them that share the left side of a large screen. */
const SIDES = ['ions', 'annotations'];

/** The ion page: builds its parts and connects them. */
class Page {
  constructor() {
    this.state = parseFragment(location.hash);
    this.permalink = new Permalink(() => formatFragment(this.state));
    this.notice = new Notice(byId('notice'));
    this.session = new Session(INITIAL_MEMORY);
    this.view = new View(byId('view'));
    this.view.camera.most = 256;
    /** The place of a link, until there is an image to apply it to. */
    this.place = this.placeOf(this.state);
    this.linked = false;
    this.turn = 0;
    this.build();
    this.connect();
    bindKeys(this);
    this.write();
    this.open.list();
  }

  placeOf({ c, z }) {
    return c ? { c, z } : null;
  }

  build() {
    const { session, view } = this;
    const state = () => this.state;
    const changed = () => this.changed();
    const wanted = () => this.show();
    const failed = (error) => this.failed(error);
    this.display = new Display({
      view,
      histogram: new Histogram(byId('histogram'), (limits) => this.controls.adjust(limits)),
      colorbar: new Colorbar(byId('colorbar'), byId('colorbar-canvas'), byId('colorbar-scale'), byId('colorbar-unit')),
      state,
      nameOf: (mz) => this.annotations.nameOf(mz),
      shown: (limits) => this.controls.showLimits(limits),
    });
    this.controls = new Controls({ state, display: this.display, changed, wanted });
    this.ions = new IonList({ state, changed: () => this.ionsChanged(), planeOf: (at) => this.planeOf(at), nameOf: (mz) => this.annotations.nameOf(mz), away: () => this.annotations.leads() !== null });
    this.region = new RegionTool(view, { changed: () => this.regionChanged(), mode: (tool) => this.drawing(tool) });
    this.readout = new Readout({
      view,
      elements: Object.fromEntries(['x', 'y', 'value'].map((name) => [name, byId(`read-${name}`)]).concat([['spoken', byId('spoken')], ['cursor', byId('cursor')]])),
      layers: () => this.display.layers,
      origin: () => session.info?.origin ?? [0, 0],
      coloured: () => this.state.rgb,
      pinnedAt: () => this.pinned(),
    });
    this.spectrum = new SpectrumPanel({
      session, state, changed, failed,
      place: () => this.pixelPlace(),
      region: () => this.regionPlace(),
      pick: (mz) => this.ions.add(Number(mz.toFixed(5))),
      leading: () => this.annotations.leads()?.ions ?? null,
    });
    this.annotations = new Annotations({
      session, state, changed, wanted, failed,
      memory: () => session.memory - session.share,
      how: () => this.how(),
      layer: (mz, ppm, channel) => this.layer(mz, ppm, channel),
      turnTo: (name) => this.tab(name),
      dataset: () => nameOf(session.source),
    });
    this.open = new OpenPanel({ session, state, changed, failed, notice: this.notice, open: (source) => this.load(source) });
    this.packing = new PackingPanel({ session, resume: () => this.load(session.source), discard: () => this.open.clean() });
    this.bar = new ScaleBar(byId('scale-bar'));
    this.exports = new Exports({ session, state, display: this.display, spectrum: this.spectrum, nameOf: (mz) => this.annotations.keyOf(mz), failed });
    this.menu = this.exports.menu;
  }

  connect() {
    const { session, view } = this;
    session.addEventListener('opened', () => this.opened());
    session.addEventListener('busy', () => byId('stage').classList.toggle('loading', session.running > 0));
    session.addEventListener('retired', ({ detail }) => this.retired(detail.reason));
    view.addEventListener('move', () => this.moved());
    view.addEventListener('lost', () => this.notice.show('info', 'The graphics context was lost; the image returns when the browser restores it.'));
    view.addEventListener('restored', () => this.notice.hide());
    watchDrops(document.documentElement, { files: (files) => this.annotations.files(files) || this.open.files(files), text: (text) => this.open.address(text) });
    const click = (id, run) => byId(id).addEventListener('click', run);
    click('zoom-in', () => view.zoomBy(1.5));
    click('zoom-out', () => view.zoomBy(1 / 1.5));
    click('zoom-fit', () => view.fit());
    click('share', () => this.share());
    click('help', () => byId('help-dialog').showModal());
    click('draw-rect', () => this.region.use('rect'));
    click('draw-polygon', () => this.region.use('polygon'));
    click('region-clear', () => this.region.clear());
    click('keep-now', () => this.keepNow());
    click('skip', (event) => {
      event.preventDefault();
      byId('view').focus();
    });
    for (const button of document.querySelectorAll('[data-close]')) button.addEventListener('click', () => button.closest('dialog').close());
    for (const tab of TABS) click(`tab-${tab}`, () => this.tab(tab));
    for (const side of SIDES) click(`side-${side}`, () => this.tab(side));
    addEventListener('hashchange', () => this.follow());
  }

  /** Opens what the address names. */
  start() {
    this.linked = true;
    this.tab(this.state.side);
    if (this.state.src) this.open.address(this.state.src);
  }

  /** Opens a source; what was open before goes. @param {boolean} [skipBad] packs without the spectra that cannot be read */
  async load(source, skipBad = false) {
    const memory = this.open.budget();
    if (memory === null) {
      byId('sources').open = true;
      byId('memory').focus();
      return;
    }
    this.notice.hide();
    // What was set for one dataset does not fit another; a link means what it says.
    if (!this.linked && source !== this.session.source) Object.assign(this.state, { sl: 0, lim: [null, null, null], xr: null, c: null, z: 0, pol: '', ana: '', rp: 0, ann: '' });
    this.linked = false;
    // What goes on is more to the point than what could be opened.
    byId('sources').open = false;
    this.readout.clear();
    this.region.clear();
    this.display.show([], null);
    this.spectrum.clear();
    this.annotations.closed();
    say(byId('title'), nameOf(source));
    document.title = `${nameOf(source)} · Sectile`;
    const opening = this.session.open(source, { memory, keep: this.open.keep, skipBad, first: ({ slices }) => this.first(slices) });
    this.changed();
    try {
      await opening;
    } catch (error) {
      if (this.session.source !== source || this.session.opening) return;
      this.changed();
      if (error.name === 'AbortError') return;
      byId('sources').open = true;
      // A core that has stopped has told its own story, with a way on.
      if (this.session.stopped) return;
      this.notice.show('error', refusal(error, memory), source.pair && !skipBad && BAD_SPECTRUM.test(error.message) ? { label: 'Leave out bad spectra', run: () => this.load(source, true) } : undefined);
    }
  }

  async opened() {
    const { info, source } = this.session;
    showFacts(info, STORAGE && Boolean(source.pair) && !info.kept);
    say(byId('title'), headline(nameOf(source), info));
    this.spectrum.opened();
    this.open.list();
    if (info.packed) this.toldPacked(info);
    if (this.state.mz.length === 0) this.firstIon();
    this.annotations.opened();
    await this.show();
  }

  toldPacked({ bytes, kept }) {
    const where = kept ? 'It is kept on this computer.' : 'It goes when this page is closed; Export saves it.';
    say(byId('status'), `Packed into a store of ${formatBytes(bytes)}. ${where}`);
  }

  /** Keeps the store that was packed here, after the fact. */
  async keepNow() {
    try {
      await this.session.core().keep();
      Object.assign(this.session.info, { kept: true });
      showFacts(this.session.info, false);
      say(byId('status'), 'The store is kept on this computer.');
      byId('sources').open = true;
      await this.open.list();
    } catch (error) {
      this.failed(error);
    }
  }

  /** Without a wish, the ion that is the brightest on average. */
  firstIon() {
    const { mz, mean } = this.session.mean;
    let top = -1;
    for (let i = 0; i < mz.length; i += 1) if (mean[i] > (top < 0 ? 0 : mean[top])) top = i;
    if (top >= 0) this.state.mz = [Number(mz[top].toFixed(5))];
    settle(this.state);
  }

  /** What a dataset with these z slices is going to be asked for as soon as it is open. */
  first(slices) {
    this.controls.slices(slices);
    return { ions: this.wanted.ions, how: this.how() };
  }

  /**
   * The ions whose images are wanted, and which of them are shown in which channel: those of the chosen annotation, all its
   * isotopes of which one is shown, or those of the list.
   */
  get wanted() {
    const lead = this.annotations.leads();
    if (lead) return { ions: lead.ions, layers: [{ index: lead.shown, channel: 0 }] };
    const { mz, rgb, ch, at } = this.state;
    const chosen = rgb ? ch.flatMap((index, channel) => (index === null ? [] : [{ at: index, channel }])) : mz[at] === undefined ? [] : [{ at, channel: 0 }];
    return { ions: chosen.map((one) => this.ion(one.at)), layers: chosen.map(({ channel }, index) => ({ index, channel })) };
  }

  how() {
    const { sl, norm } = this.state;
    return { slice: sl, normalise: norm };
  }

  ion(at) {
    const { mz, tol, unit } = this.state;
    return { mz: mz[at], [unit]: tol };
  }

  planeOf(at) {
    return this.session.info ? this.session.held(this.ion(at), this.how()) : null;
  }

  /** Fetches the images that are wanted and shows them. */
  async show() {
    this.write();
    this.changed();
    const { session, wanted } = this;
    if (!session.info) return;
    this.turn += 1;
    const { turn } = this;
    if (wanted.ions.length === 0) {
      this.display.show([], null);
      this.shown();
      return;
    }
    try {
      const lead = this.annotations.leads();
      const planes = await session.images(wanted.ions, this.how());
      if (turn !== this.turn) return;
      // The colour scale is laid out by the room that it has.
      byId('stage').classList.remove('empty');
      this.display.show(wanted.layers.map(({ index, channel }) => ({ plane: planes[index], channel })), session.info.pixelSize);
      if (lead) this.annotations.images(planes);
      this.shown();
    } catch (error) {
      if (turn !== this.turn || error.name === 'AbortError') return;
      this.display.show([], null);
      this.shown();
      if (!session.stopped) this.failed(error);
    }
  }

  /** The images on show have changed. */
  shown() {
    const { layers } = this.display;
    const lead = this.annotations.leads();
    const names = lead ? this.display.title(lead.ions[lead.shown].mz, 'm/z ') : shownNames(this.state);
    const empty = layers.length > 0 && layers.every(({ plane }) => plane.empty);
    byId('no-signal').hidden = !empty;
    const { ppm, da } = layers[0]?.plane.ion ?? {};
    if (empty) say(byId('no-signal'), `No signal at ${names} ± ${ppm ? `${ppm} ppm` : `${Number(da.toPrecision(4))} Da`}`);
    byId('view').setAttribute('aria-label', `Ion image${names ? ` of ${names}` : ''}. Arrow keys move the cursor, plus and minus zoom, question mark shows all keys.`);
    showCost(layers.map(({ plane }) => plane));
    this.readout.update();
    this.readout.place();
    this.write();
    this.changed();
    if (this.place) this.moved();
  }

  /** The address was edited: follows it. */
  follow() {
    const before = this.state;
    this.state = parseFragment(location.hash);
    this.place = this.placeOf(this.state);
    if (this.state.src && (before.src !== this.state.src || before.ibd !== this.state.ibd)) {
      this.start();
      return;
    }
    if (!this.place) this.view.fit();
    this.annotations.followed();
    this.tab(this.state.side);
    this.spectrum.plot.zoom(this.state.xr);
    if (this.session.info) this.spectrum.choose(this.state.sp);
    this.show();
  }

  moved() {
    const { camera, source } = this.view;
    this.bar.show(source ? camera : null, this.session.info?.pixelSize?.[0] ?? null);
    if (!source) return;
    if (this.place) {
      const { c, z } = this.place;
      this.place = null;
      this.view.move((inner) => {
        inner.zoomTo(Math.min(inner.largest, z));
        inner.centre(c[0] + 0.5, c[1] + 0.5);
      });
      return;
    }
    Object.assign(this.state, camera.fitted ? { c: null, z: 0 } : { c: [camera.x - 0.5, camera.y - 0.5], z: camera.zoom });
    say(byId('zoom-level'), `${Number((camera.zoom * this.view.ratio).toPrecision(2))}×`);
    this.permalink.touch();
  }

  write() {
    this.ions.write();
    this.controls.write();
    this.spectrum.write();
  }

  /** Something that the page shows or the address holds has changed. */
  changed() {
    const { session, display } = this;
    byId('welcome').hidden = session.info !== null || session.opening !== null;
    byId('stage').classList.toggle('empty', display.layers.length === 0);
    byId('export').disabled = !session.info;
    for (const id of ['draw-rect', 'draw-polygon']) byId(id).disabled = !session.info;
    this.controls.write();
    this.annotations.write();
    this.permalink.touch();
  }

  /** An ion of the list is wanted. */
  ionsChanged() {
    this.annotations.leave();
    this.show();
  }

  /** Puts an ion of an annotation into the three-colour image, at the tolerance at which it was found. */
  layer(mz, ppm, channel) {
    Object.assign(this.state, { tol: ppm, unit: 'ppm' });
    this.ions.layer(mz, channel);
  }

  pixelPlace() {
    const { pinned } = this.readout;
    if (!pinned) return null;
    const { x, y } = this.readout.inFile(pinned);
    return { ...pinned, name: `pixel_${x}_${y}`, text: `Pixel ${x}, ${y}` };
  }

  regionPlace() {
    const { shape } = this.region;
    if (!shape) return null;
    const [x0, y0, x1, y1] = shape.rect ?? [];
    return { shape, name: 'region', text: shape.rect ? `Region of ${x1 - x0} × ${y1 - y0} pixels` : `Polygon with ${shape.polygon.length} corners` };
  }

  pinned() {
    this.region?.stretch(this.readout.pinned);
    this.spectrum?.follow('pixel');
  }

  regionChanged() {
    byId('region-clear').disabled = !this.region.shape;
    if (this.region.shape) this.spectrum.choose('region');
    else if (this.spectrum.kind === 'region') this.spectrum.choose(this.state.sp);
  }

  drawing(tool) {
    byId('image').classList.toggle('drawing', tool !== '');
    for (const name of ['rect', 'polygon']) byId(`draw-${name}`).setAttribute('aria-pressed', String(tool === name));
    byId('drawing-hint').hidden = tool === '';
    if (tool === 'polygon') say(byId('drawing-hint'), 'Click the corners; a double click or Enter closes the polygon');
    if (tool === 'rect') say(byId('drawing-hint'), this.region.corner ? 'Move the cursor to the opposite corner, then press r' : 'Drag a rectangle');
  }

  failed(error) {
    this.notice.show('error', refusal(error, this.session.memory));
  }

  retired(reason) {
    const text = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`.replace(/\.?$/, '.');
    this.notice.show('error', `${text} What is on screen stays; a new core opens the dataset again.`, { label: 'Start a new core', run: () => this.load(this.session.source) });
    byId('packing').hidden = true;
  }

  /** Brings a panel into sight: on a large screen ions or annotations at the left, on a phone any. */
  tab(name) {
    if (SIDES.includes(name)) this.state.side = name;
    const { side } = this.state;
    Object.assign(byId('main').dataset, { tab: name, side });
    for (const tab of TABS) byId(`tab-${tab}`).setAttribute('aria-pressed', String(tab === name));
    for (const one of SIDES) byId(`side-${one}`).setAttribute('aria-pressed', String(one === side));
    if (side === 'annotations') this.annotations.seen();
    this.display.restyle();
    this.permalink.touch();
  }

  share() {
    return showLink(this.permalink.write(), Boolean((this.session.source && isLocal(this.session.source)) || this.annotations.search.list));
  }
}

try {
  const page = new Page();
  /** For tests and the console; nothing in the page reads it. */
  globalThis.sectile = page;
  page.start();
} catch (error) {
  new Notice(byId('notice')).show('error', error.message);
  throw error;
}
