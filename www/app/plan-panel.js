import { formatBytes } from './bytes.js';
import { make } from './dom.js';
import { formatCount, formatSeconds } from './format.js';

/** What the run will cost, before it runs. */
export class PlanPanel {
  constructor(element) {
    this.element = element;
  }

  /** Shows a sentence in place of a plan. */
  clear(text) {
    this.element.replaceChildren(make('p', 'hint', text));
  }

  /** Shows a refusal. */
  refuse(text) {
    this.element.replaceChildren(make('p', 'refusal', text));
  }

  /** Shows a plan. */
  show(plan) {
    const list = make('dl', 'figures');
    const add = (name, value, detail = '') => {
      const row = make('div');
      const data = make('dd', '', value);
      if (detail) data.append(make('small', '', detail));
      row.append(make('dt', '', name), data);
      list.append(row);
    };
    add('Sections', formatCount(plan.sections), plan.sections === 1 ? 'all at once' : `${formatCount(plan.rows)} rows each`);
    add('Slots', formatCount(plan.slots), formatBytes(plan.slot_bytes));
    add('Requests', formatCount(plan.requests));
    add('To fetch', formatBytes(plan.payload_bytes), plan.seconds > 0 ? `about ${formatSeconds(plan.seconds)}` : '');
    add('Peak', formatBytes(plan.peak_bytes), `of ${formatBytes(plan.memory)}`);
    const meter = make('meter');
    Object.assign(meter, { min: 0, max: plan.memory, value: plan.peak_bytes });
    meter.setAttribute('aria-label', 'Planned peak memory against the budget');
    add('Minimum', formatBytes(plan.minimum_bytes));
    this.element.replaceChildren(list, meter, ...(plan.warnings ?? []).map((text) => make('p', 'warning', text)));
  }
}

/** How far a task is. */
export class Progress {
  /** @param {HTMLElement} box @param {HTMLProgressElement} bar @param {HTMLElement} text */
  constructor(box, bar, text) {
    Object.assign(this, { box, bar, text });
    this.rate = 0;
    this.last = null;
  }

  /** Starts, with nothing known yet. */
  begin(text) {
    this.box.hidden = false;
    this.bar.removeAttribute('value');
    this.rate = 0;
    this.last = null;
    this.text.textContent = text;
  }

  /** @param {{requests: number, bytes_payload: number, planned_bytes: number, seconds: number, bytes_fetched: number}} tally */
  update(tally) {
    const { bytes_payload: done, planned_bytes: planned } = tally;
    if (planned > 0) {
      this.bar.max = planned;
      this.bar.value = Math.min(done, planned);
    }
    const left = this.left(tally);
    const parts = [
      planned > 0 ? `${formatBytes(done)} of ${formatBytes(planned)}` : formatBytes(tally.bytes_fetched),
      `${formatCount(tally.requests)}${tally.planned_requests ? ` of ${formatCount(tally.planned_requests)}` : ''} requests`,
    ];
    if (left > 0.5) parts.push(`${formatSeconds(Math.ceil(left))} left`);
    this.text.textContent = parts.join(' · ');
  }

  /** Seconds left at a rate that follows the last few seconds. */
  left(tally) {
    const now = { at: tally.seconds, bytes: tally.bytes_payload };
    this.last ??= now;
    const passed = now.at - this.last.at;
    if (passed > 0.25) {
      const rate = (now.bytes - this.last.bytes) / passed;
      this.rate = this.rate === 0 ? rate : this.rate + (rate - this.rate) * Math.min(1, passed / 3);
      this.last = now;
    }
    const rate = this.rate || now.bytes / Math.max(now.at, 1e-3);
    return rate > 0 && now.at > 0.3 ? (tally.planned_bytes - now.bytes) / rate : 0;
  }

  /** Ends with a sentence; the bar is filled, or stays where it stopped. */
  end(text, filled = true) {
    this.box.hidden = text === '';
    if (filled) this.bar.value = this.bar.max;
    else if (!this.bar.hasAttribute('value')) this.bar.value = 0;
    this.text.textContent = text;
  }
}
