// The package in Chromium, Firefox and WebKit: a page without a bundler computes in a worker and without one, and bootstraps at 128
// bits in the tab. The page sends its verdict to the server that it came from, so that no browser needs a driver.
// `npm run test:browsers` calls this; with --install it installs missing browsers, if apt-get may be used. The last lines are a table
// for the package's README.
//
//   node tests/packaging/browsers.mjs [--install] [case ...]
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium, serving } from './browser.mjs';
import { Skip, check, plainPage, readyMade, run, runCases } from './project.mjs';

/** Milliseconds that a page may take. */
const LIMIT = 300_000;

const which = (name) => {
  try {
    return execFileSync('which', [name], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
};

const root = process.getuid?.() === 0;
const MINI_BROWSER = ['4.1', '6.0', '4.0'].map((version) => `/usr/lib/x86_64-linux-gnu/webkit2gtk-${version}/MiniBrowser`);

/** A session bus that starts no service: the portal for documents would mount a file system in the profile, which outlives the browser. */
const BUS = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=${tmpdir()}</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;

/** For each browser: the command for an address and a profile folder, `undefined` if it is not installed; and the version it states. */
const BROWSERS = {
  Chromium: {
    packages: ['chromium'],
    engine: 'V8',
    version: () => run(findChromium() ?? 'chromium', ['--version']),
    command: (url, profile) => {
      const path = findChromium();
      return path && [path, '--headless', ...(root ? ['--no-sandbox'] : []), `--user-data-dir=${profile}`, url];
    },
  },
  Firefox: {
    packages: ['firefox-esr'],
    engine: 'SpiderMonkey',
    version: () => run(which('firefox-esr') ?? 'firefox', ['--version']),
    command: (url, profile) => {
      const path = which('firefox-esr') ?? which('firefox');
      return path && [path, '--headless', '--no-remote', '--profile', profile, url];
    },
  },
  WebKit: {
    packages: ['webkit2gtk-driver', 'xvfb', 'dbus'],
    engine: 'JavaScriptCore, as Safari',
    version: () => run('xvfb-run', ['--auto-servernum', MINI_BROWSER.find((file) => existsSync(file)) ?? 'MiniBrowser', '--version']),
    command: (url, profile) => {
      const path = MINI_BROWSER.find((file) => existsSync(file));
      const [display, bus] = [which('xvfb-run'), which('dbus-run-session')];
      return path && display && bus && [display, '--auto-servernum', bus, `--config-file=${join(profile, 'bus.conf')}`, '--', path, url];
    },
  },
};

/** The pages, by what they show. */
const PAGES = {
  'in a worker and in the page: SHIP, gates, conventional': 'page.js',
  'one bootstrap at 128 bits in the tab': 'page-ship13.js',
};

/** Opens a page, and waits for what it says. */
async function verdict(name, folder) {
  const { command, packages } = BROWSERS[name];
  const profile = await mkdtemp(join(tmpdir(), 'refloat-browser-'));
  await writeFile(join(profile, 'bus.conf'), BUS);
  let said;
  const answer = new Promise((resolve) => (said = resolve));
  try {
    return await serving(
      folder,
      {},
      async (origin) => {
        const words = command(`${origin}/`, profile);
        if (!words) throw new Skip(`${packages.join(', ')} not installed here; npm run test:browsers does it`);
        const browser = spawn(words[0], words.slice(1), { stdio: 'ignore', detached: true, env: { ...process.env, HOME: profile } });
        const gone = new Promise((resolve) => {
          browser.on('error', (error) => resolve(`${words[0]} does not start: ${error.message}`));
          browser.on('close', (code) => resolve(`the browser ended with ${code}`));
        });
        const late = new Promise((resolve) => setTimeout(resolve, LIMIT, `nothing was said in ${LIMIT / 1000} seconds`).unref());
        try {
          return await Promise.race([answer, gone, late]);
        } finally {
          // Kills everything that the browser started as well.
          if (browser.pid) process.kill(-browser.pid, 'SIGKILL');
          await gone;
        }
      },
      said,
    );
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

const cases = Object.fromEntries(
  Object.keys(BROWSERS).flatMap((name) =>
    Object.entries(PAGES).map(([what, script]) => [
      `${name}: ${what}`,
      async ({ project }) => {
        const out = await plainPage(project, `out-${name}-${script}`, './refloat/browser/refloat.js', script);
        await readyMade(project, join(out, 'refloat'));
        const page = await readFile(join(out, 'index.html'), 'utf8');
        await writeFile(join(out, 'index.html'), page.replace('</body>', '<script src="./report.js"></script></body>'));
        await cp(join(project, 'report.js'), join(out, 'report.js'));
        const began = Date.now();
        const text = await verdict(name, out);
        check(/^ok\b/.test(text), `the page reports: ${text}`);
        console.log(`  ${text}; ${((Date.now() - began) / 1000).toFixed(0)} s`);
      },
    ]),
  ),
);

const [install, wanted] = [process.argv.includes('--install'), process.argv.slice(2).filter((word) => word !== '--install')];
if (install) {
  const missing = Object.values(BROWSERS).filter(({ command }) => !command('', '')).flatMap(({ packages }) => packages);
  if (missing.length > 0) {
    if (!root || !which('apt-get')) console.log(`install ${missing.join(', ')} by hand: it takes apt-get and its rights`);
    else await run('apt-get', ['install', '--yes', '--quiet', ...missing]);
  }
}
await runCases(cases, wanted, async (ends) => {
  console.log('\n| | version | engine | |\n| --- | --- | --- | --- |');
  for (const [name, { engine, version }] of Object.entries(BROWSERS)) {
    const own = ends.filter((end) => end.name.startsWith(`${name}: `));
    if (own.length === 0) continue;
    const said = /\d+(\.\w+)+/.exec(await version().catch(() => ''))?.[0] ?? '';
    console.log(`| ${name} | ${said} | ${engine} | ${own.find(({ why }) => why)?.why ?? 'works'} |`);
  }
  console.log();
});
