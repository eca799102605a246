/** Growth over the committed size that counts as a failure. */
const GROWTH = 0.05;

/**
 * What is wrong with the size of an artefact, if anything: it is over its limit, or has grown by 5 %
 * without a change to sizes.json.
 *
 * @param {string} name
 * @param {number} bytes measured, with gzip
 * @param {number} committed its line in sizes.json
 * @param {number} limit never to be exceeded
 */
export function sizeProblem(name, bytes, committed, limit) {
  if (bytes > limit) return `${name} has ${bytes} bytes with gzip, over its limit of ${limit}: make it smaller`;
  if (bytes > committed * (1 + GROWTH)) {
    const percent = (100 * (bytes / committed - 1)).toFixed(1);
    return `${name} has ${bytes} bytes with gzip, ${percent} % more than the ${committed} in tests/packaging/sizes.json: change that line if the growth is worth it`;
  }
  return undefined;
}
