import { formatBytes, parseBytes } from './bytes.js';
import { byId, make, say } from './dom.js';
import { ExposureList, shortName } from './exposures.js';
import { formatCount, formatSeconds } from './format.js';
import { indexOf } from './layers.js';
import { PlanPanel, Progress } from './plan-panel.js';
import { datasetAddress } from './served/address.js';
import { OPENING, ServedPanel } from './served/panel.js';
import { addresses, fileEntries, urlEntries } from './sources.js';

/** The Stack panel: what is opened, the budget, the plan, the run. */
export class StackPanel {
  /** @param {object} parts `session`, `state`, `layers`, `view`, `changed`, `failed`, `notice` */
  constructor(parts) {
    Object.assign(this, parts);
    this.list = new ExposureList(byId('exposures'), byId('exposures-common'), byId('exposures-count'), (index) => this.layers().choose(`exp-${index + 1}`));
    this.plan = new PlanPanel(byId('plan'));
    this.progress = new Progress(byId('progress'), byId('progress-bar'), byId('progress-text'));
    this.served = new ServedPanel({
      session: this.session, state: this.state, layers: this.layers, notice: this.notice, failed: this.failed,
      budget: () => this.budget(), reopen: () => this.openText(byId('urls').value),
      opening: (text) => this.progress.begin(text),
    });
    this.planned = false;
    this.turn = 0;
    this.opening = 0;
    this.bind();
    this.listen();
  }

