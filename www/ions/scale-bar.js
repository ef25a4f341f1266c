import { say } from '../app/dom.js';

/**
 * The longest bar of 1, 2 or 5 times a power of ten that fits.
 * @param {number} perPixel CSS pixels for one unit
 * @param {number} room CSS pixels there are
 * @param {number} [least] shortest bar in units: 1 where there is nothing between pixels
 * @returns {{length: number, width: number} | null} in units and CSS pixels; null when none fits
 */
export function barLength(perPixel, room, least = 0) {
  if (!(perPixel > 0) || !Number.isFinite(perPixel) || !(room > 0)) return null;
  const most = room / perPixel;
  const power = 10 ** Math.floor(Math.log10(most) + 1e-12);
  const length = [5, 2, 1].map((m) => m * power).find((candidate) => candidate <= most * (1 + 1e-12));
  if (!length || length < least) return null;
  return { length, width: length * perPixel };
}

/** A length in µm as people write it. */
export function lengthText(micrometres) {
  const [value, unit] = micrometres >= 1000 ? [micrometres / 1000, 'mm'] : micrometres < 1 ? [micrometres * 1000, 'nm'] : [micrometres, 'µm'];
  return `${Number(value.toPrecision(3))}\u202f${unit}`;
}

/** The bar over the image: micrometres, or pixels where the file does not state how large one is. */
export class ScaleBar {
  /** @param {HTMLElement} element holds a bar and a text */
  constructor(element) {
    this.element = element;
    this.bar = element.querySelector('i');
    this.text = element.querySelector('span');
  }

  /** @param {import('../view/camera.js').Camera | null} camera @param {number | null} size width of a pixel in µm */
  show(camera, size) {
    const room = camera ? Math.min(160, camera.width * 0.3) : 0;
    // There is no bar shorter than a pixel, however large that is on screen.
    const found = camera && (size ? barLength(camera.zoom / size, room) : barLength(camera.zoom, Math.max(room, Math.min(camera.zoom, camera.width * 0.6)), 1));
    this.element.hidden = !found;
    if (!found) return;
    this.bar.style.width = `${found.width.toFixed(2)}px`;
    say(this.text, size ? lengthText(found.length) : `${found.length} pixel${found.length === 1 ? '' : 's'}`);
    this.element.title = size ? '' : 'The file does not state the size of a pixel';
  }
}
