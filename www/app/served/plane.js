import { emptyRange, fitForDisplay } from '../../view/scale.js';
import { limitsBy } from './statistics.js';

/** Values that limits and the histogram are taken from, at most. */
const SAMPLES = 100_000;

/** How many levels finer than wanted are looked through for something to show until the wanted tile is there. */
const FINER = 2;

/**
 * One layer of a served dataset, as the view and the panels take layers.
 *
 * It holds no pixels: they are those of tiles that are there, each with its own scale, and become codes of the one
 * scale that is on show when the view asks for them. Where a tile is not there yet, a coarser or finer one stands in
 * for it on screen, and never in a readout.
 */
export class ServedPlane {
  /**
   * @param {string} name as the page names it @param {string} layer as the interface names it
   * @param {import('./levels.js').Levels} levels @param {(key: string) => import('./loading.js').Tile | null | undefined} tile
   * @param {{unit: string | null, aspect?: number}} about
   */
  constructor(name, layer, levels, tile, { unit, aspect = 1 }) {
    Object.assign(this, { name, layer, levels, tile, unit, aspect });
    this.range = { ...emptyRange(), whole: name === 'count', half: false };
    this.scale = { bzero: 0, bscale: 1 };
    /** The level on show. */
    this.z = 0;
    /** @type {ReturnType<typeof import('./statistics.js').readStatistics>} */
    this.statistics = null;
    /** Exact values that were asked for. @type {Map<string, any>} */
    this.points = new Map();
    /** The first tile that came. @type {import('./loading.js').Tile | null | undefined} */
    this.first = undefined;
    /** Whether the server was asked about all values. */
    this.surveyed = false;
  }

  get width() {
    return this.levels.width;
  }

  get height() {
    return this.levels.height;
  }

  get down() {
    return this.levels.down;
  }

  /** Pixels along a side of what one code stands for. */
  get cell() {
    return this.levels.step(this.z);
  }

  /** All that a layer has can be had, in this order of its own. */
  get complete() {
    return true;
  }

  get exact() {
    return [{ x0: 0, y0: 0, x1: this.width, y1: this.height }];
  }

  /** Bytes are counted by what keeps the tiles. */
  get bytes() {
    return 0;
  }

  /** What a readout says where no value has arrived. */
  get absent() {
    return '…';
  }

  key(z, tx, ty) {
    return `${this.layer}|${z}/${tx}/${ty}`;
  }

  /** A tile has come: its values belong to what is seen. @returns {import('../plane.js').Rect} what it shows */
  saw(z, tx, ty) {
    const tile = this.tile(this.key(z, tx, ty));
    this.first ??= tile;
    if (tile && !this.statistics) {
      let [least, most] = [Infinity, -Infinity];
      for (const code of tile.codes) {
        if (code !== 0 && code < least) least = code;
        if (code > most) most = code;
      }
      if (most > 0) {
        this.range.min = Math.min(this.range.min, tile.bzero + tile.bscale * least);
        this.range.max = Math.max(this.range.max, tile.bzero + tile.bscale * most);
      }
    }
    return this.levels.rect(z, tx, ty);
  }

  /** Takes what the server says of all values. */
  learn(statistics) {
    this.statistics = statistics;
    if (statistics) Object.assign(this.range, { min: statistics.min, max: statistics.max });
  }

  /** The limits by a rule, from what the server says; null where it has not said. */
  limitsBy(rule) {
    return this.statistics && limitsBy(this.statistics, rule);
  }

  /** Of what all values are multiples; 0 for nothing. */
  get step() {
    return this.range.whole && this.range.max >= this.range.min ? 1 : 0;
  }

  /**
   * Values of the coarsest tile: it shows all of the image, and stays the same wherever one looks. Where it is too much
   * for the server, those of the first tile that came.
   */
  get sampled() {
    const tile = this.tile(this.key(0, 0, 0)) ?? this.first;
    if (!tile) return new Float32Array(0);
    const codes = tile.codes.filter((code) => code !== 0);
    const each = Math.max(1, Math.ceil(codes.length / SAMPLES));
    return Float32Array.from({ length: Math.floor(codes.length / each) }, (_, k) => tile.bzero + tile.bscale * codes[k * each]);
  }

