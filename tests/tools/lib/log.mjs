// What the commands say: one line per step, rewritten in place on a terminal.
const out = process.stdout;
const live = Boolean(out.isTTY) && !process.env.CI && process.env.TERM !== 'dumb';
const colour = live && !process.env.NO_COLOR;

/** Milliseconds between two progress lines where lines cannot be rewritten. */
const QUIET = 15_000;

const paint = (code) => (text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = paint(1);
export const dim = paint(2);
export const red = paint(31);
export const green = paint(32);
export const yellow = paint(33);

/** A whole line. */
export function say(text = '') {
  out.write(`${text}\n`);
}

/** `93 s` or `0.4 s`, always in seconds. */
export function seconds(milliseconds) {
  const s = milliseconds / 1000;
  return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
}

/** Steps under way, which share the line that is rewritten. */
const underway = new Set();

function draw() {
  if (underway.size === 0) return;
  const room = Math.floor(((out.columns || 100) - 1) / underway.size);
  const parts = [...underway].map((part) => part(room));
  out.write(`\r\u001b[2K${parts.join('')}`);
}

/** Begins a step that takes a while. Call `update` as often as you like, and one of the others once. */
export function begin(title) {
  const start = Date.now();
  let note = '';
  let spoken = start;
  const elapsed = () => seconds(Date.now() - start);
  const part = (room) => `${`  … ${title}  ${note}`.slice(0, room - 8).trimEnd()}  ${dim(elapsed())}`;
  underway.add(part);
  const timer = live ? setInterval(draw, 250) : undefined;
  timer?.unref();
  if (live) draw();
  const end = (mark, text) => {
    clearInterval(timer);
    underway.delete(part);
    if (live) out.write('\r\u001b[2K');
    say(`  ${mark} ${title}${text ? dim(`  ${text}`) : ''}  ${dim(elapsed())}`);
    return Date.now() - start;
  };
  return {
    /** Shows how far the step is. */
    update(text) {
      note = text;
      if (live || Date.now() - spoken < QUIET) return;
      spoken = Date.now();
      say(`  … ${title}  ${note}  ${elapsed()}`);
    },
    done: (text) => end(green('✓'), text),
    fail: (text) => end(red('✗'), text),
    skip: (text) => end(yellow('–'), text),
  };
}

/** An error whose message is meant for the person at the keyboard: it is shown without a stack. */
export class Stop extends Error {}

/** Runs a command's main function and turns its outcome into the process's. */
export async function main(body) {
  // The reader of the output may have closed it, as `head` does.
  process.stdout.on('error', (error) => {
    if (error.code === 'EPIPE') process.exit();
    throw error;
  });
  try {
    process.exitCode = (await body()) ?? 0;
  } catch (error) {
    say();
    say(red(error instanceof Stop ? error.message : String(error?.stack ?? error)));
    process.exitCode = 1;
  }
}
