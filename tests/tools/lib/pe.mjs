// What a program for Windows is linked with.
import { run } from './run.mjs';

/** Libraries that every Windows has had since version 10. */
const OF_WINDOWS = /^(api-ms-win-[\w-]+|advapi32|bcrypt|bcryptprimitives|crypt32|kernel32|msvcrt|ntdll|ole32|psapi|secur32|shell32|user32|userenv|ws2_32)\.dll$/i;

/** Names of the libraries that a program loads; one that is not Windows' own is an error. */
export async function librariesOfWindows(path) {
  const { code, output } = await run('x86_64-w64-mingw32-objdump', ['--private-headers', path]);
  const names = [...output.matchAll(/^\s*DLL Name: (\S+)$/gm)].map(([, name]) => name);
  if (code !== 0 || names.length === 0) throw new Error(`${path} has no table of libraries:\n${output.slice(0, 2000)}`);
  const foreign = names.filter((name) => !OF_WINDOWS.test(name));
  if (foreign.length) throw new Error(`${path} needs libraries that a Windows need not have: ${foreign.join(', ')}`);
  return names;
}
