// `npm test [-- group or step ...]`: prepares, builds, and runs every check that has to pass before a change lands.
//
// Each step prints its name and time; if one fails, it shows its output, and the others still run. The last line counts: one for a check,
// the runner's own number for a test suite. Steps that need something built run beside those that need only the sources: cargo's checks
// and tests compile for minutes, and browsers wait more than they compute.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allowedLicences, refused } from './lib/allowed.mjs';
import { build } from './lib/build.mjs';
import { needChromium } from './lib/browser.mjs';
import { CRATES, RUST_TESTS, artefacts } from './lib/cargo.mjs';
import { countTests, failedTests } from './lib/count.mjs';
import { Stop, begin, bold, main, red, say, yellow } from './lib/log.mjs';
import { findNats } from './lib/nats.mjs';
import { root, serverBinary } from './lib/paths.mjs';
import { prepare } from './lib/prepare.mjs';
import { cargoProgress, run } from './lib/run.mjs';

/** Browsers that are tried if they are installed; other browser tests run in Chromium. */
const OTHER_BROWSERS = ['Firefox', 'WebKit'];

/** Milliseconds after which a step is taken to hang. */
const LIMIT = 60 * 60_000;

/** Lines of a failing step that are shown; the end matters most. */
const SHOWN = 400;

/** Tests of a failing step that are named at the end. */
const NAMED = 20;

const cargo = (args, env) => ({ command: 'cargo', args, env, cargo: true });
const npm = (workspace, script) => ({ command: 'npm', args: ['run', '--silent', script, '--workspace', workspace] });
const node = (...args) => ({ command: process.execPath, args });

/** Clippy of a library for another target, which needs nothing but the target itself. */
const lint = (target, name, ...features) => ['clippy', '--package', name, '--lib', ...features, '--target', target, '--', '--deny', 'warnings'];

/** A processor without an operating system and without 64-bit words: nothing of `std` can hide there. */
const BARE_TARGET = 'thumbv7em-none-eabihf';

/** The core's test that the arithmetic in use is the one that was asked for. */
const CHOICE = 'arith::backends::dispatch::tests::the_choice_in_force_is_the_one_reported';

/**
 * `needs` are builds; `tests` says that the step is a test runner, which must have run a test, or may have skipped all if the step is
 * `optional`; `chromium` says that the step uses a browser, and `browser` that it does nothing else.
 */
