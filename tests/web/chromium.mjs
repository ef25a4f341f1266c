import { chromium } from 'playwright-core';

/** Headless Chromium as the tests use it; the program comes from CHROMIUM or its usual place. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}
