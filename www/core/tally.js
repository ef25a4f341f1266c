/** What a job has cost so far; the same names as on the command line. */
export class Tally {
  constructor() {
    /** Requests sent, retries included. */
    this.requests = 0;
    /** Requests that had to be sent again. */
    this.retries = 0;
    /** Bytes of bodies that were received. */
    this.bytes_fetched = 0;
    /** Bytes that were asked for and used. */
    this.bytes_payload = 0;
    /** Highest number of bytes of linear memory. */
    this.peak_bytes = 0;
    this.sections = 0;
    this.seconds = 0;
    /** @private */
    this.started = performance.now();
  }

  /** A plain object with the figures of this moment. */
  now() {
    const { requests, retries, bytes_fetched, bytes_payload, peak_bytes, sections } = this;
    const seconds = (performance.now() - this.started) / 1000;
    return { requests, retries, bytes_fetched, bytes_payload, peak_bytes, sections, seconds };
  }
}
