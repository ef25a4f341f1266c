/** A result on its way into the bucket: seen under its name when all of it is there, and not before. */

/** Bytes of a piece: all but the last have to be of one size, and no smaller than 5 MiB. */
const PIECE = 8 << 20;

export class Upload {
  /** @param {import('./host.js').Host} host @param {string} prefix @param {string} name */
  static async begin(host, prefix, name) {
    return new Upload(host.env.BUCKET, prefix + name, name, await host.script.enter(PIECE));
  }

  /** @private */
  constructor(bucket, key, name, free) {
    Object.assign(this, { bucket, key, name, free, at: 0, piece: new Uint8Array(PIECE), pieces: [] });
    /** @type {R2MultipartUpload | undefined} */
    this.upload = undefined;
  }

  /** Appends bytes. @param {Uint8Array} bytes */
  async write(bytes) {
    while (bytes.length > 0) {
      if (this.at === PIECE) await this.flush();
      const some = bytes.subarray(0, PIECE - this.at);
      this.piece.set(some, this.at);
      this.at += some.length;
      bytes = bytes.subarray(some.length);
    }
  }

  /** @private Sends the piece that is full, or the last one. */
  async flush() {
    this.upload ??= await this.bucket.createMultipartUpload(this.key);
    this.pieces.push(await this.upload.uploadPart(this.pieces.length + 1, this.piece.subarray(0, this.at)));
    this.at = 0;
  }

  /** Gives the object its name. */
  async finish() {
    if (this.upload) {
      if (this.at > 0) await this.flush();
      await this.upload.complete(this.pieces);
    } else {
      await this.bucket.put(this.key, this.piece.subarray(0, this.at));
    }
    this.free();
  }

  /** Lets go of what was sent. */
  async abort() {
    this.free();
    await this.upload?.abort().catch(() => {});
  }
}
