/** The Worker: one host for each isolate. */
import { Host } from './host.js';

/** @type {Host | undefined} */
let host;

export default {
  /** @param {Request} request @param {any} env @param {ExecutionContext} context */
  fetch(request, env, context) {
    host ??= new Host(env);
    const answer = host.answer(request, context);
    // Goes on when the client has gone: others may wait for the same.
    context.waitUntil(answer);
    return answer;
  },

  /** @param {MessageBatch} batch @param {any} env @param {ExecutionContext} context */
  queue(batch, env, context) {
    host ??= new Host(env);
    return host.jobs.queue(batch, context);
  },
};
