/** Saving results: tables, the file that this page opens again, and all images of the rows on show. */
import { formatCount, formatSeconds } from '../../app/format.js';
import { byId, download, say } from '../../app/dom.js';
import { safe } from '../export.js';
import { Menu } from '../menu.js';
import { archive, writeTo } from './archive.js';
import { csvOf, linesOf } from './csv.js';

export class Save {
  /**
   * @param {object} parts `results` (a function to {rows, name, csv, json} or null), `shown` (a function to the rows on
   *   show), `images` (row, signal → PNGs; null where there is no dataset), `failed`, `open` (asks for a file of results)
   */
  constructor(parts) {
    Object.assign(this, parts);
    this.writing = null;
    this.menu = new Menu(byId('save'), byId('save-menu'), () => this.opening());
    for (const kind of ['shown', 'csv', 'json', 'zip', 'open']) byId(`save-${kind}`).addEventListener('click', () => this.chosen(kind));
    byId('saving-cancel').addEventListener('click', () => this.cancel());
  }

  opening() {
    const shown = this.shown().length;
    const all = this.results()?.rows.length ?? 0;
    say(byId('save-shown-note'), `${formatCount(shown)} by the filters`);
    say(byId('save-csv-note'), `${formatCount(all)}, at any FDR`);
    byId('save-shown').disabled = shown === 0;
    byId('save-csv').disabled = all === 0;
    const possible = this.possible();
    byId('save-zip').disabled = !possible || shown === 0 || this.writing !== null;
    say(byId('save-zip-note'), possible ? '16-bit PNG of every isotope, one ZIP' : 'open the dataset for its images');
  }

  async chosen(kind) {
    this.menu.close();
    try {
      const { rows, name, csv, json } = this.results();
      if (kind === 'shown') download(await this.table(), `${safe(name)}_annotations_filtered.csv`);
      else if (kind === 'csv') download(csv ?? csvOf(rows), `${safe(name)}_annotations.csv`);
      else if (kind === 'json') download(json, `${safe(name)}_annotations.json`);
      else if (kind === 'zip') await this.zip(this.shown(), `${safe(name)}_images.zip`);
      else this.open();
    } catch (error) {
      if (error.name !== 'AbortError') this.failed(error);
    }
  }

  /** The rows on show as a table: lines of that of the core, where there is one. */
  async table() {
    const { rows, csv } = this.results();
    if (!csv) return csvOf(this.shown());
    const places = new Map(rows.map((row, i) => [row, i]));
    return linesOf(csv, this.shown().map((row) => places.get(row)));
  }

  /** Writes the images of rows; what goes on is shown, and can be cancelled. */
  async zip(rows, name) {
    const ending = new AbortController();
    this.writing = ending;
    const began = performance.now();
    const progress = (done) => this.progress(done, rows.length, began);
    try {
      const write = (signal) => {
        byId('saving').hidden = false;
        progress({ rows: 0, images: 0 });
        return archive(rows, { images: this.images, signal, progress });
      };
      await writeTo(write, name, ending.signal, download);
    } finally {
      if (this.writing === ending) this.writing = null;
      byId('saving').hidden = true;
    }
  }

  progress({ rows, images }, total, began) {
    byId('saving-bar').value = total > 0 ? rows / total : 0;
    const left = rows > 0 ? ((performance.now() - began) / 1000) * (total / rows - 1) : 0;
    const parts = [`${formatCount(rows)} of ${formatCount(total)} ions`, `${formatCount(images)} images`, ...(left > 1 ? [`${formatSeconds(Math.ceil(left))} left`] : [])];
    say(byId('saving-text'), parts.join(' · '));
  }

  /** Stops the writing of images. @returns {boolean} whether there was one */
  cancel() {
    if (!this.writing) return false;
    this.writing.abort(new DOMException('cancelled', 'AbortError'));
    return true;
  }
}
