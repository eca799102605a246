import { Ciphertext, joinedMode } from '../api/ciphertext.js';
import { ARITHMETIC, repaired } from '../api/repairs.js';
import { keyMismatch } from '../api/sets.js';
import type { GlueArithmeticKeys, GlueBootstrapKeys, GlueCiphertext, GlueProgramRun } from '../engine/glue.js';
import { ckks, classOf, type Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import type { Preset } from '../params.js';
import type { SteppableRun } from '../run.js';
import type { Program } from './program.js';
import { inputsOf, mustHaveSlots, runHere, type ProgramEvent, type ProgramOptions } from './run.js';

/** Keys that a program runs with: those of bootstraps, or those for arithmetic. @internal */
export type Tools =
  | { readonly bootstrap: Handle<GlueBootstrapKeys>; readonly stages: number }
  | { readonly arithmetic: Handle<GlueArithmeticKeys> };

/** Runs a program on numbers in the page, with keys of a key set. @internal */
export function runProgram(
  port: Port,
  program: Program,
  inputs: Readonly<Record<string, Ciphertext>>,
  { keyId, what, params, tools }: { readonly keyId: string; readonly what: string; readonly params: Preset; readonly tools: Tools },
  { bootstraps, signal }: ProgramOptions,
): SteppableRun<Record<string, Ciphertext>, ProgramEvent> {
  const [first, all] = inputsOf(program, inputs, Ciphertext);
  keyMismatch(keyId, first, what);
  mustHaveSlots(program, params);
  const bytes = program.toBytes();
  const mode = all.reduce((mode, x) => joinedMode({ mode }, x), first.mode);
  const [x, ...others] = all.map((ciphertext) => ciphertext.handleIn(port)) as [Handle<GlueCiphertext>, ...Handle<GlueCiphertext>[]];
  const whereNeeded = bootstraps !== 'as-written' && 'bootstrap' in tools;
  return runHere<GlueProgramRun, Ciphertext, ProgramEvent>(
    port,
    program,
    'bootstrap' in tools ? tools.stages : 0,
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
