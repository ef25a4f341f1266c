/**
 * Runs the Worker on this machine with the demo's data in a bucket of its own, until it is ended:
 *
 *   node tests/web/edge-local.mjs --folder DIR --program SECTILE [--port N]
 */
import { parseArgs } from 'node:util';

import { demoObjects, writeDemo } from './edge-demo.mjs';
import { startWorker } from './edge.mjs';
import { serve, SITE } from './site.mjs';

const { values: options } = parseArgs({ options: { folder: { type: 'string' }, program: { type: 'string' }, port: { type: 'string', default: '8788' } } });
writeDemo(options.folder, { sectile: options.program });
const worker = await startWorker({ objects: demoObjects(options.folder), port: Number(options.port) });
const pages = await serve(options.program, ['serve', options.folder, '--pages', SITE, '--port', '0']);
const { datasets } = await (await worker.ask('/v1')).json();
const named = (name) => datasets.find(({ id, name: plain }) => plain === name || id?.startsWith(`${name}@`))?.id ?? name;
console.log(`
  What it serves:             ${worker.base}/v1
  The stack, described:       ${worker.base}/v1/demo/info
  A tile of its median:       ${worker.base}/v1/${named('demo')}/median/0/0/0.png
  The tissue, described:      ${worker.base}/v1/tissue/info
  An ion image:               ${worker.base}/v1/${named('tissue')}/mz-788.6164.png
  The stack in the page:      ${pages.base}#src=${worker.base}/v1/demo
  Ctrl-C ends it.
`);
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await Promise.allSettled([worker.stop(), pages.stop()]);
    process.exit(0);
  });
}
