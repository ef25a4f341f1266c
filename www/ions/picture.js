import { formatTick } from '../app/format.js';
import { colormap } from '../view/colormaps.js';
import { ticks } from '../view/limits.js';
import { bend } from '../view/stretch.js';
import { CHANNELS, mzText } from './ion-list.js';
import { aspectOf } from './plane.js';
import { barLength, lengthText } from './scale-bar.js';

/** About how wide the image in a saved picture is. */
const WIDTH = 1000;
const FOOT = 92;
const FONT = '20px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';

/**
 * A picture for a slide: the image as shown, on black, with its scale bar, and below it what the colours mean.
 * @param {{plane: import('./plane.js').IonPlane, channel: number, limits: {lo: number, hi: number}}[]} layers
 * @param {{rgb: boolean, s: string, cm: string, inv: boolean}} look @param {[number, number] | null} pixelSize
 * @returns {Promise<Blob>} a PNG of 8 bits a channel
 */
export async function pictureOf(layers, look, pixelSize) {
  const { width, height } = layers[0].plane;
  const aspect = aspectOf(pixelSize);
  const across = Math.max(1, Math.round(WIDTH / Math.max(width, (height / aspect) * 0.8)));
  const size = [width * across, Math.max(1, Math.round((height * across) / aspect))];
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [Math.max(640, size[0]), size[1] + FOOT];
  const context = canvas.getContext('2d');
  context.fillStyle = '#000';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingEnabled = false;
  const left = Math.floor((canvas.width - size[0]) / 2);
  context.drawImage(await createImageBitmap(paint(layers, look)), left, 0, ...size);
  bar(context, left, size, across, pixelSize?.[0] ?? null);
  context.font = FONT;
  if (look.rgb) legend(context, layers, size[1]);
  else scale(context, layers[0], look, size[1], canvas.width);
  return new Promise((done) => canvas.toBlob(done, 'image/png'));
}

/** The colours of every pixel; no data is transparent. */
export function paint(layers, { rgb, s, cm, inv }) {
  const { width, height } = layers[0].plane;
  const image = new ImageData(width, height);
  const table = colormap(cm, inv);
  const level = ({ plane, limits: { lo, hi } }, i) => bend(s, (plane.values[i] - lo) / (hi - lo));
  for (let i = 0; i < width * height; i += 1) {
    if (layers.every(({ plane }) => plane.values[i] !== plane.values[i])) continue;
    image.data[4 * i + 3] = 255;
    if (!rgb) {
      const entry = Math.min(255, Math.floor(level(layers[0], i) * 256));
      image.data.set(table.subarray(3 * entry, 3 * entry + 3), 4 * i);
      continue;
    }
    for (const layer of layers) if (layer.plane.values[i] === layer.plane.values[i]) image.data[4 * i + layer.channel] = Math.round(255 * level(layer, i));
  }
  return image;
}

function bar(context, left, [width, height], across, size) {
  const found = size ? barLength(across / size, width * 0.3) : barLength(across, width * 0.3, 1);
  if (!found) return;
  const text = size ? lengthText(found.length) : `${found.length} px`;
  context.font = FONT;
  context.fillStyle = 'rgb(0 0 0 / 0.6)';
  const room = Math.max(found.width, context.measureText(text).width) + 20;
  context.fillRect(left + 16, height - 58, room, 44);
  context.fillStyle = '#fff';
  context.fillRect(left + 16 + (room - found.width) / 2, height - 50, found.width, 5);
  context.textAlign = 'center';
  context.fillText(text, left + 16 + room / 2, height - 23);
  context.textAlign = 'left';
}

function scale(context, { plane, limits: { lo, hi } }, { s, cm, inv }, top, width) {
  const table = colormap(cm, inv);
  const [x, length] = [24, width - 260];
  for (let i = 0; i < length; i += 1) {
    const entry = 3 * Math.min(255, Math.floor((i / length) * 256));
    context.fillStyle = `rgb(${table[entry]} ${table[entry + 1]} ${table[entry + 2]})`;
    context.fillRect(x + i, top + 20, 1, 18);
  }
  context.fillStyle = '#fff';
  context.fillText(`m/z ${mzText(plane.ion.mz)}`, x + length + 24, top + 37);
  let last = -Infinity;
  for (const value of ticks(lo, hi, 6)) {
    const at = x + length * bend(s, (value - lo) / (hi - lo));
    if (at - last < 70) continue;
    last = at;
    context.fillRect(at - 1, top + 38, 2, 7);
    context.textAlign = at < 48 ? 'left' : 'center';
    context.fillText(formatTick(value), at, top + 66);
  }
  context.textAlign = 'left';
}

function legend(context, layers, top) {
  let x = 24;
  for (const { plane, channel, limits } of layers) {
    context.fillStyle = `rgb(${CHANNELS[channel].tint.map((v) => 255 * v).join(' ')})`;
    context.fillRect(x, top + 24, 26, 18);
    context.fillStyle = '#fff';
    const text = `${mzText(plane.ion.mz)}   ${formatTick(limits.lo)} … ${formatTick(limits.hi)}`;
    context.fillText(text, x + 36, top + 40);
    x += context.measureText(text).width + 76;
  }
}
