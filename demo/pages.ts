import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

/** The pages, and what the menu calls them. */
export const PAGES = { index: 'Pictures', gates: 'Gates', comb: 'Comb', digits: 'Digits', exact: 'Exact', patients: 'Patients', triage: 'Triage', methods: 'Methods' } as const;

/** The page for paths that lead nowhere; hosts of static files know it by this name. */
export const MISSING = '404';

const HEAD = `<meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
    <meta name="color-scheme" content="light dark">
    <link rel="icon" href="./icon.svg" type="image/svg+xml">`;

const LOGO =
  '<svg viewBox="0 0 40 24" width="40" height="24" aria-hidden="true"><path class="mark-sail" d="M20 1c6 4 9 8 9.5 12.5-3 .6-6 .8-9.5.8zM17.5 3v11.4c-3.4 0-6-.2-8.6-.7C12 9 15 6.500 17.500 3z"/><path class="mark-water" d="M1 18.500c3.200 0 3.200 2.500 6.400 2.500s3.200-2.500 6.300-2.500 3.200 2.500 6.300 2.500 3.200-2.500 6.300-2.500 3.200 2.500 6.300 2.500 3.200-2.500 6.400-2.500"/></svg>';

/** Name, menu, link to the glossary and colour switch; the menu marks `page` as the one that is open. */
function masthead(page: string | undefined): string {
  const links = Object.entries(PAGES).map(([name, words]) => `<a href="./${name}.html"${name === page ? ' aria-current="page"' : ''}>${words}</a>`);
  return `<header class="masthead">
      <p class="wordmark"><a href="./index.html">${LOGO}refloat</a></p>
      <nav aria-label="Pages">${links.join('')}</nav>
      <a class="quiet" href="#words">Words</a>
      <button type="button" class="quiet theme" data-act="theme">Light or dark</button>
    </header>`;
}

/** Terms that all pages use and none explains: a word, and what it means here. */
const GLOSSARY: readonly (readonly [string, string])[] = [
  ['Ciphertext', 'What encryption makes of a message: polynomials whose coefficients look random to anybody without the secret key.'],
  ['Key', 'The <i>secret key</i> encrypts and decrypts, and stays with its owner. <i>Evaluation keys</i> are made from it: whoever has them can compute with ciphertexts, but not decrypt them.'],
  ['Parameter set', 'All sizes that are fixed before keys are made, under a name such as <code>ship13</code>. A set whose name begins with “toy” is small, for demonstrations, and protects nothing.'],
  ['Slot', 'The place of one number in a ciphertext. A ciphertext has hundreds or thousands of slots, and an operation acts on all of them at once.'],
  ['Coefficient', 'A number in front of a power of X in a polynomial. The same polynomial holds its message in slots or in coefficients; a linear map leads from one to the other.'],
  ['Noise', 'Small random errors that encryption adds. Without them a ciphertext would not be secret; with every operation they grow.'],
  ['Modulus', 'The number Q at which the coefficients of a ciphertext go round, as the hours of a clock do at 12. Products make it smaller.'],
  ['Level', 'How many factors of its modulus a ciphertext can still give up. A product takes one. Some may be reserved for the first stage of a bootstrapping: products cannot use them.'],
  ['Exhausted', 'A ciphertext without a level that a product may spend.'],
  ['Bootstrapping', 'Raising the modulus of a ciphertext again, without decrypting it, so that computing can go on.'],
  ['Scale', 'The factor by which a fraction is multiplied so that it can be kept as a whole number, such as 2<sup>40</sup>.'],
  ['Bits of security', 'With 128 bits of security the best attack known takes about 2<sup>128</sup> operations.'],
  ['Bits of precision', 'How small an error is: with 10 bits it is at most 1/1,024, or 2<sup>−10</sup>. In the <i>worst slot</i> that is the largest error; over <i>all slots together</i> it is their root mean square.'],
  ['Bits of a modulus', 'How long it is when written in binary, that is log<sub>2</sub> Q. The same is said of a scale.'],
  ['Encrypted bits', 'Zeros and ones that are encrypted. Gates take each in a ciphertext of its own.'],
];

/** The glossary, folded; an address that ends in its id unfolds it. */
const WORDS = `<details class="fold words"><summary><h2>Words on these pages</h2></summary>
      <dl id="words">${GLOSSARY.map(([word, meaning]) => `<div><dt>${word}</dt><dd>${meaning}</dd></div>`).join('')}</dl>
      <p class="hint">The file <code>core/CONCEPTS.md</code> of the source explains them in order, with drawings.</p></details>`;

/** The footer of all pages but the first, and the live region for screen readers. */
const FOOT = `<footer class="foot">${WORDS}<p>Licensed under MIT or Apache-2.0.</p></footer>
    <div id="live" class="visually-hidden" aria-live="polite" role="status"></div>`;

/** Where the patients of two pages come from. */
const DATA = `<section class="band" id="data" aria-labelledby="data-title">
        <div class="section-text"><h2 id="data-title">Data</h2>
        <p>Breast Cancer Wisconsin (Diagnostic): W. Wolberg, O. Mangasarian, N. Street, W. Street, UCI Machine Learning Repository, 1993, <a href="https://doi.org/10.24432/C5DW2B">doi 10.24432/C5DW2B</a>, under <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>. This is a demonstration of a method, not medical advice.</p></div>
      </section>`;

/**
 * Writes what all pages share, `<!--head-->` and `<!--masthead-->`, and what several share: `<!--foot-->`, its `<!--words-->` alone, and
 * `<!--data-->`. A page is served with and without `.html`, which Vite does by itself. Other paths get the page that says that nothing is
 * there.
 */
export function pages(): Plugin {
  return {
    name: 'refloat-pages',
    transformIndexHtml: {
      order: 'pre',
      handler(html, { path }) {
        const page = Object.keys(PAGES).find((name) => path.endsWith(`/${name}.html`));
        const written = { head: HEAD, masthead: masthead(page), words: WORDS, foot: FOOT, data: DATA };
        for (const mark of ['head', 'masthead']) if (!html.includes(`<!--${mark}-->`)) throw new Error(`${path} has no <!--${mark}-->`);
        // A page with a shell shows only its heading until the run that it opens with is loaded.
        const opening = page && page !== 'index' ? html.replace('<body>', '<body data-opening>') : html;
        return opening.replace(/<!--(head|masthead|words|foot|data)-->/g, (_, mark: keyof typeof written) => written[mark]);
      },
    },
    configureServer(server) {
      // Runs after Vite has tried its own paths and before it gives up.
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

/** On the page for missing addresses, links begin at the root: it is shown at any depth, and a policy may forbid a base element. */
export function missingFromRoot(): Plugin {
  return {
    name: 'refloat-missing',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { path }) => (path.endsWith(`/${MISSING}.html`) ? html.replace(/(href|src)="\.\//g, '$1="/') : html),
    },
  };
}
