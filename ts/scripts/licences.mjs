// npm takes licence files only from the package's own folder; the repository keeps them at its root.
import { copyFile } from 'node:fs/promises';

for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  try {
    await copyFile(new URL(`../../${name}`, import.meta.url), new URL(`../${name}`, import.meta.url));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    console.error(`error: ${name} is not in the folder above this one, where the repository has it; pack in a clone, with npm pack --workspace ts`);
    process.exit(1);
  }
}
