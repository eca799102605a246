import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { glueOnDemand } from './glue.js';
import { MISSING, missingFromRoot, PAGES, pages } from './pages.js';
import { prerender } from './prerender.js';

// `vite --mode fixture` serves the page with the plaintext model of the tests instead of the
// library, to work on views; a build never contains it.
export default defineConfig(({ mode }) => ({
  base: './',
  appType: 'mpa',
  build: { target: 'es2022', outDir: 'dist', emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false }, rolldownOptions: { input: [...Object.keys(PAGES), MISSING].map((page) => fileURLToPath(new URL(`${page}.html`, import.meta.url))) } },
  plugins: [pages(), missingFromRoot(), prerender(new URL('./src/recorded/toy10.json', import.meta.url))],
  // As for the pages: glue that both load comes out the same, and is one file.
  worker: { format: 'es', plugins: () => [glueOnDemand()], rolldownOptions: { output: { topLevelVar: true } } },
  resolve: {
    alias: mode === 'fixture' ? [{ find: /^refloat$/, replacement: fileURLToPath(new URL('./test/fixtures/refloat.ts', import.meta.url)) }] : [],
  },
}));
