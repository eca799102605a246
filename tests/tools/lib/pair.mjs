// Times in the document of `refloat bench --json`.

/** Times at the top level of the document, with their names. */
const AT_TOP = { nandSeconds: 'NAND', lookUpSeconds: 'look-up', keygenSeconds: 'keys' };

/** All times of a document, each with what it measures. */
export function timesOf(document) {
  const top = Object.entries(AT_TOP).filter(([name]) => name in document).map(([name, what]) => [what, document[name]]);
  const rows = (document.measurements ?? document.adder ?? []).map((row) => {
    const words = [row.mode, row.ciphertexts > 1 && `${row.ciphertexts} ciphertexts`, `threads ${row.threads}`];
    return [words.filter(Boolean).join(', '), row.seconds];
  });
  // For methods whose bench prints the rows of `refloat reproduce`: the times of a whole bootstrap.
  const whole = (document.rows ?? []).filter(({ metric }) => metric === 'seconds').map((row) => [`threads ${row.threads}`, row.measured]);
  const times = [...top, ...rows, ...whole];
  const odd = times.find(([, seconds]) => !(seconds > 0));
  if (odd || rows.length + whole.length === 0) throw new Error(`no times in what refloat bench said: ${odd ?? Object.keys(document)}`);
  return times;
}

/** The middle number, or the mean of the two in the middle. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