const steps = [
  { group: 'lint', name: 'lock files', action: checkLocks },
  { group: 'lint', name: 'crates: licences', action: checkLicences },
  { group: 'lint', name: 'crates: licences, duplicates, sources, by cargo-deny', action: () => cargoDeny('bans', 'licenses', 'sources') },
  { group: 'lint', name: 'crates: what is published', action: checkPackages },
  { group: 'lint', name: 'crates: advisories, by cargo-deny', action: () => cargoDeny('advisories') },
  { group: 'lint', name: 'tests of these tools', tests: true, ...node('--test', 'tests/tools/tools.test.mjs', 'tests/tools/benchmarks.test.mjs', 'tests/tools/launch.test.mjs') },
  { group: 'lint', name: 'manifests, documents and what is deployed', tests: true, ...node('--test', 'tests/tools/manifests.test.mjs', 'tests/tools/documents.test.mjs', 'tests/tools/deploy.test.mjs') },
  { group: 'lint', name: 'rustfmt', ...cargo(['fmt', '--all', '--check']) },
  { group: 'lint', name: 'clippy', ...cargo(['clippy', '--workspace', '--all-targets', '--keep-going', '--', '--deny', 'warnings']) },
  { group: 'lint', name: 'core without `parallel`, no warnings', ...cargo(['clippy', '--package', 'refloat', '--lib', '--tests', '--', '--deny', 'warnings']) },
  { group: 'lint', name: 'core without std (wasm32), no warnings', ...cargo(lint('wasm32-unknown-unknown', 'refloat', '--no-default-features')) },
  { group: 'lint', name: 'WebAssembly crate (wasm32), no warnings', ...cargo(lint('wasm32-unknown-unknown', 'refloat-wasm')) },
  { group: 'lint', name: 'core without std (Cortex-M4), no warnings', action: lintBare },
  {
    group: 'lint',
    name: 'rustdoc',
    ...cargo(['doc', ...CRATES, '--no-deps', '--lib'], { RUSTDOCFLAGS: '--deny warnings' }),
  },
  { group: 'lint', name: 'types: npm package', needs: ['wasm', 'ts'], ...npm('ts', 'check') },
  { group: 'lint', name: 'types: demo', needs: ['wasm', 'ts'], ...npm('demo', 'typecheck') },
  // Clippy has checked the examples; to link each of them costs more than it tells.
  {
    group: 'rust',
    name: 'Rust tests',
    tests: true,
    ...cargo([...RUST_TESTS, '--no-fail-fast']),
  },
  { group: 'rust', name: 'Rust tests with a nats-server', tests: true, action: testByNats },
  { group: 'rust', name: 'Rust examples in the documentation', tests: true, ...cargo(['test', ...CRATES, '--doc']) },
  // What replaces the feature `parallel` is checked above, and computes in WebAssembly: natively the core would be compiled once more.
  { group: 'rust', name: 'Rust tests of the core, scalar arithmetic, one thread', tests: true, action: testWith('scalar', { RAYON_NUM_THREADS: '1' }) },
  { group: 'rust', name: 'Rust tests of the core, AVX2', tests: true, action: testWith('avx2') },
  { group: 'rust', name: 'rings of odd index in WebAssembly', tests: true, ...node('tests/tools/odd-index.mjs') },
  // The kernels alone: the other legs of `npm run test:arm` compile more and run for minutes.
  { group: 'rust', name: '64-bit ARM, emulated', tests: true, optional: true, ...node('tests/tools/arm.mjs', '--short') },
  { group: 'c', name: 'C and C++', tests: true, ...node('tests/tools/c.mjs', '--tested') },
  { group: 'ts', name: 'npm package tests', tests: true, needs: ['wasm', 'ts', 'server'], ...npm('ts', 'test') },
  { group: 'ts', name: 'generated clients', tests: true, needs: ['server'], ...node('--test', 'tests/clients/clients.test.mjs') },
  { group: 'ts', name: 'demo unit tests', tests: true, needs: ['wasm', 'ts'], ...npm('demo', 'test') },
  { group: 'ts', name: 'packaging', tests: true, chromium: true, needs: ['wasm', 'ts'], ...node('tests/packaging/run.mjs') },
  {
    group: 'ts',
    name: 'Firefox and WebKit, where they are installed',
    tests: true,
    optional: true,
    needs: ['wasm', 'ts'],
    ...node('tests/packaging/browsers.mjs', ...OTHER_BROWSERS.map((name) => `${name}: in a worker and in the page: SHIP, gates, conventional`)),
  },
  {
    group: 'main',
    name: 'main job with ship13 (npm start -- --check)',
    needs: ['wasm', 'ts', 'server'],
    ...node('tests/tools/start.mjs', '--check'),
  },
  {
    group: 'main',
    name: 'argmax through HTTP, at toy size',
    needs: ['server'],
    ...node('tests/tools/argmax.mjs', '--preset', 'toy-link', '--runs', '2', '--count', '5'),
  },
  {
    group: 'main',
    name: 'faults under load (a short soak)',
    needs: ['server'],
    ...node('tests/tools/soak.mjs', '--minutes', '0.1', '--seed', '1', '--no-mount'),
  },
  {
    group: 'main',
    name: 'a front, workers and NATS, killed (a short run)',
    tests: true,
    optional: true,
    needs: ['server'],
    ...node('tests/tools/cluster.mjs', '--kills', '8', '--seed', '1'),
  },
  {
    group: 'e2e',
    name: 'browser tests',
    tests: true,
    chromium: true,
    browser: true,
    needs: ['wasm', 'ts', 'demo', 'server'],
    ...npm('tests/e2e', 'test'),
  },
];

await main(async () => {
  const chosen = choose(process.argv.slice(2));
  // In a fresh clone everything is built once: cargo's incremental data for a next time would fill gigabytes and never be read.
  if (!existsSync(join(root, 'target', 'debug', 'incremental'))) process.env.CARGO_INCREMENTAL = '0';
  const total = { passed: 0, failed: 0, skipped: 0 };
  const failures = [];
  await prepare();
  const performAll = async (next, options) => {
    for (let step = next(); step; step = next()) {
      const result = await perform(step, options);
      for (const key of Object.keys(total)) total[key] += result[key];
      if (result.failed) failures.push([step.name, ...(result.names ?? [])]);
    }
  };
  const ofSources = chosen.filter(({ needs }) => !needs);
  const ofBuilds = chosen.filter(({ needs }) => needs);
  const afterBuilding = async () => {
    const usable = await buildFor(ofBuilds, total, failures);
    const wantsChromium = usable.some((step) => step.chromium) && !skipsBrowser();
    await performAll(() => usable.shift(), { chromium: wantsChromium ? await needChromium() : undefined });
    // The steps that need only the sources take longer: the last ones not yet begun are taken from them.
    await performAll(() => ofSources.pop(), {});
  };
  await Promise.all([performAll(() => ofSources.shift(), { yields: ofBuilds.length > 0 }), afterBuilding()]);
  say();
  for (const [name, ...tests] of failures) say([red(`failed: ${name}`), ...tests.slice(0, NAMED)].join('\n    '));
  const skipped = total.skipped ? `, ${total.skipped} skipped` : '';
  say(`${total.passed} passed, ${total.failed} failed${skipped}`);
  return failures.length ? 1 : 0;
});

