import { mustBe, named } from '../api/arguments.js';
import { oneOf, type Kinds } from '../api/check-options.js';
import { Encrypted } from '../api/encrypted.js';
import { SIGNAL, type SignalOptions } from '../api/options.js';
import { keyMismatch } from '../api/sets.js';
import { EngineRun, freeing } from '../engine/engine-run.js';
import { Counted } from '../engine/fraction.js';
import type { Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { RefloatError } from '../errors.js';
import type { SetInfo } from '../params.js';
import { SteppableRun } from '../run.js';
import type { StageEnter, StageExit, StageId, StageProgress } from '../stages.js';
import { Program } from './program.js';

/** Stages of a program: those of its bootstraps, and the arithmetic between them. */
export type ProgramStageId = StageId | 'arithmetic';

/** What a program reports, in the page as on a server; progress of `arithmetic` counts the steps of the plan. */
export type ProgramEvent<S = ProgramStageId> = StageEnter<S> | StageProgress<S> | StageExit<S>;

/** Options of programs that run in the page. */
export interface ProgramOptions extends SignalOptions {
  /** Whether bootstraps are inserted where levels run out (the default), or only those in the program are done. */
  readonly bootstraps?: 'where-needed' | 'as-written' | undefined;
}

/** @internal */
export const PROGRAM: Kinds<ProgramOptions> = { ...SIGNAL, bootstraps: oneOf('where-needed', 'as-written') };

/** A ciphertext as an input of a program. */
interface Input {
  readonly keyId: string;
  readonly preset: string;
}

/** The inputs of a program in its order, all under one key; also the first of them. @internal */
export function inputsOf<C extends Input>(
  program: Program,
  inputs: Readonly<Record<string, C>>,
  Class: abstract new (...args: never[]) => C,
): [first: C, all: readonly C[]] {
  mustBe(program, Program, 'run()', 'a Program');
  if (typeof inputs !== 'object' || inputs === null) {
    throw new RefloatError('INVALID_ARGUMENT', `run() takes an object with a ciphertext for each input, such as { x }, and got ${named(inputs)}`);
  }
  const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
  const given = program.inputs.map((name) => {
    const ciphertext = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    if (!ciphertext) {
      const others = inputs instanceof Encrypted ? named(inputs) : quoted(Object.keys(inputs)) || 'none';
      throw new RefloatError('INVALID_ARGUMENT', `the program has an input "${name}", and run() got ${others}; pass a ciphertext for it, { ${keyOf(name)}: ciphertext }`);
    }
    mustBe(ciphertext, Class, 'run()', `a ciphertext that encrypt() of the same keys makes as input "${name}"`);
    return ciphertext;
  });
  const stranger = Object.keys(inputs).find((name) => !program.inputs.includes(name));
  if (stranger !== undefined) {
    throw new RefloatError('INVALID_ARGUMENT', `the program has no input "${stranger}"; its inputs are ${quoted(program.inputs)}`);
  }
  const [first] = given;
  if (!first) throw new RefloatError('INVALID_ARGUMENT', 'the program has no input; add one');
  for (const ciphertext of given) keyMismatch(first.keyId, ciphertext, 'the first input');
  return [first, given];
}

/** A name as JavaScript writes it before a colon. */
function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `'${name.replaceAll("'", "\\'")}'`;
}

/** Refuses a program for ciphertexts with another number of slots: its rotations and sums would give other numbers. @internal */
export function mustHaveSlots(program: Program, { name, slots }: Pick<SetInfo, 'name' | 'slots'>): void {
  if (program.slots === slots) return;
  throw new RefloatError(
    'PARAMS_MISMATCH',
    `the program is for ${program.slots} slots, and ciphertexts of ${name} have ${slots}; build it with new Program(keys.params) of these keys`,
  );
}

/** What a plan will take, as the instance reports it. */
interface Planned {
  readonly steps: number;
  readonly passes: number;
}

/** Keys in an instance that programs run with: those of bootstraps, or those for arithmetic. */
type Tools<B, A> = { readonly bootstrap: Handle<B>; readonly stages: number } | { readonly arithmetic: Handle<A> };

/** A program to run in the page, with its inputs and with keys of a key set. @internal */
export interface Running<C, B, A> {
  readonly port: Port;
  readonly program: Program;
  readonly inputs: Readonly<Record<string, C>>;
  readonly keyId: string;
  readonly params: Pick<SetInfo, 'name' | 'slots'>;
  /** What error messages call the keys. */
  readonly what: string;
  readonly tools: Tools<B, A>;
}

/** The ciphertexts that a program is to run on, which must belong to its keys; also the first of them. @internal */
export function checkedInputs<C extends Input>(
  { program, inputs, keyId, params, what }: Running<C, unknown, unknown>,
  Class: abstract new (...args: never[]) => C,
): [first: C, all: readonly C[]] {
  const [first, all] = inputsOf(program, inputs, Class);
  keyMismatch(keyId, first, what);
  mustHaveSlots(program, params);
  return [first, all];
}

/** A program in an instance: how it is planned, how one of its steps is done, and how an output is taken. @internal */
export interface Stepping<T, C, E extends { readonly atMs: number }> {
  readonly begin: () => Promise<Handle<T>>;
  /** Passes the inputs after the first. */
  readonly give: (handle: Handle<T>) => Promise<void>;
  readonly plan: (handle: Handle<T>) => Promise<unknown>;
  readonly step: (run: EngineRun<T, E>) => Promise<{ readonly value: unknown }>;
  readonly take: (handle: Handle<T>, index: number) => Promise<C>;
}

/** Runs a program, one operation or stage at a time. @internal */
export function runHere<T, C, E extends { readonly atMs: number }>(
  { port, program, tools }: Running<C, unknown, unknown>,
  { begin, give, plan, step, take }: Stepping<T, C, E>,
  signal: AbortSignal | undefined,
): SteppableRun<Record<string, C>, E> {
  // Outputs that are added to the program afterwards do not belong to this run.
  const names = program.outputs;
  const stages = 'bootstrap' in tools ? tools.stages : 0;
  return new SteppableRun((control) =>
    freeing(port, begin(), async (handle) => {
      await give(handle);
      await control.gate();
      const { steps, passes } = (await plan(handle)) as Planned;
      const run = new EngineRun<T, E>(port, handle, control, new Counted(steps + passes * stages));
      for (let finished = false; !finished; ) {
        await control.gate();
        finished = (await step(run)).value === true;
      }
      const out: Record<string, C> = {};
      for (const [index, name] of names.entries()) out[name] = await take(handle, index);
      return out;
    }),
  signal);
}
