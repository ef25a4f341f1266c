/** What was pasted, chosen or dropped, as a source for the core. */

import { shortName } from '../app/exposures.js';

const STORE = /\.sectile$/i;
const XML = /\.imzml$/i;
const BINARY = /\.ibd$/i;

/**
 * @typedef {{file: File} | {url: string}} Entry
 * @typedef {Entry | {pair: {imzml: Entry, ibd: Entry}} | {kept: string}} Source
 */

/**
 * The source that a set of files makes: a store, or an .imzML file with its .ibd file.
 * @param {Iterable<File>} files
 * @returns {Source}
 * @throws {TypeError} naming what is missing, or why the files do not go together
 */
export function fromFiles(files) {
  const all = [...files];
  const stores = all.filter(({ name }) => STORE.test(name));
  const xmls = all.filter(({ name }) => XML.test(name));
  const binaries = all.filter(({ name }) => BINARY.test(name));
  if (stores.length === 1 && xmls.length === 0) return { file: stores[0] };
  if (stores.length > 1) throw new TypeError(`These are ${stores.length} stores: ${names(stores)}. Drop one at a time.`);
  if (stores.length === 1) throw new TypeError(`A store (${stores[0].name}) and an imzML file (${xmls[0].name}) came together. Drop one or the other.`);
  if (xmls.length > 1) throw new TypeError(`These are ${xmls.length} imzML files: ${names(xmls)}. Drop one .imzML file with its .ibd file.`);
  if (xmls.length === 1) return { pair: { imzml: { file: xmls[0] }, ibd: { file: partner(xmls[0], binaries) } } };
  if (binaries.length > 0) {
    throw new TypeError(`${binaries[0].name} holds the spectra, but the .imzML file that describes them is missing. Drop both together: ${stem(binaries[0].name)}.imzML and ${binaries[0].name}.`);
  }
  throw new TypeError(`${all.length === 0 ? 'Nothing can' : `${names(all)} cannot`} be opened here. Drop a .sectile store, or an .imzML file together with its .ibd file; a list of molecules as .csv, .tsv or .txt; or an annotations.json.`);
}

/** The .ibd file of an .imzML file: the one of the same name, or the only one. */
function partner(xml, binaries) {
  const same = binaries.find(({ name }) => stem(name).toLowerCase() === stem(xml.name).toLowerCase());
  if (same) return same;
  if (binaries.length === 1) return binaries[0];
  if (binaries.length === 0) {
    throw new TypeError(`${xml.name} describes the spectra, but the .ibd file that holds them is missing. Drop both together: ${xml.name} and ${stem(xml.name)}.ibd.`);
  }
  throw new TypeError(`None of ${names(binaries)} has the name of ${xml.name}. Drop it together with ${stem(xml.name)}.ibd.`);
}

/**
 * The source of an address.
 * @param {string} written the store or the .imzML file @param {string} ibd "" for the same name with .ibd
 * @param {string} base what relative ones are relative to
 * @returns {Source}
 * @throws {TypeError} for one that is not an address a page may fetch
 */
export function fromAddress(written, ibd, base) {
  const url = absolute(written, base);
  const path = new URL(url).pathname;
  if (BINARY.test(path)) throw new TypeError(`“${written}” holds the spectra. Give the address of the .imzML file that describes them.`);
  if (!XML.test(path)) return { url };
  return { pair: { imzml: { url }, ibd: { url: ibd ? absolute(ibd, base) : binaryBeside(url) } } };
}

/** The address of the .ibd file beside an .imzML file; the query, if any, goes along. */
export function binaryBeside(url) {
  const found = new URL(url);
  const loud = /\.IMZML$/.test(found.pathname);
  found.pathname = found.pathname.replace(XML, loud ? '.IBD' : '.ibd');
  return found.href;
}

/** A name for a source. @param {Source} source */
export function nameOf(source) {
  if (source.kept) return source.kept;
  const part = source.pair?.imzml ?? source;
  return part.url ? decoded(shortName(part.url)) : part.file.name;
}

/** Whether a source lies on this computer, so that no link can hold it. */
export function isLocal(source) {
  return Boolean(source.kept || source.file || (source.pair && !source.pair.imzml.url));
}

function absolute(text, base) {
  let url;
  try {
    url = new URL(text, base);
  } catch {
    throw new TypeError(`“${text}” is not an address.`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`“${text}”: a page can only read http and https addresses. Drop local files here instead.`);
  }
  return url.href;
}

/** A name without its ending; what else stands after a dot, as in “liver.v2”, is a part of the name. */
export function stem(name) {
  return name.replace(/\.(sectile|imzml|ibd)$/i, '');
}

function names(files) {
  return files.map(({ name }) => name).join(', ');
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
