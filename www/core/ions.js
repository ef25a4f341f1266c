/**
 * Sectile: ion images of imaging mass spectrometry by HTTP ranges, in one memory budget.
 *
 * ```js
 * import { init, IonStore, pack, MemoryFile } from 'sectile/ions';
 * await init({ memory: 64 * 1024 * 1024 });
 * const store = await IonStore.open('https://example.org/brain.sectile');
 * const { width, height, values } = await store.image(885.5498, { ppm: 3 });
 * ```
 *
 * A pair of `.imzML` and `.ibd` is packed into a store first, wherever it lies:
 *
 * ```js
 * const target = new MemoryFile();
 * const { report } = await pack(imzmlFile, ibdFile, target);
 * const packed = await IonStore.open(target.blob(), { pair: { imzml: imzmlFile, ibd: ibdFile } });
 * ```
 */
export { Checkpoint } from './checkpoint.js';
export { CoreError, isTrap } from './errors.js';
export { MemoryFile, OpfsFile } from './files.js';
export { init, memoryBytes } from './ions-instance.js';
export { ionCsv, ionPng } from './ion-export.js';
export { IonStore } from './ion-store.js';
export { OpfsFolder } from './opfs.js';
export { Packing, pack, planPack } from './pack.js';
export { identify } from './pair.js';
export { BlobSource, FetchSource, sourceOf } from './source.js';
