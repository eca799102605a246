import { Ciphertext, joinedMode } from '../api/ciphertext.js';
import { ARITHMETIC, repaired } from '../api/repairs.js';
import type { GlueArithmeticKeys, GlueBootstrapKeys, GlueCiphertext, GlueProgramRun } from '../engine/glue.js';
import { ckks, classOf, type Handle } from '../engine/handle.js';
import type { SteppableRun } from '../run.js';
import { checkedInputs, runHere, type ProgramEvent, type ProgramOptions, type Running } from './run.js';

/** Runs a program on numbers in the page. @internal */
export function runProgram(
  running: Running<Ciphertext, GlueBootstrapKeys, GlueArithmeticKeys>,
  { bootstraps, signal }: ProgramOptions,
): SteppableRun<Record<string, Ciphertext>, ProgramEvent> {
  const { port, program, tools } = running;
  const [first, all] = checkedInputs(running, Ciphertext);
  const bytes = program.toBytes();
  const mode = all.reduce((mode, x) => joinedMode({ mode }, x), first.mode);
  const [x, ...others] = all.map((ciphertext) => ciphertext.handleIn(port)) as [Handle<GlueCiphertext>, ...Handle<GlueCiphertext>[]];
  const whereNeeded = bootstraps !== 'as-written' && 'bootstrap' in tools;
  return runHere<GlueProgramRun, Ciphertext, ProgramEvent>(
    running,
    {
      begin: () => port.call(classOf(ckks(x.module), 'ProgramRun'), 'begin', bytes, whereNeeded, mode, x),
      give: async (handle) => {
        for (const other of others) await port.call(handle, 'give', other);
      },
      plan: (handle) =>
        'bootstrap' in tools ? port.call(handle, 'plan', tools.bootstrap) : repaired(port.call(handle, 'planArithmetic', tools.arithmetic), ARITHMETIC),
      step: (run) => ('bootstrap' in tools ? run.step('step', tools.bootstrap) : run.step('stepArithmetic', tools.arithmetic)),
      take: async (handle, index) => new Ciphertext(port, await port.call(handle, 'finish', index), mode),
    },
    signal,
  );
}
