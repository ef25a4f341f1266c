import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const options = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
};

/** Headless Chromium as the tests use it; the program comes from CHROMIUM or its usual place. */
export function launch() {
  return chromium.launch(options);
}

/**
 * The same with a profile on disk, as a person has it: what a page stores is written to files, and not held in
 * the browser's memory. The profile goes when the tests' process ends.
 */
export async function launchWithProfile() {
  const profile = mkdtempSync(join(tmpdir(), 'sectile-profile-'));
  process.once('exit', () => rmSync(profile, { recursive: true, force: true, maxRetries: 3 }));
  return chromium.launchPersistentContext(profile, options);
}
