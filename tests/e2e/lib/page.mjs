import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Console lines that are not the page's doing. */
const NOT_OURS = [/Failed to load resource: the server responded with a status of 404/, /net::ERR_CONNECTION_REFUSED/, /net::ERR_CONNECTION_RESET/, /net::ERR_EMPTY_RESPONSE/, /net::ERR_INCOMPLETE_CHUNKED_ENCODING/];

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Opens the demo; adds to `after` how to close it and judge what it wrote to its console. Any error on the console or in a script
 * fails the test when it ends, except for the browser's own notes about requests that are meant to fail (`expectLostRequests`).
 */
export async function openDemo(browser, after, url, { expectLostRequests = false, hash = '', ready = true, prepare, ...options } = {}) {
  const session = await browser.newContext(options);
  const errors = [];
  const page = await session.newPage();
  page.on('pageerror', (error) => errors.push(`script: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    const text = message.text();
    // Said because these tests read pixels back; the page does not.
    if (text.includes('willReadFrequently')) return;
    // A static host answers 404 where a server would list its parameters.
    const lost = NOT_OURS.some((p) => p.test(text));
    if (lost && (expectLostRequests || message.location().url.includes('/v1/params'))) return;
    errors.push(`console: ${text} (${message.location().url})`);
  });
  after.push(async () => {
    await session.close();
    assert.deepEqual(errors, [], 'errors in the page');
  });
  await prepare?.(page);
  await page.goto(url + hash);
  if (ready) await page.locator('[data-act=refloat]:enabled').waitFor({ timeout: 60_000 });
  return page;
}

/** Presses Refloat and waits until the picture has come back. */
export async function refloat(page, { limit = 120_000 } = {}) {
  const before = await finished(page);
  await page.click('[data-act=refloat]');
  await cameBack(page, { since: before, limit });
}

/** Presses Refloat, and cancels as soon as the line of progress has these words; waits until another voyage can begin. */
export async function refloatAndCancel(page, words) {
  const cancelled = clickWhen(page, words, '[data-act=cancel]');
  await page.click('[data-act=refloat]');
  await cancelled;
  await page.locator('[data-act=refloat]:enabled').waitFor();
}

/** Voyages that have come back in this page. */
export async function finished(page) {
  return Number(await page.locator('body').getAttribute('data-finished'));
}

/** Waits until one more voyage than `since` has come back and nothing is under way. */
export async function cameBack(page, { since = 0, limit = 120_000 } = {}) {
  await page.waitForFunction(
    (count) => document.querySelector('.problem') || (Number(document.body.dataset.finished) > count && !document.querySelector('[data-act=cancel]')),
    since,
    { timeout: limit },
  );
  assert.equal(await page.locator('.problem').count(), 0, await problemText(page));
}

/** What the problem box says, or nothing. */
export async function problemText(page) {
  return (await page.locator('.problem').allInnerTexts()).join('\n');
}

/** Selects a station by its list option. */
export async function station(page, name) {
  await page.click(`#station-${name}`);
  await page.locator(`#station-${name}[aria-selected=true]`).waitFor();
}

/** Switches a figure to its table and reads it as {first cell: other cells}; unfolds the section around it if necessary. */
export async function table(page, figure) {
  const folded = page.locator(`details:not([open]):has(#figure-${figure}) > summary`);
  if (await folded.count()) await folded.click();
  const button = page.locator(`#figure-${figure} [data-act="table:${figure}"]`);
  if ((await button.getAttribute('aria-pressed')) === 'false') await button.click();
  await page.locator(`#figure-${figure} table`).waitFor();
  const rows = await page.locator(`#figure-${figure} tbody tr`).evaluateAll((trs) => trs.map((tr) => [...tr.children].map((c) => c.textContent.trim())));
  await button.click();
  await page.locator(`#figure-${figure} table`).waitFor({ state: 'detached' });
  return Object.fromEntries(rows.map(([first, ...rest]) => [first, rest]));
}

/** Grey levels of a canvas that holds one pixel per slot. */
export function pixels(page, name) {
  return page.locator(`canvas[data-canvas="${name}"]`).evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return Array.from({ length: data.length / 4 }, (_, i) => data[4 * i]);
  });
}

/** Waits until what was asked for is on the screen: views are drawn with the next frame. */
export function drawn(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
}

/** A short name for what a canvas shows. */
export async function fingerprint(page, name) {
  return createHash('sha256').update(Uint8Array.from(await pixels(page, name))).digest('hex').slice(0, 12);
}

/** Largest and mean difference of two pictures, in grey levels. */
export function difference(a, b) {
  assert.equal(a.length, b.length, 'pictures of different sizes');
  const each = a.map((x, i) => Math.abs(x - b[i]));
  return { largest: Math.max(...each), mean: each.reduce((s, x) => s + x, 0) / each.length };
}

/** Clicks `target` as soon as `line` says `words`, from inside the page: runs here are fast. Call it before the run starts. */
export function clickWhen(page, words, target, line = '.progress-label') {
  return page.evaluate(
    ([text, selector, where]) =>
      new Promise((resolve) => {
        const look = () => {
          const line = document.querySelector(where);
          const button = document.querySelector(selector);
          if (!line?.textContent.includes(text) || !button || button.disabled) return;
          observer.disconnect();
          button.click();
          resolve();
        };
        const observer = new MutationObserver(look);
        observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
        look();
      }),
    [words, target, line],
  );
}

/** Rules of WCAG 2.2 A and AA and good practice that the page breaks, with where. */
export async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')} — ${n.failureSummary?.split('\n')[1]?.trim() ?? v.help}`));
}

/** Marks of the page's drawings that are beyond the edge of their drawing, by more than the width of a line. */
export function outside(page, drawings = 'main svg') {
  return page.locator(drawings).evaluateAll((all) =>
    all.flatMap((svg) => {
      const frame = svg.getBoundingClientRect();
      return [...svg.querySelectorAll('circle, path, line, polyline, rect, text')].flatMap((mark) => {
        // A clipped mark shows only within its clip, which boxes ignore; a mark inside `defs` is not drawn.
        if (mark.closest('[clip-path], defs')) return [];
        const box = mark.getBoundingClientRect();
        if (box.width + box.height === 0) return [];
        const beyond = Math.max(frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom);
        return beyond > 2 ? [`${svg.getAttribute('class')}: ${mark.tagName}.${mark.getAttribute('class')} “${mark.textContent}” by ${beyond.toFixed(1)} px`] : [];
      });
    }),
  );
}

/** Whether the message of the page is wholly inside the window, and has the focus. */
export function messageLies(page) {
  return page.locator('.problem').first().evaluate((message) => {
    const { top, bottom } = message.getBoundingClientRect();
    return { inside: top >= 0 && bottom <= innerHeight, focused: message.contains(document.activeElement), role: message.getAttribute('role') };
  });
}

/** Keeps a list of the workers that the page starts, so that they can be ended. */
export const keepWorkers = (page) =>
  page.addInitScript(() => {
    const Real = globalThis.Worker;
    globalThis.workers = [];
    globalThis.Worker = class extends Real {
      constructor(...args) {
        super(...args);
        globalThis.workers.push(this);
      }
    };
  });
