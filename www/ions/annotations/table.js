/** The table of annotations: only the rows in sight exist, so that any number of them scrolls smoothly. */
import { make } from '../../app/dom.js';
import { COLUMNS } from './columns.js';
import { ionKey } from './formula.js';
import { DOWNWARDS, named } from './rows.js';

/** Rows beyond either edge of what is seen. */
const BEYOND = 6;

/** Molecules that a row names when the mouse rests on it. */
const TOLD = 12;

/** Elements cannot be higher than browsers draw; from here on a row's place is a part of the whole. */
const HIGHEST = 8e6;

/**
 * An ARIA grid of which one row can be chosen. The grid has the focus, and says by `aria-activedescendant` which row
 * is meant. Up, down, page, home and end move the choice, Enter confirms it.
 */
export class AnnotationTable {
  /**
   * @param {{grid: HTMLElement, head: HTMLElement, body: HTMLElement, room: HTMLElement}} parts
   * @param {{chosen(row: object, held: boolean): void, entered(row: object): void, sort(by: string, down: boolean): void}} on
   *   `held`: the choice goes on moving, as with a key held down
   */
  constructor(parts, on) {
    Object.assign(this, parts, { on });
    /** @type {import('./rows.js').Row[]} */
    this.rows = [];
    this.at = -1;
    this.first = -1;
    this.last = -1;
    /** @type {Map<number, HTMLElement>} rows that exist, by their place */
    this.live = new Map();
    this.height = 0;
    this.writeHead();
    this.body.addEventListener('scroll', () => this.draw(), { passive: true });
    this.room.addEventListener('click', (event) => this.clicked(event));
    this.grid.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.measure()).observe(this.body);
  }

  writeHead() {
    this.grid.setAttribute('aria-colcount', String(COLUMNS.length));
    this.head.replaceChildren(...COLUMNS.map(({ key, title, hint, kind = '' }, i) => {
      const cell = make('div', `cell c-${key} ${kind}`.trim());
      cell.setAttribute('role', 'columnheader');
      cell.setAttribute('aria-colindex', String(i + 1));
      cell.dataset.key = key;
      const button = make('button', '', title);
      button.type = 'button';
      button.title = `${hint}. Press to sort.`;
      button.addEventListener('click', () => this.sortBy(key));
      cell.append(button);
      return cell;
    }));
  }

  sortBy(key) {
    const again = this.by === key;
    this.on.sort(key, again ? !this.down : DOWNWARDS.has(key));
  }

  /** Marks the column by which the rows are sorted. */
  mark(by, down) {
    Object.assign(this, { by, down });
    for (const cell of this.head.children) {
      if (cell.dataset.key === by) cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
    }
  }

  /** Shows other rows; the chosen one stays chosen where it is among them. @param {object[]} rows @param {object | null} chosen */
  show(rows, chosen) {
    this.rows = rows;
    this.at = chosen ? rows.indexOf(chosen) : -1;
    this.grid.setAttribute('aria-rowcount', String(rows.length + 1));
    this.clear();
    this.measure();
    if (this.at >= 0) this.reveal(this.at);
    else this.body.scrollTop = 0;
    this.draw();
    this.active();
  }

  clear() {
    for (const element of this.live.values()) element.remove();
    this.live.clear();
    [this.first, this.last] = [-1, -1];
  }

  /** The height of a row and of the room, by the style of the page at hand. */
  measure() {
    const height = Number.parseFloat(getComputedStyle(this.grid).getPropertyValue('--row')) || 28;
    if (height !== this.height) this.clear();
    this.height = height;
    this.whole = Math.min(HIGHEST, this.rows.length * height);
    this.room.style.height = `${this.whole}px`;
    this.draw();
  }

  /** The first row in sight, with a fraction, by where the body is scrolled to. */
  get top() {
    const { scrollTop, clientHeight } = this.body;
    if (this.whole >= this.rows.length * this.height) return scrollTop / this.height;
    const least = this.rows.length - clientHeight / this.height;
    return (scrollTop / Math.max(1, this.whole - clientHeight)) * least;
  }

  scrollTo(row) {
    const { clientHeight } = this.body;
    if (this.whole >= this.rows.length * this.height) this.body.scrollTop = row * this.height;
    else this.body.scrollTop = (row / (this.rows.length - clientHeight / this.height)) * (this.whole - clientHeight);
  }

  /** Makes the rows in sight, and removes those that are out of it. */
  draw() {
    const seen = Math.ceil(this.body.clientHeight / this.height);
    const { top } = this;
    const first = Math.max(0, Math.floor(top) - BEYOND);
    const last = Math.min(this.rows.length, Math.floor(top) + seen + 1 + BEYOND);
    const shift = this.body.scrollTop - top * this.height;
    if (first === this.first && last === this.last && shift === this.shift) return;
    for (const [at, element] of this.live) {
      if (at >= first && at < last) continue;
      element.remove();
      this.live.delete(at);
    }
    const fresh = [];
    for (let at = first; at < last; at += 1) {
      let element = this.live.get(at);
      if (!element) {
        element = this.row(at);
        this.live.set(at, element);
        fresh.push(element);
      }
      element.style.transform = `translateY(${at * this.height + shift}px)`;
    }
    this.room.append(...fresh);
    Object.assign(this, { first, last, shift });
    this.active();
  }

  row(at) {
    const row = this.rows[at];
    const element = make('div', at === this.at ? 'grid-row chosen' : 'grid-row');
    element.setAttribute('role', 'row');
    element.setAttribute('aria-rowindex', String(at + 2));
    element.setAttribute('aria-selected', String(at === this.at));
    element.id = `annotation-${at}`;
    element.dataset.at = String(at);
    element.append(...COLUMNS.map(({ key, kind = '', cells }, i) => {
      const cell = make('div', `cell c-${key} ${kind}`.trim());
      cell.setAttribute('role', 'gridcell');
      cell.setAttribute('aria-colindex', String(i + 1));
      cell.append(...cells(row));
      return cell;
    }));
    const molecules = named(row);
    if (molecules.length > 0) element.title = molecules.slice(0, TOLD).map(({ name, id }) => name || id).join('\n');
    return element;
  }

  clicked(event) {
    const at = event.target.closest('[role="row"]')?.dataset.at;
    if (at === undefined) return;
    this.grid.focus({ preventScroll: true });
    this.choose(Number(at), false);
  }

  /** Chooses a row by its place. */
  choose(at, held) {
    if (this.rows.length === 0) return;
    this.at = Math.min(this.rows.length - 1, Math.max(0, at));
    this.reveal(this.at);
    this.draw();
    this.active();
    this.on.chosen(this.rows[this.at], held);
  }

  /** Says which row is chosen, to eyes and to screen readers. */
  active() {
    for (const [at, element] of this.live) {
      element.classList.toggle('chosen', at === this.at);
      element.setAttribute('aria-selected', String(at === this.at));
    }
    if (this.live.has(this.at)) this.grid.setAttribute('aria-activedescendant', `annotation-${this.at}`);
    else this.grid.removeAttribute('aria-activedescendant');
  }

  /** Scrolls the table, and nothing else, so far that a row is seen. */
  reveal(at) {
    const seen = this.body.clientHeight / this.height;
    const { top } = this;
    if (at < top) this.scrollTo(at);
    else if (at + 1 > top + seen) this.scrollTo(at + 1 - seen);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || ![this.grid, this.body].includes(event.target)) return;
    const page = Math.max(1, Math.floor(this.body.clientHeight / this.height) - 1);
    const from = this.at;
    const to = {
      ArrowUp: from < 0 ? 0 : from - 1, ArrowDown: from + 1, PageUp: from - page, PageDown: from < 0 ? 0 : from + page, Home: 0, End: this.rows.length - 1,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.choose(to, event.repeat);
    } else if (event.key === 'Enter' && this.at >= 0) {
      event.preventDefault();
      this.on.entered(this.rows[this.at]);
    }
  }

  /** Chooses the row of an ion. @param {string} ion as in a link @returns {boolean} whether it is among the rows */
  find(ion) {
    const at = this.rows.findIndex((row) => ionKey(row) === ion);
    if (at >= 0) this.choose(at, false);
    return at >= 0;
  }
}
