// The person's own browser for the demo, and a Chromium for the tests.
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Stop, begin } from './log.mjs';
import { must, run } from './run.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const INSTALL = 'apt-get update && apt-get install -y --no-install-recommends chromium';

/** Shows a page in the person's browser; without a display, or when that fails, nothing happens. */
export function openBrowser(url) {
  const { platform, env } = process;
  if (platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return;
  const [command, args] =
    platform === 'darwin' ? ['open', [url]] : platform === 'win32' ? ['cmd', ['/c', 'start', '', url]] : ['xdg-open', [url]];
  const child = spawn(command, args, { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}

/** The Chromium to test with: `$CHROMIUM`, or one of the usual names on the path. */
export function findChromium() {
  if (process.env.CHROMIUM) {
    if (isProgram(process.env.CHROMIUM)) return process.env.CHROMIUM;
    throw new Stop(`CHROMIUM=${process.env.CHROMIUM} is not a program; set it to one, or unset it`);
  }
  const folders = (process.env.PATH ?? '').split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

/** Finds Chromium, installing Debian's package where that needs no question; otherwise says how. */
export async function needChromium() {
  const found = findChromium();
  if (found) return found;
  const root = process.getuid?.() === 0;
  const apt = (await run('apt-get', ['--version'])).code === 0;
  const sudo = !root && apt && (await run('sudo', ['-n', 'true'])).code === 0;
  if (!apt || (!root && !sudo)) {
    throw new Stop(
      'The browser tests need Chromium, and none was found ($CHROMIUM, chromium, chromium-browser, google-chrome).\n' +
        `Install it:  sudo sh -c '${INSTALL}'\n` +
        'or set CHROMIUM to its path, or set REFLOAT_SKIP_BROWSER=1 to do without these tests.',
    );
  }
  const step = begin('Chromium: installing the Debian package');
  const shell = root ? ['sh', ['-c', INSTALL]] : ['sudo', ['-n', 'sh', '-c', INSTALL]];
  await must(step, ...shell, { env: { DEBIAN_FRONTEND: 'noninteractive' } });
  step.done();
  const installed = findChromium();
  if (!installed) throw new Stop('Chromium was installed, yet cannot be found on the path');
  return installed;
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
