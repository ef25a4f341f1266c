/**
 * Which shards are finished, how far the others are, and what came of them.
 *
 * The saves lie here, in the page and outside the workers' memories, so that no worker's end takes anything
 * with it: about 200 bytes for each target with MSM > 0 and 12 for each decoy with it, a few MB for a long list.
 */
export class Ledger {
  /**
   * @param {string} identity of store, list and options
   * @param {[number, number][]} shards ranges of the ions' order
   */
  constructor(identity, shards) {
    this.identity = identity;
    this.shards = shards.map(([from, to]) => ({ from, to, position: from, taken: false, lost: 0 }));
    /** @type {{targets: Uint8Array, decoys: Uint8Array}[]} */
    this.saves = [];
    this.targets = 0;
    this.decoys = 0;
  }

  get total() {
    return this.shards.reduce((sum, { from, to }) => sum + to - from, 0);
  }

  /** Ions that need not be looked at again. */
  get done() {
    return this.shards.reduce((sum, { from, position }) => sum + position - from, 0);
  }

  /** The next shard that nobody works on. */
  next() {
    const shard = this.shards.find(({ taken, position, to }) => !taken && position < to);
    if (shard) shard.taken = true;
    return shard;
  }

  /**
   * @param {{position: number}} shard
   * @param {import('./hand.js').Saved} saved
   */
  take(shard, { targets, decoys, position, found, decoysFound }) {
    if (targets.length + decoys.length > 0) this.saves.push({ targets, decoys });
    shard.position = position;
    this.targets += found;
    this.decoys += decoysFound;
  }

  /** Nobody works on anything any more. */
  rest() {
    for (const shard of this.shards) Object.assign(shard, { taken: false, lost: 0 });
  }
}
