import { say } from './dom.js';
import { formatDec, formatRa, formatValue } from './format.js';

/** How long the position of the pixel before may stay, in milliseconds. */
const SLOW = 60;

/**
 * The line that says what lies under the cursor, and the cursor itself.
 *
 * The pointer is followed while it is over the image; otherwise the pinned cursor counts, which a click or the
 * arrow keys move. Only the pinned cursor is spoken.
 */
export class Readout {
  /**
   * @param {object} parts elements `x`, `y`, `value`, `count`, `sky`, `degrees`, `spoken`, `cursor`; the `view`;
   *   `layer()` the plane on show, `counts()` the count plane, `sky` a function to degrees or null
   */
  constructor(parts) {
    Object.assign(this, parts);
    this.pinned = null;
    this.hovered = null;
    this.turn = 0;
    this.speech = 0;
    this.view.addEventListener('hover', (event) => {
      this.hovered = event.detail;
      this.update();
    });
    this.view.addEventListener('pick', (event) => {
      if (event.detail) this.pin(event.detail.x, event.detail.y);
    });
    this.view.addEventListener('move', () => this.place());
  }

  /** Pins the cursor to a pixel, and speaks it. */
  pin(x, y) {
    this.pinned = { x, y };
    this.hovered = null;
    this.place();
    this.update();
    clearTimeout(this.speech);
    this.speech = setTimeout(() => say(this.elements.spoken, this.sentence()), 350);
  }

  /** Moves the pinned cursor, starting in the middle of the view. */
  step(dx, dy) {
    const { source, camera } = this.view;
    if (!source) return;
    const from = this.pinned ?? { x: Math.floor(camera.x) - dx, y: Math.floor(camera.y) - dy };
    const x = Math.min(source.width - 1, Math.max(0, from.x + dx));
    const y = Math.min(source.height - 1, Math.max(0, from.y + dy));
    this.view.reveal(x, y);
    this.pin(x, y);
  }

  /** Removes the cursor. */
  clear() {
    this.pinned = null;
    this.hovered = null;
    this.place();
    this.update();
  }

  /** Puts the cursor's frame around its pixel. */
  place() {
    const { cursor } = this.elements;
    const { source, camera } = this.view;
    cursor.hidden = !this.pinned || !source;
    if (cursor.hidden) return;
    const [sx, sy] = camera.toScreen(this.pinned.x + 0.5, this.pinned.y + 0.5);
    const side = Math.max(11, camera.zoom + 2);
    cursor.style.transform = `translate(${(sx - side / 2).toFixed(2)}px, ${(sy - side / 2).toFixed(2)}px)`;
    cursor.style.width = `${side}px`;
    cursor.style.height = `${side}px`;
  }

  /** Writes the line anew; also called when the layer has changed. */
  update() {
    const at = this.hovered ?? this.pinned;
    const { x, y, value, count, sky, degrees } = this.elements;
    if (!at || !this.view.source) {
      for (const element of [x, y]) say(element, '–');
      for (const element of [value, count, sky, degrees]) say(element, '');
      return;
    }
    say(x, String(at.x));
    say(y, String(at.y));
    say(value, this.valueText(at));
    say(count, this.countText(at));
    this.locate(at);
  }

  valueText({ x, y }) {
    const plane = this.layer();
    const v = plane?.valueAt(x, y);
    if (v === undefined) return plane?.absent ?? 'not fetched yet';
    return plane.unit && v === v ? `${formatValue(v)} ${plane.unit}` : formatValue(v);
  }

  countText({ x, y }) {
    const n = this.counts()?.valueAt(x, y);
    return n === undefined ? '' : `N ${n}`;
  }

  /** Asks for the sky position; only the latest answer counts. */
  async locate({ x, y }) {
    this.turn += 1;
    const { turn } = this;
    let answer = null;
    // A position that is slow to come must not be taken for that of the pixel before.
    const slow = setTimeout(() => {
      for (const element of [this.elements.sky, this.elements.degrees]) if (turn === this.turn) say(element, '');
    }, SLOW);
    try {
      answer = await this.sky(x, y);
    } catch {
      // Without a core there is no position to show; the notice already says so.
    }
    clearTimeout(slow);
    if (turn !== this.turn) return;
    // Whoever knows the position may have told the value too.
    say(this.elements.value, this.valueText({ x, y }));
    say(this.elements.count, this.countText({ x, y }));
    say(this.elements.sky, answer ? `${formatRa(answer[0])}  ${formatDec(answer[1])}` : '');
    say(this.elements.degrees, answer ? `${answer[0].toFixed(6)}°, ${answer[1].toFixed(6)}°` : '');
  }

  sentence() {
    const { x, y } = this.pinned ?? { x: 0, y: 0 };
    const { value, count, sky } = this.elements;
    return [`x ${x}, y ${y}`, value.textContent, count.textContent, sky.textContent].filter(Boolean).join('; ');
  }
}
