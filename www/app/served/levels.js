/**
 * Where tiles lie: XYZ, z = 0 the coarsest, y down from the top of the image. Pure rules.
 *
 * A *cell* is a pixel of a level; it stands for `step` × `step` pixels of the image, counted from the top left corner.
 */
export class Levels {
  /** @param {number} width @param {number} height @param {number} tile @param {number} levels @param {boolean} down whether row 0 is the top row */
  constructor(width, height, tile, levels, down) {
    Object.assign(this, { width, height, tile, levels, down });
  }

  /** Pixels along a cell of a level. */
  step(z) {
    return 2 ** (this.levels - 1 - z);
  }

  /** The coarsest level whose cells are no larger than `pitch` pixels, so that nothing is blown up needlessly. */
  levelFor(pitch) {
    const halvings = Math.floor(Math.log2(Math.max(1, pitch)) + 1e-9);
    return Math.max(0, this.levels - 1 - halvings);
  }

  /** Rows of cells of a level. */
  rows(z) {
    return Math.ceil(this.height / this.step(z));
  }

  /** Where an image row lies, counted from the top. */
  fromTop(y) {
    return this.down ? y : this.height - 1 - y;
  }

  /** The pixels that a tile shows: a half-open rectangle of the image. */
  rect(z, tx, ty) {
    const edge = this.tile * this.step(z);
    const [top, bottom] = [ty * edge, Math.min(this.height, (ty + 1) * edge)];
    const [y0, y1] = this.down ? [top, bottom] : [this.height - bottom, this.height - top];
    return { x0: tx * edge, y0, x1: Math.min(this.width, (tx + 1) * edge), y1 };
  }

  /**
   * Tiles of a level over a rectangle of the image, those in its middle first.
   * @returns {[number, number][]}
   */
  over(z, { x0, y0, x1, y1 }) {
    const edge = this.tile * this.step(z);
    const [top, bottom] = this.down ? [y0, y1] : [this.height - y1, this.height - y0];
    const found = [];
    for (let ty = Math.floor(top / edge); ty * edge < bottom; ty += 1) {
      for (let tx = Math.floor(x0 / edge); tx * edge < x1; tx += 1) found.push([tx, ty]);
    }
    const [cx, cy] = [(x0 + x1) / (2 * edge) - 0.5, (top + bottom) / (2 * edge) - 0.5];
    const away = ([tx, ty]) => Math.hypot(tx - cx, ty - cy);
    return found.sort((a, b) => away(a) - away(b));
  }
}
