import { byId, download, make, Notice, say } from './dom.js';
import { Colorbar } from './colorbar.js';
import { Controls } from './controls.js';
import { Display } from './display.js';
import { exportFits, exportName, exportPng } from './export.js';
import { formatValue } from './format.js';
import { Histogram } from './histogram.js';
import { watchKeys } from './keys.js';
import { Layers } from './layers.js';
import { Readout } from './readout.js';
import { Session } from './session.js';
import { showLink } from './share.js';
import { StackPanel } from './stack-panel.js';
import { Permalink } from './permalink.js';
import { formatFragment, parseFragment } from './state.js';
import { watchDrops } from './sources.js';
import { View } from '../view/view.js';

/** The stack page: builds its parts and connects them. */
class Page {
  constructor() {
    this.state = parseFragment(location.hash);
    this.permalink = new Permalink(() => formatFragment(this.state));
    this.notice = new Notice(byId('notice'));
    this.session = new Session();
    this.view = new View(byId('view'));
    /** The place of a link, until there is an image to apply it to. */
    this.place = this.state.c ? { c: this.state.c, z: this.state.z } : null;
    this.build();
    this.connect();
    this.keyboard();
    this.controls.write();
    this.panel.write();
    this.display.restyle();
    this.changed();
  }

  build() {
    const state = () => this.state;
    const changed = () => this.changed();
    const failed = (error) => this.failed(error);
    this.display = new Display({
      view: this.view,
      histogram: new Histogram(byId('histogram'), (limits) => this.controls.adjust(limits)),
      colorbar: new Colorbar(byId('colorbar'), byId('colorbar-canvas'), byId('colorbar-scale'), byId('colorbar-unit')),
      state,
      zscale: (samples) => this.session.compute.zscale(samples),
      shown: (limits) => this.controls.showLimits(limits),
    });
    this.controls = new Controls({ state, display: this.display, changed });
    this.layers = null;
    this.panel = new StackPanel({
      session: this.session, state, layers: () => this.layers, view: this.view, changed, failed, notice: this.notice,
    });
    this.layers = new Layers({ session: this.session, display: this.display, state, changed, failed, budget: () => this.panel.budget() });
    this.readout = new Readout({
      view: this.view,
      elements: Object.fromEntries(
        [...['x', 'y', 'value', 'count', 'sky', 'degrees'].map((name) => [name, byId(`read-${name}`)]), ['spoken', byId('spoken')], ['cursor', byId('cursor')]],
      ),
      layer: () => this.display.plane,
      counts: () => (this.session.served ? { valueAt: (x, y) => this.display.plane?.points.get(`${x},${y}`)?.count } : this.session.planes.get('count')),
      sky: (x, y) => this.sky(x, y),
    });
    this.layers.label();
  }

  connect() {
    const { session, view } = this;
    session.addEventListener('opened', () => {
      this.display.exposures = session.stack.exposures.filter((info) => info.ok).length;
      this.readout.clear();
    });
    session.addEventListener('layers', () => this.layers.refresh());
    session.addEventListener('painted', ({ detail }) => {
      this.display.painted(detail.plane, detail.rect);
      this.exportable();
      this.readout.update();
    });
    view.addEventListener('move', () => this.moved());
    view.addEventListener('lost', () => this.notice.show('info', 'The graphics context was lost; the image returns when the browser restores it.'));
    view.addEventListener('restored', () => this.notice.hide());
    watchDrops(document.documentElement, {
      files: (files) => this.panel.openFiles(files),
      text: (text) => this.panel.openText(text),
    });
    const click = (id, run) => byId(id).addEventListener('click', run);
    click('zoom-in', () => view.zoomBy(1.5));
    click('zoom-out', () => view.zoomBy(1 / 1.5));
    click('zoom-one', () => view.actual());
    click('zoom-fit', () => view.fit());
    click('share', () => this.share());
    click('help', () => byId('help-dialog').showModal());
    click('skip', (event) => {
      event.preventDefault();
      byId('view').focus();
    });
    for (const button of document.querySelectorAll('[data-close]')) {
      button.addEventListener('click', () => button.closest('dialog').close());
    }
    this.connectExport();
    for (const tab of ['stack', 'display']) click(`tab-${tab}`, () => this.tab(tab));
    addEventListener('hashchange', () => this.follow());
  }

