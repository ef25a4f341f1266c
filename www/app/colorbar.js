import { make } from './dom.js';
import { formatTick } from './format.js';
import { ticks } from '../view/limits.js';
import { bend } from '../view/stretch.js';

/** The colour scale below the image, with round numbers and the unit. */
export class Colorbar {
  /** @param {HTMLElement} box @param {HTMLCanvasElement} canvas @param {HTMLElement} scale @param {HTMLElement} unit */
  constructor(box, canvas, scale, unit) {
    Object.assign(this, { box, canvas, scale, unit });
    this.drawn = '';
  }

  /** @param {{lo: number, hi: number, stretch: string, unit: string | null, table: Uint8Array}} look */
  show({ lo, hi, stretch, unit, table }) {
    this.box.hidden = false;
    this.unit.textContent = unit ?? '';
    this.paint(table);
    const marks = this.choose(lo, hi, stretch);
    this.scale.replaceChildren(...marks.map(({ value, at }) => {
      const mark = make('span', '', formatTick(value));
      mark.style.left = `${(100 * at).toFixed(2)}%`;
      return mark;
    }));
  }

  /** Ticks that stand far enough apart on the bent scale: bent scales crowd towards the bright end. */
  choose(lo, hi, stretch) {
    const room = Math.max(2, Math.floor(this.scale.clientWidth / 58));
    const span = hi - lo;
    const depths = stretch === 'linear' ? [1] : [1, 0.25, 0.06, 0.015];
    const found = new Map();
    for (const part of depths) {
      for (const value of ticks(lo, lo + span * part, Math.min(room, 6))) {
        found.set(formatTick(value), { value, at: bend(stretch, (value - lo) / span) });
      }
    }
    const marks = [];
    for (const mark of found.values()) {
      if (mark.at > 0.98 || mark.at < 0.02) continue;
      if (marks.every((other) => Math.abs(other.at - mark.at) >= 1 / room)) marks.push(mark);
    }
    return marks;
  }

  hide() {
    this.box.hidden = true;
  }

  paint(table) {
    const key = table.join();
    if (key === this.drawn) return;
    this.drawn = key;
    this.canvas.width = 256;
    this.canvas.height = 1;
    const context = this.canvas.getContext('2d');
    const image = context.createImageData(256, 1);
    for (let i = 0; i < 256; i += 1) {
      image.data.set(table.subarray(3 * i, 3 * i + 3), 4 * i);
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
  }
}
