import { byId, make } from '../app/dom.js';
import { watchKeys } from '../app/keys.js';

/** The keys of the ion page, and the help dialog that lists them. @param {any} page */
export function bindKeys(page) {
  const { view, readout, controls, ions, region, spectrum, menu, annotations } = page;
  const move = (dx, dy) => (event) => readout.step(event.shiftKey ? 10 * dx : dx, event.shiftKey ? 10 * dy : dy);
  const zoom = (factor) => () => view.zoomBy(factor, ...pinnedOnScreen(page));
  const bindings = [
    { keys: ['ArrowLeft'], run: move(-1, 0) },
    { keys: ['ArrowRight'], run: move(1, 0) },
    { keys: ['ArrowUp'], run: move(0, -1) },
    { keys: ['ArrowDown'], run: move(0, 1) },
    { keys: ['+', '='], does: 'Zoom in', shown: '+', run: zoom(1.5) },
    { keys: ['-', '_'], does: 'Zoom out', shown: '−', run: zoom(1 / 1.5) },
    { keys: ['0'], does: 'Whole image', run: () => view.fit() },
    { keys: ['['], does: 'Previous ion', run: () => ions.step(-1) },
    { keys: [']'], does: 'Next ion', run: () => ions.step(1) },
    { keys: ['m'], does: 'Type an m/z', run: () => byId('mz').focus() },
    { keys: ['a'], does: 'Annotations, or back to the ions', run: () => page.tab(page.state.side === 'annotations' ? 'ions' : 'annotations') },
    { keys: ['/'], does: 'Filter the annotations', run: () => annotations.toFilter() },
    { keys: ['PageUp'], does: 'Previous z slice', shown: 'Page up', run: () => controls.stepSlice(-1) },
    { keys: ['PageDown'], does: 'Next z slice', shown: 'Page down', run: () => controls.stepSlice(1) },
    { keys: ['p'], does: 'Spectrum of the pixel under the cursor', run: () => spectrum.choose('pixel') },
    { keys: ['r'], does: 'Region: a rectangle; at the cursor its first and then its second corner', run: () => (readout.pinned ? region.corners(readout.pinned) : region.use('rect')) },
    { keys: ['g'], does: 'Region: a polygon', run: () => region.use('polygon') },
    { keys: ['n'], does: 'Next normalisation', run: () => controls.nextNormalisation() },
    { keys: ['z'], does: 'Clip hotspots or not', run: () => controls.hotspot(!page.state.hot) },
    { keys: ['s'], does: 'Next stretch', run: () => controls.nextStretch() },
    { keys: ['c'], does: 'Next colours', run: () => controls.nextColormap() },
    { keys: ['i'], does: 'Invert colours', run: () => controls.set({ inv: !page.state.inv }) },
    { keys: ['l'], does: 'Spectrum: logarithmic or not', run: () => spectrum.toggleLog() },
    { keys: ['w'], does: 'Spectrum: zoom to the ion', run: () => spectrum.zoomToIon() },
    { keys: ['e'], does: 'Export', run: () => menu.open() },
    // Elsewhere Enter belongs to what has the focus.
    { keys: ['Enter'], when: () => document.activeElement === byId('view'), run: () => region.close() },
    { keys: ['Escape'], does: 'Cancel, or close', shown: 'Esc', run: () => escape(page) },
    { keys: ['?'], does: 'This help', run: () => byId('help-dialog').showModal() },
  ];
  watchKeys(bindings, () => document.querySelector('dialog[open]') !== null);
  const rows = [{ shown: '← → ↑ ↓', does: 'Move the cursor; with Shift by 10. In the spectrum: the next peak; in the annotations: the next row' }, ...bindings.filter(({ does }) => does)];
  byId('help-keys').append(...rows.map(({ keys, shown, does }) => {
    const row = make('div');
    const term = make('dt');
    term.append(make('kbd', '', shown ?? keys[0]));
    row.append(term, make('dd', '', does));
    return row;
  }));
}

/** Zoom keys keep the pinned cursor in place when it is on screen. */
function pinnedOnScreen({ view, readout }) {
  const { pinned } = readout;
  const { camera } = view;
  if (!pinned) return [];
  const [sx, sy] = camera.toScreen(pinned.x + 0.5, pinned.y + 0.5);
  return sx >= 0 && sy >= 0 && sx <= camera.width && sy <= camera.height ? [sx, sy] : [];
}

function escape({ menu, annotations, region, session, spectrum, notice, readout }) {
  if (menu.isOpen) menu.close();
  else if (annotations.save.menu.isOpen) annotations.save.menu.close();
  else if (region.tool !== '') region.use(region.tool);
  else if (session.opening) session.cancel();
  else if (spectrum.cancel()) return;
  else if (!byId('notice').hidden) notice.hide();
  else if (region.shape) region.clear();
  else readout.clear();
}
