import { formatBytes } from '../app/bytes.js';
import { byId, download, say } from '../app/dom.js';
import { Menu } from './menu.js';
import { nameOf, stem } from './pair.js';
import { pictureOf } from './picture.js';

/** A name for a file of an ion: dataset, m/z, ending. */
export function exportName(dataset, part, extension) {
  return `${safe(dataset)}_${part}.${extension}`;
}

/** A dataset's name without its ending, as every file system takes it. */
export function safe(dataset) {
  return stem(dataset).replace(/[^\p{L}\p{N}._+-]+/gu, '_').replace(/^[._]+/, '').slice(0, 80) || 'dataset';
}

/** How an ion is named in a file: what it is called, its m/z, and what the values were divided by. */
export function ionPart({ mz, normalise, slice }, name = '') {
  return [name, `mz${mz.toFixed(4)}`, normalise === 'none' ? '' : normalise, slice > 0 ? `slice${slice + 1}` : ''].filter(Boolean).join('_');
}

/** The Export menu, and the spectrum's own table. */
export class Exports {
  /** @param {object} parts `session`, `state` (a function), `display`, `spectrum`, `nameOf` (what an m/z is called, or ""), `failed` */
  constructor(parts) {
    Object.assign(this, parts);
    this.menu = new Menu(byId('export'), byId('export-menu'), () => this.opening());
    for (const kind of ['png', 'alpha', 'csv', 'picture', 'store']) byId(`export-${kind}`).addEventListener('click', () => this.chosen(kind));
    byId('plot-csv').addEventListener('click', () => this.spectrumTable());
  }

  opening() {
    const { layers } = this.display;
    for (const kind of ['png', 'alpha', 'csv', 'picture']) byId(`export-${kind}`).disabled = layers.length === 0;
    // Only what was packed here is in this browser's storage.
    const { source, info } = this.session;
    const here = Boolean(source.pair || source.kept);
    byId('export-store').disabled = !here;
    say(byId('export-store-note'), here ? `the packed .sectile file, ${formatBytes(info.bytes)}` : 'it lies where it was opened from');
  }

  async chosen(kind) {
    this.menu.close();
    try {
      if (kind === 'store') await this.store();
      else if (kind === 'picture') await this.picture();
      else await this.images(kind);
    } catch (error) {
      this.failed(error);
    }
  }

  get dataset() {
    return nameOf(this.session.source);
  }

  /** 16-bit PNG or CSV of every ion on show, one file each. Positions in a CSV are those of the file, as in the readout. */
  async images(kind) {
    const { display, session, dataset } = this;
    const core = session.core();
    const { origin } = session.info;
    for (const { plane: { image, ion } } of display.layers) {
      const blob = kind === 'csv' ? await core.csv({ ...image, origin }) : await core.png(image, { alpha: kind === 'alpha' });
      const part = ionPart(ion, this.nameOf(ion.mz));
      download(blob, exportName(dataset, kind === 'alpha' ? `${part}_alpha` : part, kind === 'csv' ? 'csv' : 'png'));
    }
  }

  /** What is on screen, with its scale bar and what the colours mean. */
  async picture() {
    const { display, dataset } = this;
    const layers = display.layers.map((layer) => ({ ...layer, limits: display.limitsOf(layer) }));
    const { ion } = layers[0].plane;
    const part = this.state().rgb ? 'rgb' : ionPart(ion, this.nameOf(ion.mz));
    download(await pictureOf(layers, this.state(), this.session.info.pixelSize), exportName(dataset, `${part}_picture`, 'png'));
  }

  /** The packed store, for another computer or a web server. */
  async store() {
    const { dataset } = this;
    const blob = await this.session.core().store();
    if (!blob) throw new Error('The store is not on this computer: it lies where it was opened from, and can be copied from there.');
    download(blob, `${safe(dataset)}.sectile`);
  }

  spectrumTable() {
    const table = this.spectrum.csv();
    if (table) download(table.blob, exportName(this.dataset, table.name, 'csv'));
  }
}
