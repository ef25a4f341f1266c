import { make } from './dom.js';
import { COLORMAPS, colormap } from '../view/colormaps.js';

/** Fills a box with one radio button a colormap. @param {HTMLElement} box @param {(name: string) => void} chosen */
export function swatches(box, chosen) {
  for (const name of COLORMAPS) {
    const label = make('label');
    const radio = make('input');
    Object.assign(radio, { type: 'radio', name: 'colormap', value: name });
    radio.addEventListener('change', () => chosen(name));
    label.append(radio, gradient(name), make('span', '', name));
    box.append(label);
  }
}

function gradient(name) {
  const canvas = make('canvas');
  Object.assign(canvas, { width: 256, height: 1 });
  canvas.setAttribute('aria-hidden', 'true');
  const context = canvas.getContext('2d');
  const image = context.createImageData(256, 1);
  const table = colormap(name);
  for (let i = 0; i < 256; i += 1) image.data.set([...table.subarray(3 * i, 3 * i + 3), 255], 4 * i);
  context.putImageData(image, 0, 0);
  return canvas;
}
