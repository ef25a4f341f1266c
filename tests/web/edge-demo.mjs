/**
 * The demo's data as a bucket has it, with the catalog that the program writes.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { program } from './site.mjs';

/** What is put into a bucket of what the demo writes. */
const SERVED = /^exposure_\d+\.fits$|^tissue\.sectile$|^molecules\.csv$/;

/**
 * Writes the demo's stack and tissue, packs the tissue, and declares both: for `sectile serve` in `sectile.json`, and for
 * a bucket, with entity tags, in `bucket.json`.
 * @param {string} folder
 * @param {{exposures?: number, size?: number, sectile?: string}} [options]
 */
export function writeDemo(folder, { exposures = 12, size = 512, sectile = program() } = {}) {
  const run = (...words) => execFileSync(sectile, ['--quiet', ...words], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  if (!existsSync(join(folder, 'exposure_01.fits'))) run('demo-data', '.', '--exposures', `${exposures}`, '--size', `${size}`);
  if (!existsSync(join(folder, 'tissue.sectile'))) run('pack', 'tissue.imzML', '-o', 'tissue.sectile');
  const declare = (...words) => run('catalog', '.', '--stack', 'demo=exposure_*.fits', '--ions', 'tissue=tissue.sectile', '--molecules', 'tissue:demo=molecules.csv',
    '--analyzer', 'orbitrap', '--resolving-power', '140000', '--jobs', ...words);
  declare();
  declare('--etags', 'md5', '-o', 'bucket.json');
}

/**
 * Everything of such a folder that a bucket holds, by its keys.
 * @param {string} folder
 * @param {(catalog: any) => void} [change] what to declare otherwise
 * @returns {Record<string, Uint8Array | string>}
 */
export function demoObjects(folder, change) {
  const names = readdirSync(folder).filter((name) => SERVED.test(name));
  const catalog = JSON.parse(readFileSync(join(folder, 'bucket.json'), 'utf8'));
  change?.(catalog);
  const objects = Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))]));
  return { ...objects, 'sectile.json': JSON.stringify(catalog) };
}

/** Declares the exposures by name alone, so that their headers are read. @param {any} catalog */
export function byName(catalog) {
  for (const dataset of Object.values(catalog.datasets)) {
    if (dataset.exposures) dataset.exposures = dataset.exposures.map((exposure) => exposure.url ?? exposure);
  }
}
