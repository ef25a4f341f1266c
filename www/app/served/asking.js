/** Requests to one server of datasets: few at a time, patient with a busy server, with a token where one is asked for. */

/** Most seconds that a server's wish to be left alone is followed at a time. */
const LONGEST = 60;

/** Times that one thing is asked for before it counts as failed. */
const TRIES = 6;

/** The same where nobody answers: an address may simply be wrong. */
const UNANSWERED = 4;

/** What a server says instead of an answer (RFC 9457), or that there was none. */
export class Problem extends Error {
  /** @param {number} status 0 where there was no answer @param {string} code @param {string} message @param {number} [seconds] */
  constructor(status, code, message, seconds = NaN) {
    super(message);
    Object.assign(this, { name: 'Problem', status, code, seconds });
  }
}

/**
 * The tokens that were typed, by dataset: in memory, for as long as the page is open, and nowhere else.
 * @type {Map<string, string>}
 */
const tokens = new Map();

export class Asking {
  /**
   * @param {object} parts
   * @param {string} parts.scope what a token is for
   * @param {() => number} parts.most requests under way at a time
   * @param {(text: string) => void} parts.waiting told why nothing moves; "" when it moves again
   * @param {(detail: string) => Promise<string | null>} parts.permit asks the user for a token; null: there is none
   */
  constructor({ scope, most, waiting, permit }) {
    Object.assign(this, { scope, most, waiting, permit });
    this.under = 0;
    /** @type {(() => void)[]} */
    this.line = [];
    this.quietUntil = 0;
    this.asked = null;
    this.waits = 0;
  }

  /** A document. @param {string} url @param {AbortSignal} [signal] */
  async json(url, signal) {
    const { bytes } = await this.get(url, signal);
    return JSON.parse(new TextDecoder().decode(bytes));
  }

  /**
   * The whole answer to a GET.
   * @param {string} url @param {AbortSignal} [signal]
   * @returns {Promise<{status: number, headers: Headers, bytes: Uint8Array}>} `status` 200 or 204
   * @throws {Problem} what the server says instead
   */
  async get(url, signal) {
    await this.enter(signal);
    try {
      return await this.insist(url, signal);
    } finally {
      this.under -= 1;
      this.line.shift()?.();
    }
  }

  /** Waits for a place among the requests under way. */
  async enter(signal) {
    while (this.under >= this.most()) {
      await new Promise((resolve) => this.line.push(resolve));
      // A place that is given to one who has left goes to the next.
      if (signal?.aborted) this.line.shift()?.();
    }
    signal?.throwIfAborted();
    this.under += 1;
  }

  async insist(url, signal) {
    for (let tried = 1; ; tried += 1) {
      await this.quiet(signal);
      const token = tokens.get(this.scope);
      try {
        return await once(url, token, signal);
      } catch (problem) {
        signal?.throwIfAborted();
        if (problem.status === 401) await this.allowed(token, problem);
        else if (!(problem instanceof Problem) || tried >= TRIES || !this.retries(problem, tried)) throw problem;
      }
    }
  }

  /** Whether something is worth asking for again; if so nothing is asked until the server wants it. */
  retries({ status, seconds, message }, tried) {
    if (![0, 429, 503].includes(status) || (status === 0 && tried >= UNANSWERED)) return false;
    const wait = Math.min(LONGEST, Number.isNaN(seconds) ? 2 ** (tried - 1) : Math.max(0.1, seconds));
    this.quietUntil = Math.max(this.quietUntil, performance.now() + 1000 * wait);
    this.reason = status === 0 ? 'The server cannot be reached' : message.replace(/\.$/, '');
    return true;
  }

  /** Waits until the server wants to be asked again, and there is a network. */
  async quiet(signal) {
    let offline = globalThis.navigator?.onLine === false;
    if (!offline && performance.now() >= this.quietUntil) return;
    this.waits += 1;
    try {
      for (;;) {
        const left = this.quietUntil - performance.now();
        if (offline) this.waiting('There is no network. It goes on when there is.');
        else if (left <= 0) return;
        else this.waiting(`${this.reason}. Trying again in ${Math.ceil(left / 1000)} s.`);
        await pause(Math.min(1000, Math.max(50, offline ? 1000 : left)), signal);
        offline = globalThis.navigator?.onLine === false;
      }
    } finally {
      this.waits -= 1;
      if (this.waits === 0) this.waiting('');
    }
  }

  /** Asks for a token once for all who need it. @throws {Problem} when there is none */
  async allowed(tried, problem) {
    if (tokens.get(this.scope) !== tried) return;
    this.asked ??= this.permit(tried === undefined ? '' : problem.message).finally(() => {
      this.asked = null;
    });
    const token = await this.asked;
    if (!token) throw problem;
    tokens.set(this.scope, token);
  }
}

/** One request and its whole answer. @throws {Problem} */
async function once(url, token, signal) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  let answer;
  let bytes;
  try {
    answer = await fetch(url, { headers, signal, credentials: 'omit', redirect: token === undefined ? 'follow' : 'error' });
    bytes = new Uint8Array(await answer.arrayBuffer());
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, 'network', `${new URL(url).host} cannot be reached, or does not let other pages ask (CORS).`);
  }
  if (answer.status === 200 || answer.status === 204) return { status: answer.status, headers: answer.headers, bytes };
  throw told(answer, bytes);
}

function told(answer, bytes) {
  const { status, headers } = answer;
  const seconds = Number(headers.get('retry-after') ?? NaN);
  if (status === 202) return new Problem(202, 'job', 'It takes more than one answer may take, and is being computed as a job.', seconds);
  let said = {};
  try {
    said = JSON.parse(new TextDecoder().decode(bytes)) ?? {};
  } catch {
    // Not a problem document: the status has to do.
  }
  const detail = [said.detail, said.title].find((text) => typeof text === 'string' && text !== '');
  return new Problem(status, String(said.code ?? ''), sentence(detail ?? `The server answered with status ${status}.`), seconds);
}

/** With a capital first letter, unless a name stands there, and a full stop. */
function sentence(text) {
  const first = /^\S+:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

/** @param {number} milliseconds @param {AbortSignal} [signal] */
function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave);
      resolve(undefined);
    }, milliseconds);
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave, { once: true });
  });
}
