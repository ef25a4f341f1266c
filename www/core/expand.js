/** From what a person gives (files, URLs, lists, associations) to exposures. */
import { checked, CoreError } from './errors.js';
import { core } from './instance.js';
import { BlobSource, FetchSource } from './source.js';

/** Lists are small; anything larger is not one. */
const LIST_LIMIT = 4 * 1024 * 1024;

/**
 * @typedef {object} Entry
 * @property {string} [url]
 * @property {File} [file]
 * @property {import('./source.js').Source} [source]
 * @property {Record<string, string>} [headers]
 */

/**
 * Opens every list among the entries. A list's members are looked for beside it: on the same
 * server, or among the files that were given with it.
 *
 * @param {Entry[]} entries
 * @param {AbortSignal} [signal]
 * @returns {Promise<{sources: import('./source.js').Source[], warnings: string[]}>}
 */
export async function expand(entries, signal) {
  const files = new Map();
  for (const { file } of entries) if (file && !core().is_list(file.name)) files.set(file.name, file);
  const sources = [];
  const warnings = [];
  const named = new Set();
  for (const entry of entries) {
    const name = entry.url ?? entry.file?.name ?? entry.source?.key ?? '';
    if (entry.source || !core().is_list(name)) {
      if (entry.file) {
        if (!named.has(entry.file.name)) sources.push(new BlobSource(entry.file));
      } else {
        sources.push(entry.source ?? new FetchSource(entry.url, { headers: entry.headers }));
      }
      continue;
    }
    const text = await readText(entry, name, signal);
    const list = checked(() => core().read_list(name, text));
    warnings.push(...list.notes);
    for (const member of list.members) {
      if (entry.file) {
        const bare = member.split('/').pop();
        const file = files.get(bare);
        if (!file && !/^https?:/i.test(member)) {
          throw new CoreError('parameter', `${name} names ${member}, which is not among the files; choose it together with the list`);
        }
        named.add(bare);
        sources.push(file ? new BlobSource(file) : new FetchSource(member));
      } else {
        const url = checked(() => core().resolve(entry.url, member));
        sources.push(new FetchSource(url, { headers: entry.headers, name: url }));
      }
    }
  }
  // Files that a list names stand where the list puts them, not once more.
  const taken = sources.filter((source, i) => !(source instanceof BlobSource) || sources.findIndex((other) => other.blob === source.blob) === i);
  return { sources: taken, warnings };
}

async function readText({ url, file, headers }, name, signal) {
  let size;
  let body;
  if (file) {
    size = file.size;
    body = size <= LIST_LIMIT ? await file.text() : '';
  } else {
    let response;
    try {
      response = await fetch(url, { signal, headers });
    } catch (error) {
      signal?.throwIfAborted();
      throw new CoreError('network', `${name}: the list could not be read from here (${error.message}); the server may be down or may not allow other pages to read it (CORS)`);
    }
    if (!response.ok) {
      response.body?.cancel().catch(() => {});
      throw new CoreError('http', `${name}: the server answered ${response.status}`);
    }
    size = Number(response.headers.get('Content-Length') ?? 0);
    body = size <= LIST_LIMIT ? await response.text() : '';
  }
  if (Math.max(size, body.length) > LIST_LIMIT) {
    throw new CoreError('parameter', `${name}: ${size} bytes is too much for a list; the limit is ${LIST_LIMIT}`);
  }
  return body;
}
