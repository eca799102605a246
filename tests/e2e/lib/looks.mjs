// Window sizes and themes to look at pages in, and what must hold in all of them whatever a page shows.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { drawn, outside, violations } from './page.mjs';
import { shots } from './paths.mjs';

export const PHONE = { name: 'dark-390', colorScheme: 'dark', viewport: { width: 390, height: 844 } };
export const DESK = { name: 'light-1280', colorScheme: 'light', viewport: { width: 1280, height: 800 } };

/** Both sizes, in both themes. */
export const LOOKS = [
  DESK,
  { name: 'light-390', colorScheme: 'light', viewport: PHONE.viewport },
  PHONE,
  { name: 'dark-1280', colorScheme: 'dark', viewport: DESK.viewport },
];

/** Options of a page that is opened in this look. */
export const opened = ({ colorScheme, viewport }) => ({ ready: false, reducedMotion: 'reduce', colorScheme, viewport });

/** Gives an open page another size and theme. */
export async function turn(page, { colorScheme, viewport }) {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(viewport);
  await drawn(page);
}

/** Checks the page as it stands: nothing wider than the screen, no mark outside its drawing, no NaN or the like, no rule of axe broken. */
export async function sound(page) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} px too wide`);
  assert.ok(!/NaN|undefined|Infinity/.test(await page.locator('main').innerText()));
  assert.deepEqual(await outside(page), [], 'marks outside their drawing');
  assert.deepEqual(await violations(page), []);
}

/** Ends a journey made on a phone: checks that the page is sound there and on a desk, and saves a picture of each under this name. */
export async function soundInBoth(page, name) {
  mkdirSync(shots, { recursive: true });
  for (const look of [PHONE, DESK]) {
    await turn(page, look);
    await sound(page);
    await page.screenshot({ path: join(shots, `${name}-${look.name}.png`), fullPage: true });
  }
}
