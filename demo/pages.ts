import type { Plugin } from 'vite';

/** The pages, and what links to them say. */
export const PAGES = { index: 'Pictures', gates: 'Gates', conventional: 'Comb', digits: 'Digits', exact: 'Exact', patients: 'Patients' } as const;

const HEAD = `<meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
    <meta name="color-scheme" content="light dark">
    <link rel="icon" href="./icon.svg" type="image/svg+xml">`;

/** Writes what all pages have alike: `<!--head-->`, and for every `<!--pages-->` the links to the other pages. */
export function pages(): Plugin {
  return {
    name: 'refloat-pages',
    transformIndexHtml: {
      order: 'pre',
      handler(html, { path }) {
        const others = Object.entries(PAGES).filter(([page]) => !path.endsWith(`/${page}.html`));
        const links = others.map(([page, words]) => `<a href="./${page}.html">${words}</a>`).join('');
        const written = Object.entries({ '<!--head-->': HEAD, '<!--pages-->': links });
        return written.reduce((text, [mark, content]) => {
          if (!text.includes(mark)) throw new Error(`${path} has no ${mark}`);
          return text.replaceAll(mark, content);
        }, html);
      },
    },
  };
}