function choose(words) {
  if (words.includes('--list')) {
    steps.forEach(({ group, name }) => say(`${group.padEnd(6)}${name}`));
    process.exit(0);
  }
  if (words.length === 0) return steps;
  const chosen = steps.filter(({ group, name }) => words.includes(group) || words.includes(name));
  const known = [...new Set(steps.map(({ group }) => group))].join(', ');
  if (chosen.length === 0) throw new Stop(`no step is called ${words.join(' ')}; groups: ${known} (all: npm test -- --list)`);
  return chosen;
}

/** Builds what the steps need; a build that fails counts as one failure and takes its steps out. */
async function buildFor(chosen, total, failures) {
  const needed = new Set(chosen.flatMap(({ needs = [] }) => needs));
  const broken = new Set();
  for (const name of ['wasm', 'ts', 'demo', 'server'].filter((each) => needed.has(each))) {
    if (name !== 'server' && broken.size) {
      broken.add(name);
      continue;
    }
    try {
      await build([name]);
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      say(error.message);
      broken.add(name);
      failures.push([`building ${name}`]);
      total.failed += 1;
    }
  }
  return chosen.filter(({ name, needs = [] }) => {
    const missing = needs.filter((each) => broken.has(each));
    if (missing.length) {
      say(yellow(`  – ${name}: not run, because ${missing.join(', ')} could not be built`));
      failures.push([name]);
      total.failed += 1;
    }
    return missing.length === 0;
  });
}

function skipsBrowser() {
  return process.env.REFLOAT_SKIP_BROWSER === '1';
}

