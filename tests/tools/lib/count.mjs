// Reads from a test runner's output how many tests it ran, and which failed.

/** The shape of each runner's summary: cargo test, Vitest, Node's own runner, and the plain line. */
const SHAPES = [
  [/^test result: .*? (\d+) passed; (\d+) failed; (\d+) ignored/gm, [1, 2, 3]],
  [/^\s*Tests\s+(?:(\d+) failed)?(?: \| )?(?:(\d+) passed)?(?: \| )?(?:(\d+) skipped)?/gm, [2, 1, 3]],
  [/^(?:#|ℹ) pass (\d+)\n(?:#|ℹ) fail (\d+)(?:\n(?:#|ℹ) cancelled \d+)?(?:\n(?:#|ℹ) skipped (\d+))?/gm, [1, 2, 3]],
  [/^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm, [1, 2, 3]],
];

/** {passed, failed, skipped}, summed over the whole output; zeros when no runner spoke. */
export function countTests(output) {
  const plain = uncoloured(output);
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const [shape, [passed, failed, skipped]] of SHAPES) {
    for (const match of plain.matchAll(shape)) {
      sum.passed += Number(match[passed] ?? 0);
      sum.failed += Number(match[failed] ?? 0);
      sum.skipped += Number(match[skipped] ?? 0);
    }
  }
  return sum;
}

/** The line of a test that failed, by runner: cargo test, Vitest, Node's own runner (in both of its forms), Playwright. */
const FAILURES = [
  /^test (.+?) \.\.\. FAILED$/gm,
  /^ *FAIL +(.+)$/gm,
  /^ *not ok \d+ - (.+)$/gm,
  /^ *✖ (.+?) \([\d.]+m?s\)$/gm,
  /^ *✘ +\d+ (.+?)(?: \(retry #\d+\))? \([\d.]+m?s\)$/gm,
];

/** The names of the tests that failed, each once. */
export function failedTests(output) {
  const plain = uncoloured(output);
  return [...new Set(FAILURES.flatMap((shape) => [...plain.matchAll(shape)].map(([, name]) => name)))];
}

function uncoloured(output) {
  return output.replace(/\u001b\[[0-9;]*m/g, '');
}
