/**
 * The demo's data as a bucket has it: the objects, and the catalog that declares them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Datasets of the demo: a stack of all exposures, and the tissue's store. */
export function demoCatalog(names) {
  const datasets = {};
  const exposures = names.filter((name) => /^exposure_\d+\.fits$/.test(name)).sort();
  if (exposures.length > 0) datasets.demo = { type: 'stack', title: 'The demo stack', exposures: exposures.map((name) => `demo/${name}`), jobs: true };
  if (names.includes('tissue.sectile')) {
    datasets.tissue = { type: 'ions', title: 'The demo tissue', store: 'demo/tissue.sectile', analyzer: 'orbitrap', resolving_power: 140000, molecules: { demo: 'demo/molecules.csv' }, jobs: true };
  }
  return { sectile: 1, datasets };
}

/**
 * Every file of a folder that the demo's catalog names, and the catalog, by their keys.
 * @param {string} folder as `sectile demo-data` and `sectile pack` leave it
 * @param {(catalog: any) => void} [change] what to declare otherwise
 */
export function demoObjects(folder, change) {
  const names = readdirSync(folder).filter((name) => /^exposure_\d+\.fits$|^tissue\.sectile$|^molecules\.csv$/.test(name));
  const catalog = demoCatalog(names);
  change?.(catalog);
  const objects = Object.fromEntries(names.map((name) => [`demo/${name}`, readFileSync(join(folder, name))]));
  return { ...objects, 'sectile.json': JSON.stringify(catalog) };
}