async function perform(step, options) {
  const progress = begin(step.name);
  if (step.browser && skipsBrowser()) {
    progress.skip(bold('SKIPPED: REFLOAT_SKIP_BROWSER=1'));
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const { code, output, skipped: why } = await (step.action ?? command)(step, progress, options);
  if (why) {
    progress.skip(bold(`SKIPPED: ${why}`));
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const count = step.tests ? countTests(output) : { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 };
  const silent = code === 0 && step.tests && count.passed === 0 && !(step.optional && count.skipped);
  if (code !== 0 || silent) {
    progress.fail(silent ? 'ran no test' : `exit code ${code}`);
    const lines = output.trimEnd().split('\n').filter((line) => !/^test .* \.\.\. (ok|ignored)$/.test(line));
    say(lines.slice(-SHOWN).join('\n'));
    return { ...count, failed: Math.max(1, count.failed), names: failedTests(output) };
  }
  const skipped = count.skipped ? `, ${count.skipped} skipped` : '';
  progress.done(step.tests ? `${count.passed} tests${skipped}` : '');
  for (const [why] of output.matchAll(/^.*\bskipped: .*$/gm)) say(yellow(`  ${why}`));
  return count;
}

function command(step, progress, { chromium, yields }) {
  const filter = step.cargo ? cargoProgress(progress) : {};
  return run(step.command, step.args, {
    ...filter,
    limit: LIMIT,
    yields,
    cwd: step.cwd ?? root,
    env: { ...filter.env, REFLOAT_BIN: serverBinary, CHROMIUM: chromium, ...step.env },
  });
}

/** The server's tests that need a nats-server, each of which starts one; the Rust tests have compiled them. */
async function testByNats(step, progress, options) {
  const { program, missing } = await findNats();
  if (missing) return { skipped: missing };
  const args = ['test', ...CRATES, '--test', 'server', '--no-fail-fast', '--', '--ignored', 'by_nats'];
  return command({ ...step, ...cargo(args, { REFLOAT_NATS_SERVER: program }) }, progress, options);
}

/** Checks that lock files match their manifests, and do not name places that packages were fetched from. */
async function checkLocks() {
  const resolved = /"resolved": "(?!ts"|demo"|tests\/e2e")/.test(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  if (resolved) return { code: 1, output: 'package-lock.json has "resolved" addresses; see CONTRIBUTING.md, "Lock files"\n' };
  return run('cargo', ['metadata', '--locked', '--format-version', '1', '--no-deps']);
}

/** Checks the licences of all crates, those of other systems included where they can be fetched. */
async function checkLicences() {
  const allowed = allowedLicences(readFileSync(join(root, '.cargo', 'deny.toml'), 'utf8'));
  const all = ['metadata', '--locked', '--all-features', '--format-version', '1'];
  const [, host] = /^host: (.*)$/m.exec((await run('rustc', ['-vV'])).output) ?? [];
  const here = [...all, '--offline', '--filter-platform', host];
  const packages = async (args) => {
    // One line, which may be longer than what is kept of output.
    let text = '';
    const { code } = await run('cargo', args, { stdio: ['ignore', 'pipe', 'ignore'], onLine: (line) => (text = line) });
    return code === 0 ? JSON.parse(text).packages : undefined;
  };
  let [listed, note] = [await packages(all), ''];
  if (!listed) [listed, note] = [await packages(here), 'skipped: crates of other systems, which cannot be fetched from here\n'];
  // Once more, for what it says.
  if (!listed) return run('cargo', here);
  const others = refused(listed, allowed);
  if (others.length === 0) return { code: 0, output: note };
  return { code: 1, output: `licences that .cargo/deny.toml does not allow:\n${others.join('\n')}\n` };
}

/** Checks that licences and README are part of the crates. `cargo publish --dry-run --workspace` checks the rest, but asks the registry. */
async function checkPackages() {
  for (const name of ['refloat', 'refloat-server']) {
    const listed = await run('cargo', ['package', '--list', '--package', name, '--allow-dirty']);
    if (listed.code !== 0) return listed;
    const files = listed.output.split('\n');
    const missing = ['LICENSE-MIT', 'LICENSE-APACHE', 'README.md', 'Cargo.toml'].filter((file) => !files.includes(file));
    if (missing.length > 0) return { code: 1, output: `the package ${name} has no ${missing.join(', ')}\n` };
  }
  return { code: 0, output: '' };
}

/**
 * The core for a target that is added here, and not in rust-toolchain.toml: no cargo command would run where a target of that list cannot be
 * fetched.
 */
async function lintBare(step, progress, options) {
  const added = await run('rustup', ['target', 'add', BARE_TARGET]);
  if (added.code !== 0) return { skipped: `rustup cannot fetch the Rust target ${BARE_TARGET} from here (rustup target add ${BARE_TARGET})` };
  return command({ ...step, ...cargo(lint(BARE_TARGET, 'refloat', '--no-default-features')) }, progress, options);
}

/** The core's tests with a backend that the machine may not prefer, run by the program that the Rust tests have built. */
function testWith(backend, env) {
  return async (step, progress, options) => {
    const isProgram = ({ target, profile }) => target.name === 'refloat' && target.kind.includes('lib') && profile.test;
    let program;
    try {
      const [built] = await artefacts(progress, [...RUST_TESTS, '--no-run'], isProgram);
      if (!built?.executable) throw new Stop('the Rust tests have no program of the core');
      program = built.executable;
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      return { code: 1, output: error.message };
    }
    const tested = (...args) =>
      command({ ...step, command: program, args, cwd: join(root, 'core'), env: { ...env, REFLOAT_BACKEND: backend } }, progress, options);
    const asked = await tested('--exact', CHOICE, '--nocapture');
    if (asked.code !== 0) return asked;
    const [, refusal] = /chosen by REFLOAT_BACKEND (cannot run here, so \w+ is used)/.exec(asked.output) ?? [];
    return refusal ? { skipped: `${backend} ${refusal}` } : tested();
  };
}

/** What .cargo/deny.toml demands of the crates; reported as skipped if the tool or its database is missing. */
async function cargoDeny(...checks) {
  if ((await run('cargo', ['deny', '--version'])).code !== 0) {
    return { skipped: 'no cargo-deny here (cargo install cargo-deny --locked)' };
  }
  const result = await run('cargo', ['deny', '--color', 'never', 'check', ...checks], { limit: 300_000 });
  if (/failed to fetch advisory database/.test(result.output)) return { skipped: 'the database of advisories cannot be had from here' };
  return result;
}
