import { test as base, expect } from '@playwright/test';
import { realServer, staticHost } from './host.mjs';
import { openDemo } from './page.mjs';

/**
 * Fixtures of a journey: `site` is the address of a plain static host of the demo, `serve` starts the real server, and `open` opens
 * the demo in a browser of its own. What the page writes to its console is judged when the journey ends.
 */
export const test = base.extend({
  site: [
    // Playwright reads from the pattern which fixtures a fixture needs.
    async ({}, use) => {
      const host = await staticHost();
      await use(host.url);
      await host.close();
    },
    { scope: 'worker' },
  ],
  serve: async ({}, use) => {
    const after = [];
    await use((options) => realServer(after, options));
    for (const cleanup of after.reverse()) await cleanup();
  },
  // After `serve`, so that pages are closed before their server goes.
  open: async ({ browser, serve }, use) => {
    void serve;
    const after = [];
    await use((url, options) => openDemo(browser, after, url, options));
    const failures = [];
    for (const cleanup of after.reverse()) await cleanup().catch((error) => failures.push(error));
    if (failures.length) throw failures[0];
  },
});

/** Polls until `probe` returns something truthy; otherwise fails with `what` as the message. */
export function until(what, probe, timeout = 30_000) {
  // Often enough to see the stages of a toy set pass.
  return expect.poll(probe, { message: what, timeout, intervals: [25] }).toBeTruthy();
}
