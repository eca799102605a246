import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

// A browser of its own, without the services it would otherwise call home to.
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts Chromium. */
export function openBrowser() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const executablePath = process.env.CHROMIUM ?? NAMES.flatMap((n) => folders.map((f) => join(f, n))).find(isProgram);
  if (!executablePath) throw new Error('no Chromium found: set CHROMIUM to its path, or install the package chromium');
  return chromium.launch({ executablePath, args: ARGS });
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