  rescale(limits) {
    const wanted = fitForDisplay(this.range, limits, 0);
    const changed = wanted.bzero !== this.scale.bzero || wanted.bscale !== this.scale.bscale;
    this.scale = wanted;
    return changed;
  }

  codeOf(value) {
    return (value - this.scale.bzero) / this.scale.bscale;
  }

  /** The value of a pixel: as it was told, or as the finest tile has it; undefined when neither has come. */
  valueAt(x, y) {
    const told = this.points.get(`${x},${y}`);
    if (told) return told.value ?? NaN;
    const { tile: edge, levels } = this.levels;
    const row = this.levels.fromTop(y);
    const tile = this.tile(this.key(levels - 1, Math.floor(x / edge), Math.floor(row / edge)));
    if (!tile) return tile === null ? NaN : undefined;
    const code = tile.codes[(row % edge) * tile.width + (x % edge)];
    return code === 0 ? NaN : tile.bzero + tile.bscale * code;
  }

  /** Codes of a rectangle of cells of the level on show, for the view. */
  read(x0, y0, width, height, out) {
    out.fill(0);
    const { z } = this;
    const edge = this.levels.tile;
    const rows = this.levels.rows(z);
    const top = this.down ? y0 : rows - y0 - height;
    const wanted = { x0, y0: top, x1: x0 + width, y1: top + height };
    // Row 0 of `out` is the lowest where y grows upwards.
    const line = (row) => (this.down ? row - top : height - 1 - (row - top)) * width - x0;
    for (let ty = Math.floor(top / edge); ty * edge < wanted.y1; ty += 1) {
      for (let tx = Math.floor(x0 / edge); tx * edge < wanted.x1; tx += 1) {
        for (const part of this.parts(z, tx, ty)) this.paint(part, wanted, line, out);
      }
    }
  }

  /** What there is to show in the place of a tile: itself, or the nearest coarser one under what finer ones there are. */
  parts(z, tx, ty) {
    const own = this.tile(this.key(z, tx, ty));
    if (own !== undefined) return own ? [this.part(own, z, tx, ty, 0)] : [];
    const found = [];
    for (let up = 1; up <= z && found.length === 0; up += 1) {
      const tile = this.tile(this.key(z - up, tx >> up, ty >> up));
      if (tile) found.push({ ...this.part(tile, z, tx, ty, -up), left: (tx >> up) * tile.width, above: (ty >> up) * tile.width });
    }
    for (let down = Math.min(FINER, this.levels.levels - 1 - z); down >= 1; down -= 1) {
      for (let k = 0; k < 4 ** down; k += 1) {
        const [fx, fy] = [(tx << down) + (k & (2 ** down - 1)), (ty << down) + (k >> down)];
        const tile = this.tile(this.key(z + down, fx, fy));
        if (!tile) continue;
        const side = tile.width >> down;
        found.push({ tile, shift: down, left: fx * tile.width, above: fy * tile.width, x0: fx * side, y0: fy * side, x1: (fx + 1) * side, y1: (fy + 1) * side });
      }
    }
    return found;
  }

  part(tile, z, tx, ty, shift) {
    const edge = this.levels.tile;
    return { tile, shift, left: tx * edge, above: ty * edge, x0: tx * edge, y0: ty * edge, x1: (tx + 1) * edge, y1: (ty + 1) * edge };
  }

  /** Writes codes of one tile where it and what is wanted overlap; cells of both count from the top left corner. */
  paint({ tile, shift, left, above, ...of }, wanted, line, out) {
    const { codes, width, bzero, bscale } = tile;
    const factor = bscale / this.scale.bscale;
    const offset = (bzero - this.scale.bzero) / this.scale.bscale;
    const [x0, x1] = [Math.max(of.x0, wanted.x0), Math.min(of.x1, wanted.x1)];
    const there = (cell) => (shift < 0 ? cell >> -shift : cell << shift);
    for (let row = Math.max(of.y0, wanted.y0); row < Math.min(of.y1, wanted.y1); row += 1) {
      const from = (there(row) - above) * width - left;
      const to = line(row);
      for (let x = x0; x < x1; x += 1) {
        const code = codes[from + there(x)];
        if (code === 0) out[to + x] = 0;
        else {
          const mine = Math.round(factor * code + offset);
          out[to + x] = mine < 1 ? 1 : mine > 65535 ? 65535 : mine;
        }
      }
    }
  }
}
