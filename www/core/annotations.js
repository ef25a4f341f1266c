/**
 * Sectile: which molecules of a list are in a dataset of imaging mass spectrometry, with scores and a false
 * discovery rate, by HTTP ranges, in one memory budget.
 *
 * ```js
 * import { init, Annotation } from 'sectile/annotations';
 * await init({ memory: 64 * 1024 * 1024 });
 * const annotation = await Annotation.open('https://example.org/brain.sectile', {
 *   molecules: 'https://example.org/lipids.csv',
 *   adducts: ['+H', '+Na', '+K'],
 * });
 * await annotation.run();
 * const { rows } = annotation.results();
 * ```
 *
 * Shards share the work between realms, for instance web workers: each opens the same store and list, runs some of
 * `annotation.shards(n)` with `onSave`, and one of them takes all that was saved and makes the results.
 */
export { Annotation, checkAnnotation } from './annotation.js';
export { init, memoryBytes } from './annotations-instance.js';
export { CoreError, isTrap } from './errors.js';
export { Molecules, readMolecules } from './molecules.js';
export { BlobSource, FetchSource, sourceOf } from './source.js';
