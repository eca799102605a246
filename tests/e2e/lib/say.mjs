/** One line on standard output. */
export function say(text) {
  process.stdout.write(`${text}\n`);
}
