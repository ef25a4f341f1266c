/** From what a person gives (files, URLs, lists, associations) to exposures. */
import { checked, CoreError } from './errors.js';
import { core } from './stack-instance.js';
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
  const lists = new Map();
  const warnings = [];
  for (const entry of entries) {
    const name = entry.url ?? entry.file?.name ?? '';
    if (!entry.source && core().is_list(name)) lists.set(entry, await readList(entry, name, warnings, signal));
    else if (entry.file) files.set(entry.file.name, entry.file);
  }
  // Files that a list names stand where the list puts them, not once more on their own.
  const named = new Set([...lists].flatMap(([{ file }, members]) => (file ? members.map(bare) : [])));
  const sources = [];
  for (const entry of entries) {
    const members = lists.get(entry);
    if (members) sources.push(...members.map((member) => beside(entry, member, files)));
    else if (entry.source) sources.push(entry.source);
    else if (!entry.file) sources.push(new FetchSource(entry.url, { headers: entry.headers }));
    else if (!named.has(entry.file.name)) sources.push(new BlobSource(entry.file));
  }
  return { sources, warnings };
}

/** The last part of a path. */
function bare(path) {
  return path.split('/').pop();
}

/** A list's member: on the same server as the list, or among the files that were given with it. */
function beside({ url, file, headers }, member, files) {
  if (!file) return new FetchSource(checked(() => core().resolve(url, member)), { headers });
  const found = files.get(bare(member));
  if (found) return new BlobSource(found);
  if (/^https?:/i.test(member)) return new FetchSource(member);
  throw new CoreError('parameter', `${file.name} names ${member}, which is not among the files; choose it together with the list`);
}

/** The members of a list, as it names them. */
async function readList(entry, name, warnings, signal) {
  const text = await readText(entry, name, signal);
  const { members, notes } = checked(() => core().read_list(name, text));
  warnings.push(...notes);
  return members;
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
