// Similar places in the source.

/** Lines that two places must share. */
const LINES = 6;

/** How many characters those must have in all: half a dozen closing brackets are not repetition. */
const CHARACTERS = 60;

/** Lines that are found in more places than this are the idiom of a language. */
const PLACES = 60;

/** Lines of code with their numbers and with spaces evened out, without blank lines, comments and imports. */
function codeOf(text) {
  const lines = [];
  let importing = false;
  text.split('\n').forEach((line, number) => {
    const code = line.trim().replace(/\s+/g, ' ');
    if (!importing && (!code || /^(\/\/|\/\*|\*(\/| |$))/.test(code))) return;
    const imports = importing || /^(pub(\(.*\))? )?use |^import /.test(code);
    importing = imports && !code.includes(';');
    if (!imports) lines.push({ number: number + 1, code });
  });
  return lines;
}

/**
 * Pairs of places that share six or more lines of code, each as long as it can be, the longest first.
 * @param {{ name: string, text: string }[]} sources
 * @returns {{ lines: number, one: string, other: string }[]}
 */
export function pairsOf(sources) {
  const files = sources.map(({ name, text }) => ({ name, lines: codeOf(text) }));
  const windows = new Map();
  files.forEach(({ lines }, file) => {
    for (let at = 0; at + LINES <= lines.length; at++) {
      const text = lines.slice(at, at + LINES).map(({ code }) => code).join('\n');
      if (text.length - LINES + 1 < CHARACTERS) continue;
      if (!windows.has(text)) windows.set(text, []);
      windows.get(text).push([file, at]);
    }
  });
  const starts = new Set();
  for (const places of windows.values()) {
    if (places.length > PLACES) continue;
    places.forEach((one, i) => places.slice(i + 1).forEach((other) => starts.add([...one, ...other].join())));
  }
  const pairs = [];
  for (const start of starts) {
    const [a, i, b, j] = start.split(',').map(Number);
    if (starts.has([a, i - 1, b, j - 1].join())) continue;
    let lines = LINES;
    while (starts.has([a, i + lines - LINES + 1, b, j + lines - LINES + 1].join())) lines += 1;
    const place = (file, at) => `${files[file].name}:${files[file].lines[at].number}`;
    pairs.push({ lines, one: place(a, i), other: place(b, j) });
  }
  return pairs.sort((x, y) => y.lines - x.lines || x.one.localeCompare(y.one));
}
