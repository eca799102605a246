// Tries the archive of a release as somebody does who downloads it.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { cargoHome, runner } from './cross.mjs';
import { doJob } from './job.mjs';
import { Stop } from './log.mjs';
import { root, target } from './paths.mjs';
import { LICENCES, THIRD_PARTY } from './release.mjs';
import { must } from './run.mjs';
import { inScratch } from './scratch.mjs';

/** What an archive has beside its program. */
const ARCHIVED = [join('share', 'refloat', 'demo', 'index.html'), 'README.md', ...LICENCES, THIRD_PARTY, 'bom.cdx.json'];

/** Folders of this machine, whose names nobody else needs to know. */
const HERE = [root, target, cargoHome, homedir()];

/**
 * Unpacks an archive, and does a job with its binary for `system`, whose server must show the demo; a binary for Windows cannot run here.
 * Returns what was done.
 */
export function tryArchive(step, system, archived) {
  return inScratch('release', async (place) => {
    await must(step, 'tar', ['--extract', `--file=${archived}`, `--directory=${place}`]);
    const unpacked = join(place, basename(archived, '.tar.gz'));
    const program = join('bin', system.includes('windows') ? 'refloat.exe' : 'refloat');
    const missing = [program, ...ARCHIVED].filter((name) => !existsSync(join(unpacked, name)));
    if (missing.length) throw new Stop(`${archived} lacks ${missing.join(', ')}`);
    const told = HERE.filter((folder) => readFileSync(join(unpacked, program)).includes(`${folder}/`));
    if (told.length) throw new Stop(`${program} of ${archived} has names of folders of this machine in it: ${told.join(', ')}`);
    if (system.includes('windows')) return 'unpacked, not run';
    const work = join(place, 'work');
    mkdirSync(work);
    const { page, bits } = await doJob(step, [...runner(system), join(unpacked, program)], work);
    if (!/<script type="module"/.test(page)) throw new Stop(`the server of ${archived} does not show the demo, but:\n${page.slice(0, 500)}`);
    return `unpacked, toy10: ${bits} bits`;
  });
}
