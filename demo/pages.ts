import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

/** The pages, and what the menu calls them. */
export const PAGES = { index: 'Pictures', gates: 'Gates', conventional: 'Comb', digits: 'Digits', exact: 'Exact', patients: 'Patients', triage: 'Triage', methods: 'Methods' } as const;

/** The page for paths that lead nowhere; hosts of static files know it by this name. */
export const MISSING = '404';

const HEAD = `<meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
    <meta name="color-scheme" content="light dark">
    <link rel="icon" href="./icon.svg" type="image/svg+xml">`;

const LOGO =
  '<svg viewBox="0 0 40 24" width="40" height="24" aria-hidden="true"><path class="mark-sail" d="M20 1c6 4 9 8 9.5 12.5-3 .6-6 .8-9.5.8zM17.5 3v11.4c-3.4 0-6-.2-8.6-.7C12 9 15 6.500 17.500 3z"/><path class="mark-water" d="M1 18.500c3.200 0 3.200 2.500 6.400 2.500s3.200-2.500 6.300-2.500 3.200 2.500 6.300 2.500 3.200-2.500 6.300-2.500 3.200 2.500 6.300 2.500 3.200-2.500 6.400-2.500"/></svg>';

/** Name, menu and switch of colours; `page` is marked in the menu as the one that is open. */
function masthead(page: string | undefined): string {
  const links = Object.entries(PAGES).map(([name, words]) => `<a href="./${name}.html"${name === page ? ' aria-current="page"' : ''}>${words}</a>`);
  return `<header class="masthead">
      <p class="wordmark"><a href="./index.html">${LOGO}refloat</a></p>
      <nav aria-label="Pages">${links.join('')}</nav>
      <button type="button" class="quiet theme" data-act="theme">Light or dark</button>
    </header>`;
}

/** The end of all pages but the first, and where they speak to those who listen. */
const FOOT = `<footer class="foot"><p>Licensed under MIT or Apache-2.0.</p></footer>
    <div id="live" class="visually-hidden" aria-live="polite" role="status"></div>`;

/** Where the patients of two pages come from. */
const DATA = `<section class="band" id="data" aria-labelledby="data-title">
        <div class="section-text"><h2 id="data-title">Data</h2>
        <p>Breast Cancer Wisconsin (Diagnostic): W. Wolberg, O. Mangasarian, N. Street, W. Street, UCI Machine Learning Repository, 1993, <a href="https://doi.org/10.24432/C5DW2B">doi 10.24432/C5DW2B</a>, under <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>. This is a demonstration of a method, not medical advice.</p></div>
      </section>`;

/**
 * Writes what all pages have alike, `<!--head-->` and `<!--masthead-->`, and what several have, `<!--foot-->` and `<!--data-->`. A
 * page is served with and without `.html`, which Vite does by itself; other paths get the page that says that there is nothing.
 */
export function pages(): Plugin {
  return {
    name: 'refloat-pages',
    transformIndexHtml: {
      order: 'pre',
      handler(html, { path }) {
        const page = Object.keys(PAGES).find((name) => path.endsWith(`/${name}.html`));
        const written = { head: HEAD, masthead: masthead(page), foot: FOOT, data: DATA };
        for (const mark of ['head', 'masthead']) if (!html.includes(`<!--${mark}-->`)) throw new Error(`${path} has no <!--${mark}-->`);
        // A page with a shell shows its heading alone until the run is there that it opens with.
        const opening = page && page !== 'index' ? html.replace('<body>', '<body data-opening>') : html;
        return opening.replace(/<!--(head|masthead|foot|data)-->/g, (_, mark: keyof typeof written) => written[mark]);
      },
    },
    configureServer(server) {
      // After Vite's own paths, before it gives up.
      return () => {
        server.middlewares.use((request, response, next) => {
          if (/\.\w+(?:\?|$)/.test(request.url ?? '')) return next();
          const source = readFileSync(fileURLToPath(new URL(`./${MISSING}.html`, import.meta.url)), 'utf8');
          server
            .transformIndexHtml(`/${MISSING}.html`, source)
            .then((text) => response.writeHead(404, { 'content-type': 'text/html' }).end(text))
            .catch(next);
        });
      };
    },
  };
}

/** Addresses of the page for what is missing begin at the root: it is shown at any depth, and a policy may forbid a base. */
export function missingFromRoot(): Plugin {
  return {
    name: 'refloat-missing',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { path }) => (path.endsWith(`/${MISSING}.html`) ? html.replace(/(href|src)="\.\//g, '$1="/') : html),
    },
  };
}
