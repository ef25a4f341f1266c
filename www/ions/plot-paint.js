/** What is drawn on the spectrum's canvas. Positions are device pixels, as uPlot's drawing hooks have them. */

/**
 * Sticks from zero up to each value. Several in one column of the screen are one stick as high as the highest, so a
 * long spectrum costs no more than the screen is wide.
 * @param {any} plot @param {number} series @param {number} from first index on screen @param {number} to last
 */
export function sticks(plot, series, from, to) {
  const [mz, values] = [plot.data[0], plot.data[series]];
  const { left, width } = plot.bbox;
  const { min, max } = plot.scales.x;
  const ground = plot.valToPos(Math.max(plot.scales.y.min, plot.scales.y.distr === 3 ? 0 : Math.min(0, plot.scales.y.max)), 'y', true);
  const path = new Path2D();
  let column = NaN;
  let [low, high] = [0, 0];
  const flush = () => {
    for (const value of [low, high]) {
      if (value === 0 || (value < 0 && plot.scales.y.distr === 3)) continue;
      path.moveTo(column, ground);
      path.lineTo(column, plot.valToPos(value, 'y', true));
    }
  };
  for (let i = from; i <= to; i += 1) {
    const at = Math.round(left + ((mz[i] - min) / (max - min)) * width);
    if (at !== column) {
      flush();
      [column, low, high] = [at, 0, 0];
    }
    if (values[i] > high) high = values[i];
    if (values[i] < low) low = values[i];
  }
  flush();
  return { stroke: path, fill: null, clip: null, band: null, gaps: null, flags: 0 };
}

/** The windows of ions: shaded over the whole height, with a mark at the top where they are narrower than a pixel. */
export function drawWindows(plot, windows) {
  const { ctx, bbox } = plot;
  const ratio = globalThis.devicePixelRatio || 1;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const { lo, hi, colour } of windows) {
    const [x0, x1] = [plot.valToPos(lo, 'x', true), plot.valToPos(hi, 'x', true)];
    const width = Math.max(2 * ratio, x1 - x0);
    const left = (x0 + x1) / 2 - width / 2;
    ctx.fillStyle = colour;
    ctx.globalAlpha = 0.26;
    ctx.fillRect(left, bbox.top, width, bbox.height);
    ctx.globalAlpha = 1;
    triangle(ctx, (x0 + x1) / 2, bbox.top, 5 * ratio);
  }
  ctx.restore();
}

function triangle(ctx, x, y, size) {
  ctx.beginPath();
  ctx.moveTo(x - size, y);
  ctx.lineTo(x + size, y);
  ctx.lineTo(x, y + 1.4 * size);
  ctx.fill();
}

/** A ring on the peak that is marked. */
export function drawMarker(plot, { mz, height }) {
  const { ctx, bbox } = plot;
  const x = plot.valToPos(mz, 'x', true);
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  const ratio = globalThis.devicePixelRatio || 1;
  ctx.save();
  ctx.strokeStyle = '#fff';
  ctx.lineWidth = 1.5 * ratio;
  ctx.beginPath();
  ctx.arc(x, Math.max(bbox.top, plot.valToPos(height, 'y', true)), 4 * ratio, 0, 2 * Math.PI);
  ctx.stroke();
  ctx.restore();
}