  bind() {
    byId('open').addEventListener('click', () => this.openText(byId('urls').value));
    byId('urls').addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.openText(byId('urls').value);
    });
    for (const id of ['choose', 'welcome-files']) byId(id).addEventListener('click', () => byId('files').click());
    byId('welcome-paste').addEventListener('click', () => {
      byId('sources').open = true;
      byId('urls').focus();
    });
    byId('files').addEventListener('change', (event) => {
      this.openFiles(event.target.files);
      event.target.value = '';
    });
    byId('memory').addEventListener('change', (event) => this.setting({ mem: event.target.value.trim() }));
    byId('in-flight').addEventListener('change', (event) => {
      const wanted = Math.round(Number(event.target.value)) || 6;
      this.setting({ fly: Math.min(64, Math.max(1, wanted)) });
    });
    byId('hdu').addEventListener('change', (event) => this.setting({ hdu: event.target.value.trim() }, true));
    byId('mask').addEventListener('change', (event) => this.setting({ mask: event.target.value.trim() }, true));
    byId('mask-bits').addEventListener('change', (event) => this.setting({ bits: event.target.value.trim() || '1' }, true));
    byId('ignore-wcs').addEventListener('change', (event) => this.setting({ nowcs: event.target.checked }, true));
    byId('run').addEventListener('click', () => this.run());
    byId('cancel').addEventListener('click', () => this.cancel());
  }

  listen() {
    const { session } = this;
    session.addEventListener('exposure', ({ detail }) => this.list.set(detail.index, detail.info));
    session.addEventListener('busy', () => this.busy());
    session.addEventListener('progress', ({ detail }) => {
      this.progress.update(detail);
      this.used(detail);
    });
    session.addEventListener('retired', ({ detail }) => {
      this.planned = false;
      this.enable();
      this.notice.show('error', `${sentence(detail.reason)}. What is on screen stays; a new core reads the headers again.`, {
        label: 'Start a new core',
        run: () => this.replan(),
      });
    });
  }

  /** Writes the state into the fields. */
  write() {
    const { mem, fly, hdu, mask, bits, nowcs, src } = this.state();
    byId('memory').value = mem;
    byId('in-flight').value = String(fly);
    byId('hdu').value = hdu;
    byId('mask').value = mask;
    byId('mask-bits').value = bits;
    byId('mask-bits').disabled = !mask;
    byId('ignore-wcs').checked = nowcs;
    if (src.length > 0) byId('urls').value = src.join('\n');
  }

  /** The budget in bytes. @throws {RangeError} */
  budget() {
    return parseBytes(this.state().mem);
  }

  async setting(part, reopen = false) {
    Object.assign(this.state(), part);
    this.write();
    this.changed();
    if (this.session.entries.length === 0) this.checkBudget();
    else if (reopen) await this.open(this.session.entries);
    else await this.replan();
  }

  checkBudget() {
    const field = byId('memory');
    let text = '';
    try {
      this.budget();
    } catch (error) {
      text = error.message;
    }
    field.setAttribute('aria-invalid', String(text !== ''));
    byId('memory-error').hidden = text === '';
    say(byId('memory-error'), text);
    return text === '';
  }

  /** Opens addresses as pasted. */
  async openText(text) {
    const written = addresses(text);
    if (written.length === 0) {
      this.notice.show('warning', 'There is no address to open: paste one a line.');
      byId('urls').focus();
      return;
    }
    const datasets = written.map((line) => datasetAddress(line, document.baseURI));
    if (datasets.some(Boolean)) {
      await this.openServed(written, datasets);
      return;
    }
    let entries;
    try {
      entries = urlEntries(written, document.baseURI);
    } catch (error) {
      this.failed(error);
      return;
    }
    byId('urls').value = written.join('\n');
    this.state().src = written;
    await this.open(entries);
  }

  /** Opens chosen or dropped files. */
  async openFiles(files) {
    const entries = fileEntries(files);
    if (entries.length === 0) return;
    this.state().src = [];
    this.state().run = false;
    await this.open(entries);
  }

  /** Reads the headers and makes a plan. @returns {Promise<boolean>} whether it can run */
  async open(entries) {
    this.notice.hide();
    if (!this.checkBudget()) return false;
    const { hdu, mask, bits, nowcs } = this.state();
    this.planned = false;
    this.opening += 1;
    const { opening } = this;
    this.list.clear('');
    byId('exposures-hint').hidden = true;
    this.plan.clear('Reading headers…');
    this.progress.begin('Reading headers…');
    this.name(entries);
    this.changed();
    try {
      await this.session.open(entries, {
        memory: this.budget(), hdu, mask: mask ? { hdu: mask, bits } : undefined, ignoreWcs: nowcs,
      });
    } catch (error) {
      if (opening !== this.opening) return false;
      this.progress.end('');
      this.plan.clear('No plan: the stack is not open.');
      if (error.name !== 'AbortError') this.failed(this.list.refusal ?? error);
      return false;
    }
    this.progress.end('');
    this.list.setAll(this.session.stack.exposures);
    byId('sources').open = false;
    const warnings = this.session.stack.warnings ?? [];
    if (warnings.length > 0) this.notice.show('warning', warnings.join(' '));
    this.layers().label();
    return this.replan();
  }

  /** Opens the dataset that one address means. */
  async openServed(written, [address]) {
    if (written.length > 1) {
      this.notice.show('warning', 'The address of a dataset stands alone: it holds all its exposures.');
      return;
    }
    byId('urls').value = written[0];
    Object.assign(this.state(), { src: written, run: false });
    this.notice.hide();
    if (!this.checkBudget()) return;
    this.opening += 1;
    const { opening } = this;
    this.list.clear('');
    byId('exposures-hint').hidden = true;
    this.entitle(address.name);
    this.plan.clear('Open a stack to see what it will cost.');
    this.progress.begin(OPENING);
    this.changed();
    try {
      await this.session.openServed(written[0], address, this.served.how(address));
    } catch (error) {
      if (opening !== this.opening) return;
      this.progress.end('');
      if (error.name !== 'AbortError') this.failed(error);
      return;
    }
    this.progress.end('');
    const { stack, served } = this.session;
    this.list.setAll(stack.exposures);
    byId('sources').open = false;
    this.entitle(served.info.title || served.info.name);
    if (stack.warnings.length > 0) this.notice.show('warning', stack.warnings.join(' '));
    await this.served.begin(address);
  }

  name(entries) {
    const first = entries[0].url ?? entries[0].file.name;
    const name = shortName(decodeSafely(first));
    this.entitle(entries.length === 1 ? name : `${name} and ${entries.length - 1} more`);
  }

  entitle(title) {
    this.title = title;
    say(byId('title'), this.title);
    document.title = `${this.title} · Sectile`;
  }

  /** Plans anew with the present settings. @returns {Promise<boolean>} whether it can run */
  async replan() {
    this.planned = false;
    this.turn += 1;
    const { turn } = this;
    if (this.session.served) {
      this.checkBudget();
      this.enable();
      return false;
    }
    if (!this.checkBudget() || !this.session.stack) {
      if (this.session.stack) this.plan.refuse('No plan: the memory budget is not a number.');
      this.enable();
      return false;
    }
    try {
      const plan = await this.session.plan(this.budget(), this.state().fly);
      if (turn !== this.turn) return false;
      this.plan.show(plan);
      this.planned = true;
    } catch (error) {
      if (turn !== this.turn) return false;
      this.plan.refuse(error.message);
    }
    this.enable();
    return this.planned;
  }

  enable() {
    const { task, stack } = this.session;
    byId('run').disabled = task !== '' || !stack || !this.planned || this.session.served !== null;
    byId('cancel').disabled = task === '';
    byId('main').dataset.task = task;
    this.served.write();
    this.layers()?.label();
    const { v } = this.state();
    this.list.mark(this.session.planes.has(v) ? indexOf(v) : -1, task === '');
  }

  busy() {
    const { task } = this.session;
    if (task === 'exposure') this.progress.begin('Loading one exposure…');
    if (task === '' && this.task === 'exposure') this.progress.end('');
    this.task = task;
    this.enable();
  }

  /** Computes the median. */
  async run() {
    if (byId('run').disabled) return;
    this.notice.hide();
    this.state().run = this.state().src.length > 0;
    if (this.state().v !== 'count') this.state().v = 'median';
    this.changed();
    this.progress.begin('Starting…');
    say(byId('status'), 'Running.');
    try {
      const tally = await this.session.run({
        memory: this.budget(),
        inFlight: this.state().fly,
        visible: () => (this.view.source && !this.view.camera.fitted ? this.view.camera.visible() : null),
      });
      const text = `Done in ${formatSeconds(tally.seconds)}: ${formatBytes(tally.bytes_fetched)} in ${formatCount(tally.requests)} requests.`;
      this.progress.end(text);
      say(byId('status'), text);
    } catch (error) {
      this.progress.end(error.name === 'AbortError' ? 'Cancelled. What has arrived stays on screen.' : 'Stopped by an error.', false);
      say(byId('status'), error.name === 'AbortError' ? 'Cancelled.' : '');
      // A retired core has told its own story, with a way on.
      if (error.name !== 'AbortError' && !this.session.retired) this.failed(error);
    }
    this.layers().refresh();
  }

  /** Stops what is running. */
  cancel() {
    this.session.cancel();
  }

  /** Memory used: by the core against its budget, and by this page for the pictures. */
  used(tally) {
    if (this.session.served) {
      this.served.used();
      return;
    }
    const peak = tally?.peak_bytes ?? this.peak ?? 0;
    this.peak = Math.max(this.session.task === '' ? 0 : this.peak ?? 0, peak);
    if (peak === 0) return;
    const memory = tally?.memory || this.session.memory;
    const meter = byId('memory-meter');
    Object.assign(meter, { max: memory, value: Math.min(memory, peak), hidden: false });
    const { held } = this.session;
    byId('memory-used').replaceChildren(
      make('span', '', 'Peak memory '),
      `${formatBytes(peak)} of ${formatBytes(memory)}`,
      make('small', '', held > 0 ? ` + pictures ${formatBytes(held)}` : ''),
    );
  }
}

/** With a capital first letter and no full stop. */
function sentence(text) {
  return (text.charAt(0).toUpperCase() + text.slice(1)).replace(/\.$/, '');
}

function decodeSafely(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
