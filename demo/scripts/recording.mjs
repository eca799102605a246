// What the scripts share that record something for the pages to show.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

/** Compiles modules of the pages: `ssrLoadModule` loads them by their paths in the demo. To be closed. */
export function modulesOfPages() {
  return createServer({
    root: fileURLToPath(new URL('..', import.meta.url)),
    // Node loads the package, and only once: a program must come from the same module as the server that takes it.
    ssr: { external: ['refloat', 'refloat/client'] },
    server: { middlewareMode: true },
    appType: 'custom',
    logLevel: 'error',
    optimizeDeps: { noDiscovery: true },
  });
}

/** What made a recording, in words. */
export function madeBy(rf) {
  return `made by refloat ${rf.about().version} in Node ${process.versions.node.split('.')[0]}`;
}

/** Writes `src/recorded/NAME.json`, and gives its length. `replacer` is that of `JSON.stringify`. */
export function keep(name, recorded, replacer) {
  const text = `${JSON.stringify(recorded, replacer)}\n`;
  writeFileSync(new URL(`../src/recorded/${name}.json`, import.meta.url), text);
  return text.length;
}
