import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What lies elsewhere than in www/: stand-ins for the core, and what the built site takes from packages. */
const ELSEWHERE = {
  '/': 'www/index.html',
  '/app/client.js': 'tests/web/fake-compute.js',
  '/ions/client.js': 'tests/web/fake-ions.js',
  '/ions/annotator.js': 'tests/web/fake-annotator.js',
  '/pause.js': 'tests/web/pause.js',
  '/vendor/client-zip.js': 'node_modules/client-zip/index.js',
  '/vendor/uplot.js': 'node_modules/uplot/dist/uPlot.iife.min.js',
  '/vendor/uplot.css': 'node_modules/uplot/dist/uPlot.min.css',
};
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

/**
 * Serves www/ under a sub-path (so that an absolute address in the page shows), with stand-ins for the cores.
 * @returns {Promise<{base: string, close(): Promise<void>}>}
 */
export async function servePages() {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname));
    const inside = path.startsWith('/some/where/') ? path.slice('/some/where'.length) : null;
    const file = !inside ? null : join(ROOT, ELSEWHERE[inside] ?? join('www', inside));
    try {
      const body = inside === '/vendor/uplot.js' ? `${await readFile(file, 'utf8')}\nexport default uPlot;` : await readFile(file);
      response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', 'cache-control': 'no-store' });
      response.end(body);
    } catch {
      response.writeHead(404);
      response.end('not here');
    }
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    base: `http://127.0.0.1:${server.address().port}/some/where/`,
    close: () => new Promise((done) => {
      server.closeAllConnections();
      server.close(done);
    }),
  };
}
