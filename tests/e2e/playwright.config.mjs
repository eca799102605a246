// Journeys through the demo in the system's Chromium: `npm run e2e`, or `npx playwright test -g WORDS` in this folder.
//
// Needs a built demo (demo/dist) and, for the journeys with a server, the binary `refloat`:
//   REFLOAT_BIN            the server; else target/quick/refloat, else target/debug/refloat
//   REFLOAT_DEMO           the built demo; else demo/dist
//   CHROMIUM               the browser; else chromium on the path
//   REFLOAT_E2E_SHIP13=1   also the journey at full size (1.5 GB of keys, minutes)
import { defineConfig } from '@playwright/test';
import { findChromium } from '../tools/lib/browser.mjs';

const executablePath = findChromium();
if (!executablePath) throw new Error('no Chromium found: set CHROMIUM to its path, or install the package chromium');

export default defineConfig({
  testDir: 'journeys',
  testMatch: '*.mjs',
  outputDir: 'results',
  timeout: 180_000,
  // Pages compute on all cores.
  workers: 1,
  // A browser on a loaded machine may stumble: each test has one more try, which leaves a trace, and both outcomes are reported.
  retries: 1,
  reporter: [['list'], ['./lib/summary.mjs']],
  use: {
    viewport: { width: 1280, height: 860 },
    actionTimeout: 30_000,
    navigationTimeout: 30_000,
    trace: 'on-first-retry',
    // A browser of its own, without the services it would otherwise call home to.
    launchOptions: {
      executablePath,
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    },
  },
  projects: [{ name: 'chromium' }],
});
