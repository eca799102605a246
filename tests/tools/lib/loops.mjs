// Loops of a compiled program, and how often each was run, as input for a model of a processor.

/** The instructions in a listing of `llvm-objdump -d --no-show-raw-insn`, by address: text, and jump target within the program. */
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
 * The loops among executed instructions of four bytes each, from the target of a backward jump to the jump, without the instructions
 * of loops inside. `rounds` is how often an instruction of the loop was executed on average, and `executed` is the sum over all of
 * them. Smaller loops come first.
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

/** Cycles per round, from two reports of `llvm-mca` for more rounds and for fewer: the difference cancels what the start takes. */
export function cyclesOf(more, fewer) {
  const [a, b] = [more, fewer].map((report) => {
    const number = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)$`, 'm').exec(report)?.[1]);
    return { rounds: number('Iterations'), cycles: number('Total Cycles') };
  });
  const cycles = (a.cycles - b.cycles) / (a.rounds - b.rounds);
  if (!(cycles > 0)) throw new Error(`no cycles in what llvm-mca said:\n${more.slice(0, 500)}`);
  return cycles;
}
