/** Errors that a user can act on: what, where, and what to do. */
export class CoreError extends Error {
  /**
   * @param {string} code `format`, `unsupported`, `mismatch`, `unexpected`, `budget`, `parameter`,
   *   or, from a driver, `http`, `network`, `changed`, `io`
   * @param {string} message
   * @param {number} [at] byte of the file
   */
  constructor(code, message, at) {
    super(message);
    this.name = 'CoreError';
    this.code = code;
    this.at = at;
    /** The status of the server's answer, where one refused. @type {number | undefined} */
    this.status = undefined;
  }
}

/**
 * Runs a call into the core and turns what it throws into a {@link CoreError}.
 * A trap (`WebAssembly.RuntimeError`) passes through as it is: the instance must not be used again.
 * @template T
 * @param {() => T} call
 * @returns {T}
 */
export function checked(call) {
  try {
    return call();
  } catch (error) {
    throw told(error);
  }
}

/**
 * The core throws plain objects `{code, message, at}`; everything else stays what it is.
 * @param {unknown} error
 * @returns {unknown}
 */
export function told(error) {
  if (typeof error === 'object' && error !== null && Object.getPrototypeOf(error) === Object.prototype) {
    const { code, message, at } = /** @type {{code: string, message: string, at: number | null}} */ (error);
    return new CoreError(code, message, at ?? undefined);
  }
  return error;
}

/**
 * Whether an error means that the wasm instance is lost.
 * @param {unknown} error
 */
export function isTrap(error) {
  return error instanceof WebAssembly.RuntimeError;
}

/**
 * Gives an object of the core back to it. After a trap nothing can be given back, and what was
 * thrown first is what matters.
 * @param {{free(): void} | undefined} object
 */
export function release(object) {
  try {
    object?.free();
  } catch {
    // The instance is lost; it is retired as a whole.
  }
}
