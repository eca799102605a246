// The package has no dependencies: the parser of server-sent events, a library, is copied into it, with its licence. (npm warns that
// version 4 asks for Node 22; nothing in it needs that, and version 3 takes quadratic time for lines that end in carriage returns.)
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NAME = 'eventsource-parser';
const from = dirname(createRequire(import.meta.url).resolve(`${NAME}/package.json`));
const to = fileURLToPath(new URL(`../dist/vendor/${NAME}`, import.meta.url));

await rm(to, { recursive: true, force: true });
await mkdir(to, { recursive: true });
await copyFile(join(from, 'LICENSE'), join(to, 'LICENSE'));
for (const file of ['index', 'parse', 'errors', 'types'].flatMap((name) => [`${name}.js`, `${name}.d.ts`])) {
  // Its source maps are left out.
  const text = (await readFile(join(from, 'dist', file), 'utf8')).replace(/\n?\/\/# sourceMappingURL=\S+\s*$/, '\n');
  await writeFile(join(to, file), text);
}
