import { objectOf, type Kinds } from '../api/check-options.js';
import { Ciphertext } from '../api/ciphertext.js';
import type { KeySet } from '../api/key-set.js';
import { SIGNAL, type SignalOptions } from '../api/options.js';
import { SecretKey } from '../api/secret.js';
import { keyMismatch } from '../api/sets.js';
import { EngineRun, freeing } from '../engine/engine-run.js';
import { Fraction } from '../engine/fraction.js';
import type { GlueBootstrapKeys, GlueOrderRun } from '../engine/glue.js';
import { ckks, classOf, type Handle } from '../engine/handle.js';
import type { Port } from '../engine/port.js';
import { RefloatError } from '../errors.js';
import { ORDER, Program, SIGN, type OrderOptions, type Value } from '../program/program.js';
import { SteppableRun } from '../run.js';
import type { OrderStageId, StageEvent } from '../stages.js';

/** Options for questions about the order of slots in the page. */
export interface InspectedOrderOptions extends OrderOptions, SignalOptions {
  /**
   * The secret key: adds `view` events, decrypted here. They show the slots (`slots_to_coeffs`) and the phase of each number (`to_gates`);
   * then, one pair for each number, its rank (`compare`) and the bit that is looked up from it (`look_up`); and the answer in slots
   * (`eval_mod`).
   */
  readonly inspect?: KeySet | undefined;
}

/** @internal */
export const INSPECTED_SIGN: Kinds<Omit<InspectedOrderOptions, 'bounds'>> = {
  ...SIGN,
  ...SIGNAL,
  inspect: objectOf('the key set that decrypts the input', SecretKey),
};

/** @internal */
export const INSPECTED_ORDER: Kinds<InspectedOrderOptions> = { ...ORDER, ...INSPECTED_SIGN };

/** The keys that answer, and the question they are asked. @internal */
export interface Question {
  readonly keys: Handle<GlueBootstrapKeys>;
  readonly keyId: string;
  readonly slots: number;
  readonly preset: string;
  /** Adds the question about a value. */
  readonly ask: (x: Value) => Value;
  /** Number of look-ups of each rank, one for each of its bits; their results come back one after the other. */
  readonly lookUps?: number;
}

/** A program of one question. @internal */
export function programOf(slots: number, ask: (x: Value) => Value): Program {
  const program = new Program({ slots });
  program.output('answer', ask(program.input('x')));
  return program;
}

/** Answers a question about the order of slots, a few stages at a time. @internal */
export function answer(
  port: Port,
  ciphertext: Ciphertext,
  { keys, keyId, slots, preset, ask, lookUps = 1 }: Question,
  { inspect, signal }: InspectedOrderOptions,
): SteppableRun<Ciphertext, StageEvent> {
  if (keys.module !== 'link') {
    throw new RefloatError('INVALID_ARGUMENT', `${preset} compares no slots; take a set that links numbers to gates, such as toy-link`);
  }
  keyMismatch(keyId, ciphertext, 'these bootstrapping keys');
  if (inspect) keyMismatch(inspect.id, ciphertext, 'the key set to inspect with');
  const bytes = programOf(slots, ask).toBytes();
  const [x, secret] = [ciphertext.handleIn(port), inspect?.handleIn(port)];
  const { mode } = ciphertext;
  return new SteppableRun((control) => {
    const begun = port.call(classOf(ckks(x.module), 'OrderRun'), 'begin', x, bytes, keys);
    return freeing(port, begun, async (handle) => {
      const run = new EngineRun<GlueOrderRun, StageEvent>(port, handle, control, Fraction.of(stagesOf(lookUps)));
      for (let finished = false; !finished; ) {
        await control.gate();
        const step = await (secret ? run.step('stepInspected', secret) : run.step('step'));
        finished = step.value;
      }
      return new Ciphertext(port, await port.call(handle, 'finish', 0), mode);
    });
  }, signal);
}

/** The stages of a run, in order. */
function stagesOf(lookUps: number): readonly OrderStageId[] {
  const back: readonly OrderStageId[] = ['look_up', 'to_slots', 'mod_raise', 'eval_mod'];
  return ['slots_to_coeffs', 'to_gates', 'compare', ...Array.from({ length: lookUps }, () => back).flat()];
}
