// The person's own browser for the demo, and a Chromium for the tests.
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptCommand, aptInstall } from './apt.mjs';
import { Stop } from './log.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const PACKAGES = ['chromium'];

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
  return onPath(NAMES);
}

/** The first program of these names on the path. */
export function onPath(names) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

/** Finds Chromium, or installs Debian's package if that takes no question; otherwise says how to install it. */
export async function needChromium() {
  const found = findChromium();
  if (found) return found;
  if (!(await aptInstall('Chromium', PACKAGES))) {
    throw new Stop(
      'The browser tests need Chromium, and none was found ($CHROMIUM, chromium, chromium-browser, google-chrome).\n' +
        `Install it:  sudo sh -c '${aptCommand(PACKAGES)}'\n` +
        'or set CHROMIUM to its path, or set REFLOAT_SKIP_BROWSER=1 to do without these tests.',
    );
  }
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
