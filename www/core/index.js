/**
 * Sectile: medians of astronomy stacks by HTTP ranges, in one memory budget.
 *
 * ```js
 * import { init, Stack } from 'sectile';
 * await init({ memory: 64 * 1024 * 1024 });
 * const stack = await Stack.open(['https://example.org/a.fits', 'https://example.org/b.fits']);
 * for await (const section of stack.median()) draw(section);
 * ```
 */
export { CoreError, isTrap } from './errors.js';
export { init, memoryBytes } from './stack-instance.js';
export { fitsFile, pngFile, zscale } from './export.js';
export { BlobSource, FetchSource } from './source.js';
export { Stack } from './stack.js';
