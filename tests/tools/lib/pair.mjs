// Times in the document of `refloat bench --json`.

/** Names of the times that stand at the top of a document. */
const AT_TOP = { nandSeconds: 'NAND', lookUpSeconds: 'look-up', keygenSeconds: 'keys' };

/** Every time of a document, with what it is of. */
export function timesOf(document) {
  const top = Object.entries(AT_TOP).filter(([name]) => name in document).map(([name, what]) => [what, document[name]]);
  const rows = (document.measurements ?? document.adder ?? []).map((row) => {
    const words = [row.mode, row.ciphertexts > 1 && `${row.ciphertexts} ciphertexts`, `threads ${row.threads}`];
    return [words.filter(Boolean).join(', '), row.seconds];
  });
  // Of methods whose bench prints the rows of `refloat reproduce`, a whole bootstrap.
  const whole = (document.rows ?? []).filter(({ metric }) => metric === 'seconds').map((row) => [`threads ${row.threads}`, row.measured]);
  const times = [...top, ...rows, ...whole];
  const odd = times.find(([, seconds]) => !(seconds > 0));
  if (odd || rows.length + whole.length === 0) throw new Error(`no times in what refloat bench said: ${odd ?? Object.keys(document)}`);
  return times;
}

/** The one in the middle, or what lies half-way between the two there. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
