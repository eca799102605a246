import { INTEGER_ARITHMETIC, repaired } from '../api/repairs.js';
import { freeing } from '../engine/engine-run.js';
import type { GlueIntegerArithmeticKeys, GlueIntegerCiphertext, GlueIntegerKeys, GlueIntegerProgram } from '../engine/glue.js';
import { INTEGERS, classOf, type Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { checkedInputs, runHere, type ProgramOptions, type Running } from '../program/run.js';
import type { SteppableRun } from '../run.js';
import { IntegerCiphertext } from './ciphertext.js';
import type { IntegerProgramEvent } from './params.js';

/** Runs a program on integers in the page. @internal */
export function runIntegers(
  running: Running<IntegerCiphertext, GlueIntegerKeys, GlueIntegerArithmeticKeys>,
  { bootstraps, signal }: ProgramOptions,
): SteppableRun<Record<string, IntegerCiphertext>, IntegerProgramEvent> {
  const { port, program, tools } = running;
  const [first, all] = checkedInputs(running, IntegerCiphertext);
  const [x, bytes] = [first.handleIn(port), program.toBytes()];
  const others = all.slice(1).map((ciphertext) => ciphertext.handleIn(port));
  const whereNeeded = bootstraps !== 'as-written' && 'bootstrap' in tools;
  return runHere<GlueIntegerProgram, IntegerCiphertext, IntegerProgramEvent>(
    running,
    {
      begin: () => asSent(port, x, (x) => port.call(classOf(INTEGERS, 'IntegerProgram'), 'begin', bytes, whereNeeded, x)),
      give: async (handle) => {
        for (const other of others) await asSent(port, other, (y) => port.call(handle, 'give', y));
      },
      plan: (handle) =>
        'bootstrap' in tools
          ? port.call(handle, 'plan', tools.bootstrap)
          : repaired(port.call(handle, 'planArithmetic', tools.arithmetic), INTEGER_ARITHMETIC),
      step: (run) => ('bootstrap' in tools ? run.step('step', tools.bootstrap) : run.step('stepArithmetic', tools.arithmetic)),
      take: async (handle, index) => new IntegerCiphertext(port, await port.call(handle, 'finish', index)),
    },
    signal,
  );
}

/** Passes a ciphertext on as a server would read it, with the noise that the wire form states, so that results are the same bytes. */
async function asSent<R>(port: Port, x: Handle<GlueIntegerCiphertext>, use: (x: Handle<GlueIntegerCiphertext>) => Promise<R>): Promise<R> {
  const bytes = await port.call(x, 'toBytes');
  return freeing(port, port.call(classOf(INTEGERS, 'IntegerCiphertext'), 'fromBytes', bytes), use);
}
