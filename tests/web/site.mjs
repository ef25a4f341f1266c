/**
 * What tests of the real thing need: the built site, served by the program itself, and servers that
 * behave badly on purpose. Nothing here builds; `cargo xtask test` has done that.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The site as `cargo xtask dist` leaves it. */
export const SITE = process.env.SECTILE_SITE ?? join(ROOT, 'target/dist/site');
/** Files that do not belong to the project; tests on them run where they are. */
export const SHARED = process.env.SECTILE_SHARED ?? join(ROOT, '../shared');

/** The program, as built for tests. */
export function program() {
  const found = [process.env.SECTILE, join(ROOT, 'target/debug/sectile'), join(ROOT, 'target/release/sectile')].find((path) => path && existsSync(path));
  if (!found) throw new Error('build the program first: cargo build');
  return found;
}

/**
 * Starts a server whose first line on stdout holds its address.
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<{base: string, stop(): Promise<void>}>}
 */
export async function serve(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const base = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (piece) => {
      text += piece;
      const address = /http:\/\/[\w.:]+\//.exec(text);
      if (address) resolve(address[0]);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${command} ended with ${code} before it told its address: ${text}`)));
  });
  return {
    base,
    stop: () => new Promise((done) => {
      child.removeAllListeners('exit');
      child.once('exit', done);
      child.kill();
    }),
  };
}

/** The pages at `/` and a folder at `/data/`. */
export function servePagesAnd(folder) {
  return serve(program(), ['serve', folder, '--pages', SITE, '--port', '0']);
}

/** A server that misbehaves by the first part of the path; the rest is a file of the folder. */
export function serveFaults(folder) {
  return serve(process.execPath, [join(ROOT, 'tests/servers/faults.mjs'), folder]);
}

/** A server of synthetic exposures over one line of stated latency and bandwidth. */
export function serveExposures(options) {
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return serve(process.execPath, [join(ROOT, 'benches/server.mjs'), ...args]);
}
