// Draws the pictures of core/CONCEPTS.md: `npm run draw --workspace demo`, after `npm run build:demo`.
//
// Each is a drawing of a page as it opens, with its recorded run, as an SVG file that follows the reader's colour scheme: what the
// style sheets say of every mark, light and dark, is written into the file.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { staticHost } from '../../tests/e2e/lib/host.mjs';
import { findChromium } from '../../tests/tools/lib/browser.mjs';

const out = fileURLToPath(new URL('../../core/concepts/', import.meta.url));
const WIDTH = 1000;

/** The page, the drawing in it, and what is pressed first; or several drawings, which are put side by side. */
const DRAWINGS = {
  modulus: ['index', '#figure-tide svg'],
  slot: ['index', '.slot-scene', '#station-blind_rotate'],
  comb: ['comb', '#conv-comb svg', '[data-act="at:1"]'],
  polynomial: ['comb', '#conv-polynomial svg'],
  digits: ['digits', '#digits-circle svg', '[data-act="at:1"]'],
  exact: ['exact', '#figure-comb svg', '[data-act="at:4"]'],
  gate: ['gates', ['.gates-figures figure:nth-child(1) svg', '.gates-figures figure:nth-child(2) svg', '.gates-figures figure:nth-child(3) svg']],
  triage: ['triage', '.triage-triangle'],
};

const host = await staticHost();
const browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox', '--disable-gpu'] });
try {
  mkdirSync(out, { recursive: true });
  for (const [name, [page, selector, press]] of Object.entries(DRAWINGS)) {
    const session = await browser.newContext({ viewport: { width: WIDTH, height: 900 }, reducedMotion: 'reduce' });
    const tab = await session.newPage();
    await tab.goto(`${host.url}${page}.html`);
    const drawings = [selector].flat().map((one) => tab.locator(one).first());
    for (const drawing of drawings) await drawing.waitFor();
    await tab.waitForLoadState('networkidle');
    if (press) await tab.locator(press).first().click();
    const looks = {};
    for (const colorScheme of ['light', 'dark']) {
      await tab.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      looks[colorScheme] = sideBySide(await Promise.all(drawings.map((drawing) => drawing.evaluate(marksOf))));
    }
    const text = svgOf(looks);
    writeFileSync(join(out, `${name}.svg`), text);
    console.log(`${name}.svg: ${text.length} bytes`);
    await session.close();
  }
} finally {
  await browser.close();
  await host.close();
}

/** Several drawings as one. */
function sideBySide(drawings) {
  if (drawings.length === 1) return drawings[0];
  const boxes = drawings.map(({ attributes }) => attributes.viewBox.split(' ').map(Number));
  const height = Math.max(...boxes.map((box) => box[3]));
  let width = 0;
  const children = drawings.map((drawing, i) => {
    const [x, y, wide, high] = boxes[i];
    const transform = `translate(${width - x} ${(height - high) / 2 - y})`;
    width += wide;
    return { ...drawing, tag: 'g', attributes: { transform } };
  });
  return { tag: 'svg', attributes: { viewBox: `0 0 ${width} ${height}` }, look: '', label: drawings.map(({ label }) => label).join('; '), children };
}

/** Runs in the page: the marks of a drawing as a tree, with the properties that make up the look of each. */
function marksOf(svg) {
  const LOOKS = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'fill-opacity', 'stroke-opacity', 'opacity', 'font-size', 'font-weight'];
  const USUAL = { stroke: 'none', 'stroke-width': '1px', 'stroke-dasharray': 'none', 'stroke-linecap': 'butt', 'fill-opacity': '1', 'stroke-opacity': '1', opacity: '1', 'font-weight': '400' };
  const KEPT = ['x', 'y', 'x1', 'x2', 'y1', 'y2', 'cx', 'cy', 'r', 'rx', 'ry', 'width', 'height', 'd', 'points', 'dx', 'dy', 'text-anchor', 'viewBox', 'transform'];
  const read = (node) => {
    if (node.nodeType === 3) return node.nodeValue;
    if (node.nodeType !== 1 || node.tagName === 'foreignObject') return '';
    const style = getComputedStyle(node);
    if (style.display === 'none' || style.visibility === 'hidden' || node.matches('.hit, .visually-hidden')) return '';
    const attributes = Object.fromEntries(KEPT.flatMap((key) => (node.hasAttribute(key) ? [[key, node.getAttribute(key)]] : [])));
    if (style.textAnchor !== 'start') attributes['text-anchor'] = style.textAnchor;
    if (style.dominantBaseline !== 'auto') attributes['dominant-baseline'] = style.dominantBaseline;
    // Marks that move are placed by a style.
    const moved = /^matrix\(([^)]+)\)$/.exec(style.transform)?.[1].split(', ').map((x) => Math.round(Number(x) * 100) / 100);
    if (moved) attributes.transform = moved.slice(0, 4).join() === '1,0,0,1' ? `translate(${moved[4]} ${moved[5]})` : `matrix(${moved.join(' ')})`;
    const text = node.tagName === 'text' || node.tagName === 'tspan';
    const leaf = text || !['svg', 'g', 'defs', 'clipPath', 'title'].includes(node.tagName);
    const look = leaf ? LOOKS.flatMap((key) => (style.getPropertyValue(key) === USUAL[key] || (!text && key.startsWith('font')) ? [] : [`${key}:${style.getPropertyValue(key)}`])).join(';') : style.opacity === '1' ? '' : `opacity:${style.opacity}`;
    return { tag: node.tagName, attributes, look, label: node.getAttribute('aria-label'), children: [...node.childNodes].map(read).filter((child) => typeof child !== 'string' || child.trim()) };
  };
  return read(svg);
}

/** The SVG file: every look that occurs becomes a class, with a light and a dark form. */
function svgOf({ light, dark }) {
  const classes = new Map();
  const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
  const write = (a, b, top = false) => {
    if (typeof a === 'string') return escape(a.trim());
    const key = `${a.look}|${b?.look ?? a.look}`;
    const name = a.look ? (classes.get(key) ?? `c${classes.size}`) : '';
    if (name) classes.set(key, name);
    const attributes = Object.entries(a.attributes).filter(([what]) => !top || what === 'viewBox').map(([what, value]) => ` ${what}="${escape(value)}"`).join('');
    const inside = a.children.map((child, i) => write(child, b?.children[i])).join('');
    if (top) return { inside, attributes };
    return `<${a.tag}${attributes}${name ? ` class="${name}"` : ''}${inside ? `>${inside}</${a.tag}>` : '/>'}`;
  };
  const { inside, attributes } = write(light, dark, true);
  const rules = (which) => [...classes].map(([key, name]) => [name, key.split('|')]).filter(([, [a, b]]) => which === 0 || a !== b).map(([name, looks]) => `.${name}{${looks[which]}}`).join('');
  const label = light.label ? `<title>${escape(light.label)}</title>` : '';
  return `<svg xmlns="http://www.w3.org/2000/svg"${attributes} role="img">${label}<style>text{font-family:system-ui,"Noto Sans","DejaVu Sans",sans-serif}${rules(0)}@media (prefers-color-scheme:dark){${rules(1)}}</style>${inside}</svg>\n`;
}
