/** Theory against measurement of the isotope peaks, as a plot of bars that scales with its box. */
const SVG = 'http://www.w3.org/2000/svg';

/** Room around the bars in pixels: below for the m/z, at the left for the axis. */
const EDGE = { top: 22, right: 8, bottom: 22, left: 30 };

/** Widest bar in pixels. */
const WIDEST = 26;

/**
 * Measured intensities on the scale of theory: the largest is 100.
 * @param {{total: number}[]} peaks @returns {number[]} all 0 where nothing was measured
 */
export function measured(peaks) {
  const most = Math.max(0, ...peaks.map(({ total }) => total));
  return peaks.map(({ total }) => (most > 0 ? (100 * total) / most : 0));
}

/** What the plot says, for those who do not see it. */
function plotText(peaks) {
  const found = measured(peaks);
  return `Isotope peaks, theory and measured in per cent of the largest: ${peaks.map(({ mz, theory }, i) => `m/z ${mz.toFixed(4)}: ${theory.toFixed(1)} and ${found[i].toFixed(1)}`).join('; ')}`;
}

export class IsotopePlot {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    this.peaks = [];
    new ResizeObserver(() => this.draw()).observe(box);
  }

  /** @param {import('./rows.js').Peak[]} peaks none clears the plot */
  show(peaks) {
    this.peaks = peaks;
    this.draw();
  }

  draw() {
    const { box, peaks } = this;
    const { clientWidth: width, clientHeight: height } = box;
    if (peaks.length === 0 || width < 60 || height < 60) {
      box.replaceChildren();
      return;
    }
    const svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': plotText(peaks) });
    const bottom = height - EDGE.bottom;
    const up = (value) => bottom - (value / 100) * (bottom - EDGE.top);
    for (const tick of [0, 50, 100]) {
      svg.append(shape('line', { class: 'rule', x1: EDGE.left, x2: width - EDGE.right, y1: crisp(up(tick)), y2: crisp(up(tick)) }), label(EDGE.left - 5, up(tick) + 4, String(tick), 'end'));
    }
    const share = (width - EDGE.left - EDGE.right) / peaks.length;
    const bar = Math.min(WIDEST, share * 0.32);
    const found = measured(peaks);
    for (const [i, { mz, theory }] of peaks.entries()) {
      const middle = EDGE.left + share * (i + 0.5);
      svg.append(rect('theory', middle - bar - 1, up(theory), bar, bottom), rect('measured', middle + 1, up(found[i]), bar, bottom));
      svg.append(label(middle, bottom + 15, mz.toFixed(share < 44 ? 1 : share < 56 ? 2 : 4), 'middle'));
    }
    svg.append(...key(width - EDGE.right, 'measured', 'measured'), ...key(width - EDGE.right - 84, 'theory', 'theory'));
    box.replaceChildren(svg);
  }
}

/** A coloured square with a word, ending at `right`. */
function key(right, name, text) {
  const left = right - (text.length * 6.2 + 14);
  return [shape('rect', { class: name, x: left, y: 4, width: 9, height: 9 }), label(left + 13, 12, text, 'start')];
}

function rect(name, x, y, width, bottom) {
  return shape('rect', { class: name, x: crisp(x), y: Math.round(y) + 0.5, width: Math.round(width), height: Math.max(1, bottom - Math.round(y)) });
}

function label(x, y, text, anchor) {
  const element = shape('text', { x, y, 'text-anchor': anchor });
  element.textContent = text;
  return element;
}

function shape(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

function crisp(value) {
  return Math.round(value) + 0.5;
}
