/** Writes the state into the address, at most every 200 ms and without history entries. */
export class Permalink {
  /** @param {() => string} current the fragment of the present state, "" for the initial one */
  constructor(current) {
    this.current = current;
    this.timer = 0;
  }

  /** Asks for the address to be written soon. */
  touch() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), 200);
  }

  /** Writes it now. @returns {string} the whole address */
  write() {
    clearTimeout(this.timer);
    // A fragment of "" would leave the old one in place: write the path instead.
    history.replaceState(null, '', this.current() || location.pathname + location.search);
    return location.href;
  }
}
