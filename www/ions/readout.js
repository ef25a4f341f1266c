import { make, say } from '../app/dom.js';
import { formatValue } from '../app/format.js';
import { CHANNELS } from './ion-list.js';

/**
 * The line that says what lies under the cursor, in the file's own coordinates, and the cursor itself.
 *
 * The pointer is followed while it is over the image; otherwise the pinned cursor counts, which a click or the arrow
 * keys move. Only the pinned cursor is spoken.
 */
export class Readout {
  /**
   * @param {object} parts elements `x`, `y`, `value`, `spoken`, `cursor`; the `view`; `layers` (a function to planes
   *   with their channels), `origin` (a function to the file's coordinates of pixel 0, 0), `coloured` (a function),
   *   `pinnedAt` (called when the pinned cursor moves)
   */
  constructor(parts) {
    Object.assign(this, parts);
    this.pinned = null;
    this.hovered = null;
    this.speech = 0;
    this.view.addEventListener('hover', (event) => {
      this.hovered = event.detail;
      this.update();
    });
    this.view.addEventListener('pick', (event) => event.detail && this.pin(event.detail.x, event.detail.y));
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
    this.pinnedAt();
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
    this.pinnedAt();
  }

  /** The file's own coordinates of a pixel. */
  inFile({ x, y }) {
    const [x0, y0] = this.origin();
    return { x: x + x0, y: y + y0 };
  }

  /** Puts the cursor's frame around its pixel. */
  place() {
    const { cursor } = this.elements;
    const { source, camera } = this.view;
    cursor.hidden = !this.pinned || !source;
    if (cursor.hidden) return;
    const [sx, sy] = camera.toScreen(this.pinned.x + 0.5, this.pinned.y + 0.5);
    const across = Math.max(11, camera.zoom + 2);
    const down = Math.max(11, camera.zoomY + 2);
    cursor.style.transform = `translate(${(sx - across / 2).toFixed(2)}px, ${(sy - down / 2).toFixed(2)}px)`;
    cursor.style.width = `${across}px`;
    cursor.style.height = `${down}px`;
  }

  /** Writes the line anew; also called when the image has changed. */
  update() {
    const at = this.hovered ?? this.pinned;
    const { x, y, value } = this.elements;
    const layers = this.layers();
    if (!at || layers.length === 0) {
      for (const element of [x, y]) say(element, '–');
      value.replaceChildren();
      return;
    }
    const place = this.inFile(at);
    say(x, String(place.x));
    say(y, String(place.y));
    const values = layers.map(({ plane }) => plane.valueAt(at.x, at.y));
    // All images have the same mask: no data is said once.
    if (values.every((v) => v !== v)) value.replaceChildren('no data');
    else if (!this.coloured()) value.replaceChildren(formatValue(values[0]));
    else value.replaceChildren(...values.map((v, i) => make('span', CHANNELS[layers[i].channel].name, `${CHANNELS[layers[i].channel].letter} ${formatValue(v)}`)));
  }

  sentence() {
    if (!this.pinned) return '';
    const { x, y } = this.inFile(this.pinned);
    const values = [...this.elements.value.childNodes].map((node) => node.textContent).join(', ');
    return [`x ${x}, y ${y}`, values].filter(Boolean).join('; ');
  }
}
