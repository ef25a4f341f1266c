import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

/**
 * Serves www/ under a sub-path (so that an absolute address in the page shows), with the stand-in for the core.
 * @returns {Promise<{base: string, close(): Promise<void>}>}
 */
export async function servePages() {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname));
    const inside = path.startsWith('/some/where/') ? path.slice('/some/where'.length) : null;
    const file = !inside ? null
      : inside === '/' ? join(ROOT, 'www/index.html')
      : inside === '/app/client.js' ? join(ROOT, 'tests/web/fake-compute.js')
      : join(ROOT, 'www', inside);
    try {
      const body = await readFile(file);
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
