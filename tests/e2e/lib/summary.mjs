/** Prints the line at the end that tests/tools/lib/count.mjs reads: `N passed, N failed, N skipped`. */
export default class Summary {
  onBegin(_config, suite) {
    this.suite = suite;
  }

  onEnd() {
    const count = { expected: 0, flaky: 0, unexpected: 0, skipped: 0 };
    for (const test of this.suite.allTests()) count[test.outcome()] += 1;
    if (count.flaky) process.stdout.write(`passed at the second try: ${count.flaky}\n`);
    process.stdout.write(`${count.expected + count.flaky} passed, ${count.unexpected} failed${count.skipped ? `, ${count.skipped} skipped` : ''}\n`);
  }

  printsToStdio() {
    return false;
  }
}
