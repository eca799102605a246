// Loops of a program as it was compiled, and how often each was run: what a model of a processor is asked about.

/** Instructions of a listing by `llvm-objdump -d --no-show-raw-insn`: text, and where it jumps within the program, by address. */
export function instructionsOf(listing) {
  const found = new Map();
  for (const [, address, text] of listing.matchAll(/^\s*([0-9a-f]+):\s+(\S.*?)\s*$/gm)) {
    const plain = text.replace(/\s*<[^>]*>.*$/, '').replace(/\s*\/\/.*$/, '');
    const to = /^(?:b|b\.\w+|cbn?z|tbn?z)\s(?:.*\s)?0x([0-9a-f]+)$/.exec(plain)?.[1];
    found.set(parseInt(address, 16), { text: plain, ...(to && { to: parseInt(to, 16) }) });
  }
  return found;
}

/**
 * The loops among instructions of four bytes each that were executed so often: from where a jump back goes to that jump, without
 * what belongs to a loop within. `rounds` is how often one of its instructions was executed, on the average, and `executed` how
 * often all of them were together. Smaller loops come first.
 */
export function loopsOf(instructions, executed) {
  const spans = [...executed.keys()].filter((at) => instructions.get(at)?.to <= at).map((at) => [instructions.get(at).to, at]);
  spans.sort(([a, b], [c, d]) => b - a - (d - c) || a - c);
  const taken = new Set();
  return spans.flatMap(([from, to]) => {
    const body = [];
    for (let each = from; each <= to; each += 4) {
      if (!executed.has(each) || !instructions.has(each) || taken.has(each)) continue;
      taken.add(each);
      body.push(each);
    }
    const sum = body.reduce((total, each) => total + executed.get(each), 0);
    const lines = body.map((each) => instructions.get(each));
    return body.length ? [{ from, lines, rounds: sum / body.length, executed: sum }] : [];
  });
}

/** A loop as an assembler reads it: all its jumps go to its head. */
export function assemblyOf({ lines }) {
  const text = ({ text, to }) => (to === undefined ? text : text.replace(/0x[0-9a-f]+$/, 'head'));
  return `head:\n${lines.map((line) => `\t${text(line)}\n`).join('')}`;
}

/** Cycles of a round by two reports of `llvm-mca`, of more rounds and of fewer: what it takes to begin falls out. */
export function cyclesOf(more, fewer) {
  const [a, b] = [more, fewer].map((report) => {
    const number = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)$`, 'm').exec(report)?.[1]);
    return { rounds: number('Iterations'), cycles: number('Total Cycles') };
  });
  const cycles = (a.cycles - b.cycles) / (a.rounds - b.rounds);
  if (!(cycles > 0)) throw new Error(`no cycles in what llvm-mca said:\n${more.slice(0, 500)}`);
  return cycles;
}
