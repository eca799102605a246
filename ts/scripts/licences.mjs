// npm takes licence files only from the package's own folder; the repository keeps them at its root.
import { copyFile } from 'node:fs/promises';

for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  await copyFile(new URL(`../../${name}`, import.meta.url), new URL(`../${name}`, import.meta.url));
}
