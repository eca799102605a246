// Child processes: output kept, progress shown, nothing left behind.
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { Stop } from './log.mjs';
import { root } from './paths.mjs';

/** How much of a child's output is kept: enough for any error, bounded for a runaway. */
const KEPT = 4 << 20;

const windows = process.platform === 'win32';

const children = new Set();
process.on('exit', () => {
  for (const child of children) kill(child, 'SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (process.listenerCount(signal) > 1) return; // someone else shuts down in order
    process.exit(signal === 'SIGINT' ? 130 : 143);
  });
}

/**
 * Starts a child that ends with this process. The child leads a process group of its own: Ctrl-C reaches
 * only this process, which then ends each child and what the child started, once.
 */
export function start(command, args, options = {}) {
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: windows && command === 'npm',
    detached: !windows,
    ...options,
    env: { ...process.env, ...options.env },
  });
  children.add(child);
  child.on('close', () => children.delete(child));
  return child;
}

/** Sends a signal to a child and to what it started. */
export function kill(child, signal) {
  try {
    if (windows || child.pid === undefined) child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/**
 * Runs a command to its end. `onLine` sees every line, also those ended by a carriage return, and
 * returns `true` for lines that are not worth keeping. After `limit` milliseconds, if given, the command is
 * killed. With `yields`, other processes have priority. Resolves to {code, output}, and never rejects.
 */
export function run(command, args, { onLine, limit, yields, ...options } = {}) {
  return new Promise((resolve) => {
    let output = '';
    const child = start(command, args, options);
    if (yields && child.pid !== undefined) letOthersFirst(child.pid);
    const take = (stream) => {
      let rest = '';
      const line = (text) => {
        if (onLine?.(text)) return;
        output = (output + text + '\n').slice(-KEPT);
      };
      stream?.setEncoding('utf8').on('data', (data) => {
        const lines = (rest + data).split(/\r\n|\n|\r/);
        rest = lines.pop();
        lines.forEach(line);
      });
      stream?.on('end', () => rest && line(rest));
    };
    take(child.stdout);
    take(child.stderr);
    const timer = limit && setTimeout(() => {
      output += `(stopped: it took longer than ${limit / 1000} s)\n`;
      kill(child, 'SIGKILL');
    }, limit);
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve({ code: -1, output: `${command}: ${error.message}\n` });
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code: code ?? -1, output: signal ? `${output}(ended by ${signal})\n` : output });
    });
  });
}

function letOthersFirst(pid) {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The child has ended, or the system does not allow this: it runs all the same.
  }
}

/** Like `run`, but if the command fails, stops everything and shows its output. */
export async function must(step, command, args, options = {}) {
  const result = await run(command, args, options);
  if (result.code !== 0) {
    step.fail();
    throw new Stop(`${result.output.trimEnd()}\n\n${[command, ...args].join(' ')} failed (exit code ${result.code})`);
  }
  return result;
}

/** Environment and line filter that turn cargo's progress bar into `step.update`. */
export function cargoProgress(step) {
  return {
    env: {
      CARGO_TERM_PROGRESS_WHEN: 'always',
      CARGO_TERM_PROGRESS_WIDTH: '120',
      CARGO_TERM_COLOR: 'never',
    },
    onLine(line) {
      const text = line.replace(/\u001b\[[0-9;]*[A-Za-z]/g, '').trim();
      const bar = /Building \[.*?\] (\d+\/\d+)(?:: (.*))?$/.exec(text);
      if (bar) step.update(`${bar[1]}  ${bar[2] ?? ''}`);
      return Boolean(bar) || /^(Compiling|Checking|Downloaded|Downloading|Blocking|Fresh|Locking|Adding|Updating) /.test(text) || text === '';
    },
  };
}
