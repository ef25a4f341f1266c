import { formatBytes, parseBytes } from '../app/bytes.js';
import { byId, make, say } from '../app/dom.js';
import { fromAddress, fromFiles } from './pair.js';

/** Whether the browser gives this page storage of its own, in which stores are kept and from which packing can go on. */
export const STORAGE = Boolean(globalThis.navigator?.storage?.getDirectory);

/** What can be opened: an address, files, or a store kept on this computer. */
export class OpenPanel {
  /** @param {object} parts `state` (a function), `session`, `open` (source → opens it), `changed`, `failed`, `notice` */
  constructor(parts) {
    Object.assign(this, parts);
    byId('open').addEventListener('click', () => this.address(byId('url').value));
    byId('url').addEventListener('keydown', (event) => event.key === 'Enter' && this.address(byId('url').value));
    for (const id of ['choose', 'welcome-files']) byId(id).addEventListener('click', () => byId('files').click());
    byId('welcome-paste').addEventListener('click', () => {
      byId('sources').open = true;
      byId('url').focus();
    });
    byId('files').addEventListener('change', (event) => {
      this.files([...event.target.files]);
      event.target.value = '';
    });
    byId('keep').disabled = !STORAGE;
    if (!STORAGE) byId('keep').parentElement.title = 'This page has no storage of its own: that takes https';
    byId('memory').value = this.state().mem;
    byId('memory').addEventListener('change', (event) => {
      this.state().mem = event.target.value.trim();
      this.budget();
      this.changed();
    });
    byId('kept-clean').addEventListener('click', () => this.clean());
    byId('kept-list').addEventListener('click', (event) => this.clicked(event));
    byId('sources').addEventListener('toggle', () => byId('sources').open && this.list());
  }

  /** Whether a store that is packed now stays on this computer. */
  get keep() {
    return byId('keep').checked;
  }

  /** The budget in bytes; null when what is written is none, which is said. */
  budget() {
    let [bytes, text] = [null, ''];
    try {
      bytes = parseBytes(this.state().mem);
    } catch (error) {
      text = error.message;
    }
    byId('memory').setAttribute('aria-invalid', String(text !== ''));
    byId('memory-error').hidden = text === '';
    say(byId('memory-error'), text);
    return bytes;
  }

  /** Opens an address as typed or dropped. */
  address(text) {
    const [written] = text.split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
    if (!written) {
      this.notice.show('warning', 'There is no address to open: paste that of a .sectile store or an .imzML file.');
      byId('url').focus();
      return;
    }
    const state = this.state();
    if (written !== state.src) state.ibd = '';
    this.attempt(() => fromAddress(written, state.ibd, document.baseURI), written);
  }

  /** Opens chosen or dropped files. */
  files(files) {
    this.attempt(() => fromFiles(files), '');
  }

  attempt(make, src) {
    let source;
    try {
      source = make();
    } catch (error) {
      this.failed(error);
      return;
    }
    this.state().src = src;
    byId('url').value = src;
    this.open(source);
  }

  /** Lists what is kept; nothing where the browser has no such storage. */
  async list() {
    // A core that has stopped is started again by a person, not in passing.
    if (this.session.stopped) return;
    let [kept, left] = [[], { count: 0, bytes: 0 }];
    try {
      const core = this.session.core();
      [kept, left] = await Promise.all([core.kept(), core.leftovers()]);
    } catch {
      // No storage, or not for this page (a private window): then nothing is kept.
    }
    byId('kept').hidden = kept.length === 0 && left.count === 0;
    byId('kept-clean').hidden = left.count === 0;
    say(byId('kept-clean'), `Clean up unfinished packing: ${formatBytes(left.bytes)}`);
    const sum = kept.reduce((total, { bytes }) => total + bytes, 0);
    say(byId('kept-size'), kept.length > 1 ? formatBytes(sum) : '');
    byId('kept-list').replaceChildren(...kept.map(({ name, bytes }) => row(name, bytes)));
  }

  async clicked(event) {
    const button = event.target.closest('button');
    const name = button?.closest('li').dataset.name;
    if (!button) return;
    if (button.classList.contains('open')) {
      this.state().src = '';
      this.open({ kept: name });
      return;
    }
    // The second press means it: a store may have taken an hour to pack.
    if (button.dataset.armed !== 'yes') {
      button.dataset.armed = 'yes';
      button.textContent = 'Remove?';
      button.addEventListener('blur', () => disarm(button), { once: true });
      return;
    }
    try {
      await this.session.core().remove(name);
    } catch (error) {
      this.failed(error);
    }
    await this.list();
    byId('url').focus();
  }

  async clean() {
    try {
      const { removed, bytes } = await this.session.core().clean();
      this.notice.show('info', removed > 0 ? `Removed ${removed} leftover${removed === 1 ? '' : 's'} of unfinished packing: ${formatBytes(bytes)}.` : 'There was nothing to clean up.');
    } catch (error) {
      this.failed(error);
    }
    await this.list();
  }
}

function row(name, bytes) {
  const item = make('li');
  item.dataset.name = name;
  const open = make('button', 'open');
  open.type = 'button';
  open.title = `Open ${name}`;
  open.append(make('span', '', name), make('small', '', formatBytes(bytes)));
  const remove = make('button', 'remove');
  remove.type = 'button';
  remove.setAttribute('aria-label', `Remove ${name}`);
  disarm(remove);
  item.append(open, remove);
  return item;
}

function disarm(button) {
  button.dataset.armed = 'no';
  button.textContent = '×';
}
