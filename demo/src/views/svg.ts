import { html, trusted, type Html, type Part } from '../html.js';

/** A number as an SVG attribute, rounded to two decimals. */
export function n(x: number): string {
  return String(Math.round(x * 100) / 100);
}

/** An SVG drawing with an accessible name. */
export function drawing(width: number, height: number, label: string, className: string, content: Part): Html {
  return html`<svg class="${className}" viewBox="0 0 ${n(width)} ${n(height)}" width="${n(width)}" height="${n(height)}" role="img" aria-label="${label}">${content}</svg>`;
}

/** Text at a point. */
export function label(x: number, y: number, text: Part, className: string, anchor: 'start' | 'middle' | 'end' = 'middle'): Html {
  return html`<text x="${n(x)}" y="${n(y)}" class="${className}" text-anchor="${anchor}">${text}</text>`;
}

/** Text at a point, broken at spaces into two lines where the column is narrow; the first line is at y. */
export function caption(x: number, y: number, text: string, className: string, room: number): Html {
  const words = text.split(' ');
  if (words.length < 2 || text.length * 7.2 < room) return label(x, y, text, className);
  const half = Math.ceil(words.length / 2);
  return html`<text x="${n(x)}" y="${n(y)}" class="${className}" text-anchor="middle"><tspan x="${n(x)}">${words.slice(0, half).join(' ')}</tspan><tspan x="${n(x)}" dy="14">${words.slice(half).join(' ')}</tspan></text>`;
}

/** A path through commands made by this source. */
export function path(d: string, className: string): Html {
  return html`<path d="${d}" class="${className}"/>`;
}

/**
 * The boat: hull, two sails and a keel of the given length. The origin is the water line amidships;
 * `size` is the length of the hull.
 */
export function boat(x: number, y: number, size: number, keel: number): Html {
  const s = size / 100;
  const q = (v: number): string => n(v * s);
  const d = {
    hull: `M${q(-50)} ${q(-13)}C${q(-20)} ${q(-8)} ${q(20)} ${q(-8)} ${q(52)} ${q(-15)}C${q(46)} ${q(6)} ${q(36)} ${q(11)} ${q(26)} ${q(12)}H${q(-28)}C${q(-40)} ${q(10)} ${q(-47)} 0 ${q(-50)} ${q(-13)}Z`,
    main: `M${q(3)} ${q(-98)}C${q(34)} ${q(-70)} ${q(44)} ${q(-40)} ${q(45)} ${q(-21)}C${q(30)} ${q(-18)} ${q(14)} ${q(-17)} ${q(3)} ${q(-17)}Z`,
    jib: `M${q(-3)} ${q(-86)}V${q(-17)}C${q(-16)} ${q(-18)} ${q(-30)} ${q(-19)} ${q(-42)} ${q(-22)}C${q(-22)} ${q(-44)} ${q(-9)} ${q(-66)} ${q(-3)} ${q(-86)}Z`,
  };
  return html`<g class="boat" style="transform:translate(${n(x)}px,${n(y)}px)">
    ${keel > 0 && trusted(`<path class="boat-keel" d="M0 ${q(10)}V${n(Math.max(keel, 1))}M-4 ${n(Math.max(keel, 1))}H4"/>`)}
    ${trusted(`<path class="boat-sail" d="${d.main}"/><path class="boat-sail" d="${d.jib}"/><path class="boat-hull" d="${d.hull}"/>`)}
  </g>`;
}
