// What cargo builds of the workspace for its tests, and where the results are.
import { cargoProgress, must } from './run.mjs';

/** The workspace without the build tool, which has no tests and depends on a large library. */
export const CRATES = ['--workspace', '--exclude', 'refloat-wasm-builder'];

/** What the Rust tests build. */
export const RUST_TESTS = ['test', ...CRATES, '--lib', '--bins', '--tests'];

/** Runs cargo, and returns the artefacts that are `wanted`, whether they were made now or before. */
export async function artefacts(step, args, wanted) {
  const { env, onLine } = cargoProgress(step);
  const found = [];
  await must(step, 'cargo', [...args, '--message-format=json-render-diagnostics'], {
    env,
    onLine(line) {
      if (!line.startsWith('{')) return onLine(line);
      const message = JSON.parse(line);
      if (message.reason === 'compiler-artifact' && wanted(message)) found.push(message);
      return true;
    },
  });
  return found;
}