  /** The position of a pixel: by the core from the headers, or as the server of a dataset tells it. */
  async sky(x, y) {
    const { served, compute, stack } = this.session;
    if (served) return (this.display.plane && (await served.point(this.display.plane, x, y))?.sky) ?? null;
    return compute && stack?.hasSky ? compute.sky(x, y) : null;
  }

  connectExport() {
    const menu = byId('export-menu');
    byId('export').addEventListener('click', () => this.toggleExport());
    byId('export-png').addEventListener('click', () => this.export('png'));
    byId('export-fits').addEventListener('click', () => this.export('fits'));
    document.addEventListener('pointerdown', (event) => {
      if (!menu.hidden && !event.target.closest('.menu')) this.toggleExport(false);
    });
    menu.addEventListener('keydown', (event) => {
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
      event.preventDefault();
      event.stopPropagation();
      const items = [...menu.querySelectorAll('button')];
      const at = items.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1);
      items[(at + items.length) % items.length].focus();
    });
  }

  keyboard() {
    const { view } = this;
    const move = (dx, dy) => (event) => this.readout.step(event.shiftKey ? 10 * dx : dx, event.shiftKey ? 10 * dy : dy);
    const bindings = [
      { keys: ['ArrowLeft'], run: move(-1, 0) },
      { keys: ['ArrowRight'], run: move(1, 0) },
      { keys: ['ArrowUp'], run: move(0, 1) },
      { keys: ['ArrowDown'], run: move(0, -1) },
      { keys: ['+', '='], does: 'Zoom in', shown: '+', run: () => view.zoomBy(1.5, ...this.zoomPoint()) },
      { keys: ['-', '_'], does: 'Zoom out', shown: '−', run: () => view.zoomBy(1 / 1.5, ...this.zoomPoint()) },
      { keys: ['0'], does: 'Whole image', run: () => view.fit() },
      { keys: ['1'], does: 'One image pixel per screen pixel', run: () => view.actual() },
      { keys: ['['], does: 'Previous layer or exposure', run: () => this.layers.step(-1) },
      { keys: [']'], does: 'Next layer or exposure', run: () => this.layers.step(1) },
      { keys: ['s'], does: 'Next stretch', run: () => this.controls.nextStretch() },
      { keys: ['c'], does: 'Next colours', run: () => this.controls.nextColormap() },
      { keys: ['i'], does: 'Invert colours', run: () => this.controls.set({ inv: !this.state.inv }) },
      { keys: ['z'], does: 'Next rule for the limits', run: () => this.controls.nextRule() },
      { keys: ['e'], does: 'Export', run: () => this.toggleExport(true) },
      { keys: ['Escape'], does: 'Cancel, or close', shown: 'Esc', run: () => this.escape() },
      { keys: ['?'], does: 'This help', run: () => byId('help-dialog').showModal() },
    ];
    watchKeys(bindings, () => document.querySelector('dialog[open]') !== null);
    const rows = [{ shown: '← → ↑ ↓', does: 'Move the cursor; with Shift by 10' }, ...bindings.filter(({ does }) => does)];
    byId('help-keys').append(...rows.map(({ keys, shown, does }) => {
      const row = make('div');
      const term = make('dt');
      term.append(make('kbd', '', shown ?? keys[0]));
      row.append(term, make('dd', '', does));
      return row;
    }));
  }

  /** Zoom keys keep the pinned cursor in place when it is on screen. */
  zoomPoint() {
    const { pinned } = this.readout;
    const { camera } = this.view;
    if (!pinned) return [];
    const [sx, sy] = camera.toScreen(pinned.x + 0.5, pinned.y + 0.5);
    return sx >= 0 && sy >= 0 && sx <= camera.width && sy <= camera.height ? [sx, sy] : [];
  }

  escape() {
    if (!byId('export-menu').hidden) this.toggleExport(false);
    else if (this.session.task !== '') this.panel.cancel();
    else if (!byId('notice').hidden) this.notice.hide();
    else this.readout.clear();
  }

  /** Opens what the address names. */
  async start() {
    if (this.state.src.length === 0) return;
    const { run, v } = this.state;
    await this.panel.openText(this.state.src.join('\n'));
    if (!this.session.stack || !this.panel.planned || this.session.served) return;
    if (run) await this.panel.run();
    if (v.startsWith('exp-')) await this.layers.choose(v);
  }

  /** The address was edited: follows it. */
  follow() {
    const before = this.state;
    this.state = parseFragment(location.hash);
    this.place = this.state.c ? { c: this.state.c, z: this.state.z } : null;
    this.controls.write();
    this.panel.write();
    if (before.src.join('\n') !== this.state.src.join('\n') || (this.state.run && !before.run)) {
      this.start();
      return;
    }
    this.layers.choose(this.state.v);
    this.display.analyse();
    if (!this.place) this.view.fit();
    this.moved();
  }

  moved() {
    const { camera, source } = this.view;
    if (!source) {
      this.session.served?.look(null);
      return;
    }
    if (this.place) {
      const { c, z } = this.place;
      this.place = null;
      this.view.move((inner) => {
        inner.zoomTo(Math.min(64, z));
        inner.centre(c[0] + 0.5, c[1] + 0.5);
      });
      return;
    }
    Object.assign(this.state, camera.fitted ? { c: null, z: 0 } : { c: [camera.x - 0.5, camera.y - 0.5], z: camera.zoom });
    if (this.session.served?.look(source, camera, this.view.ratio)) this.view.invalidate();
    const shown = camera.zoom * this.view.ratio;
    say(byId('zoom-level'), `${Number(shown.toPrecision(2))}×`);
    this.permalink.touch();
  }

  /** Something that the page shows or the address holds has changed. */
  changed() {
    const { plane } = this.display;
    byId('welcome').hidden = this.session.entries.length > 0;
    byId('stage').classList.toggle('empty', !plane);
    this.exportable();
    this.panel.enable();
    this.panel.used(null);
    this.readout.place();
    this.readout.update();
    this.permalink.touch();
  }

  exportable() {
    const { plane } = this.display;
    byId('export').disabled = !plane || plane.exact.length === 0;
  }

  failed(error) {
    this.notice.show('error', error?.message || String(error));
  }

  tab(name) {
    byId('main').dataset.tab = name;
    for (const tab of ['stack', 'display']) byId(`tab-${tab}`).setAttribute('aria-pressed', String(tab === name));
    this.display.restyle();
  }

  toggleExport(wanted = byId('export-menu').hidden) {
    if (byId('export').disabled) return;
    const { plane } = this.display;
    const { served } = this.session;
    byId('export-menu').hidden = !wanted;
    byId('export').setAttribute('aria-expanded', String(wanted));
    if (!wanted) {
      byId('export').focus();
      return;
    }
    const part = served && this.part() ? 'part on screen' : 'whole layer';
    say(byId('fits-what'), served ? `${part}, from the server` : 'values as computed');
    if (served) say(byId('png-step'), `${part}, from the server`);
    else this.describe(plane);
    byId('export-fits').focus();
  }

  describe(plane) {
    const step = `steps of ${formatValue(plane.exportScale().bscale)} ${plane.unit ?? ''}`.trim();
    say(byId('png-step'), plane.complete ? step : `${step}; what has arrived`);
  }

  /** The part of the image on screen; null when that is all of it. */
  part() {
    const { camera, source } = this.view;
    const seen = camera.visible();
    return !seen || (seen.x1 - seen.x0 === source.width && seen.y1 - seen.y0 === source.height) ? null : seen;
  }

  async export(kind) {
    this.toggleExport(false);
    const { plane } = this.display;
    try {
      if (this.session.served) {
        const file = await this.panel.served.meanwhile('The server makes the file.', this.session.served.cutout(plane, kind, this.part()));
        download(file, exportName(plane, this.panel.title, kind));
        return;
      }
      if (!this.session.compute) throw new Error('The core is not running: start a new one first.');
      const stem = this.panel.title.replace(/\.[a-z0-9]+( and|$)/i, '$1');
      if (kind === 'png') await exportPng(this.session.compute, plane, stem);
      else await exportFits(this.session.compute, plane, this.session.planes.get('count'), stem);
    } catch (error) {
      this.failed(error);
    }
  }

  share() {
    return showLink(this.permalink.write(), this.session.entries.some((entry) => entry.file));
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
