/**
 * A module that stands before the Worker and lets a test disturb it from within: calls of the core that trap, and a
 * bucket that fails, is slow, or holds another object when it is asked again. Everything else is the Worker as deployed.
 */

/**
 * What a test may order, as JSON by POST to `/control`; everything ordered before is forgotten:
 *
 * - `{trap: 'shard_feed', skip: 3}`: the call of the core whose name holds that traps, once, after so many went well;
 * - `{key: 'a.fits', skip: 1, times: 2, fault}`: that read of an object of the bucket, after so many, and so often, has a
 *   `fault`: `error` (the bucket fails), `short` (its body ends early), `slow` (after `ms`), or `replace` (with the object
 *   `by` before it is read, with several of them in turn, or with nothing);
 * - `{part: 2}`: the bucket refuses that part of an upload, once.
 *
 * GET `/control` tells what happened: instances started, and uploads begun, completed and given up.
 */
export const ENTRY = `
  import worker from './worker.js';
  const { instantiate } = WebAssembly;
  const seen = { started: 0, traps: 0, faults: 0, begun: 0, completed: 0, aborted: 0 };
  let order = {};
  WebAssembly.instantiate = async (module, imports) => {
    seen.started += 1;
    const { exports: real } = await instantiate.call(WebAssembly, module, imports);
    const exports = {};
    for (const [name, one] of Object.entries(real)) {
      exports[name] = typeof one !== 'function' ? one : (...given) => {
        if (order.trap && name.includes(order.trap) && !(order.skip-- > 0)) {
          order = {};
          seen.traps += 1;
          throw new WebAssembly.RuntimeError('unreachable');
        }
        return one(...given);
      };
    }
    return { instance: { exports }, module };
  };
  async function get(bucket, key, options) {
    if (order.key !== key || order.skip-- > 0 || order.times-- <= 0) return bucket.get(key, options);
    seen.faults += 1;
    const { fault, ms } = order;
    const by = Array.isArray(order.by) ? order.by[seen.faults % order.by.length] : order.by;
    if (fault === 'error') throw new Error('get: We encountered an internal error. Please try again. (10001)');
    if (fault === 'slow') await new Promise((resolve) => setTimeout(resolve, ms));
    if (fault === 'replace') await (by ? bucket.put(key, await (await bucket.get(by)).arrayBuffer()) : bucket.delete(key));
    const object = await bucket.get(key, options);
    if (fault !== 'short') return object;
    const bytes = new Uint8Array(await object.arrayBuffer());
    const body = new Blob([bytes.subarray(0, bytes.length >> 1)]).stream();
    return { size: object.size, etag: object.etag, httpEtag: object.httpEtag, body };
  }
  function uploading(upload) {
    seen.begun += 1;
    return {
      uploadPart: async (number, bytes) => {
        if (order.part === number) {
          order = {};
          throw new Error('uploadPart: We encountered an internal error. Please try again. (10001)');
        }
        return upload.uploadPart(number, bytes);
      },
      complete: async (parts) => {
        const object = await upload.complete(parts);
        seen.completed += 1;
        return object;
      },
      abort: async () => {
        await upload.abort();
        seen.aborted += 1;
      },
    };
  }
  function disturbed(env) {
    const { BUCKET } = env;
    const bucket = {
      get: (key, options) => get(BUCKET, key, options),
      createMultipartUpload: async (...given) => uploading(await BUCKET.createMultipartUpload(...given)),
    };
    for (const name of ['head', 'put', 'list', 'delete']) bucket[name] = (...given) => BUCKET[name](...given);
    return { ...env, BUCKET: bucket };
  }
  export default {
    async fetch(request, env, context) {
      if (!request.url.endsWith('/control')) return worker.fetch(request, disturbed(env), context);
      if (request.method === 'POST') order = { skip: 0, times: 1, ...(await request.json()) };
      return Response.json(seen);
    },
    queue: (batch, env, context) => worker.queue(batch, disturbed(env), context),
  };
`;

/** Orders a fault of a Worker that was started with {@link ENTRY}. @param {any} worker @param {object} order */
export async function disturb(worker, order) {
  const answer = await worker.ask('/control', { method: 'POST', body: JSON.stringify(order) });
  return answer.json();
}

/** What has happened in it. @param {any} worker */
export async function happened(worker) {
  return (await worker.ask('/control')).json();
}
