import type { BootstrapKeys, Ciphertext, KeySet, Refloat } from 'refloat';
import { sentence } from '../format.js';
import { quality, type Voyage } from '../voyage.js';
import { flipped, renamed, sealed } from './forge.js';
import { divided, guessed } from './attacks.js';

/** What a reader may break: the size of the message, the key, a bit of the ciphertext, the way the key was drawn, or the noise. */
export type Breakage = 'sum' | 'key' | 'bit' | 'guess' | 'noise';

/** What comes out, or is expected to. */
export type Outcome = 'right' | 'wrong' | 'noise';

/** What the reader has chosen. */
export interface Choice {
  readonly what: Breakage;
  /** log2 of the number of copies of the picture that are added. */
  readonly doublings: number;
  /** Where in the ciphertext a bit is flipped, in percent of its length. */
  readonly where: number;
  /** Bits of randomness that a key is drawn from. */
  readonly keyBits: number;
  /** What the reader expects, once they have said so. */
  readonly guess?: Outcome | undefined;
}

/** A voyage that was broken, and how it ended. */
export interface Broken extends Choice {
  /** The picture, and what came out of it. */
  readonly voyage: Voyage;
  /** What the library said before its guards were bypassed. */
  readonly refusal?: string;
  readonly outcome: Outcome;
  /** The largest number that can come out of a bootstrap: that of a sine with a full turn of q0. */
  readonly reach?: number;
  /** Keys that a stranger tried, and how many there are. */
  readonly tries?: readonly [number, number];
  /** The largest error of the same attack with noise. */
  readonly control?: number;
}

/** Largest error that nobody can see: four grey levels. */
const UNSEEN = 1 / 32;
/** How many neighbouring places are tried if the bit at the chosen one cannot be flipped. */
const NEIGHBOURS = 16;
/** Below this correlation with the message, nothing of it is left. */
const UNLIKE = 0.3;

/** What came out, by what is left of the message in it. A picture that folds over is not noise. */
export function outcomeOf(what: Breakage, expected: Float64Array, found: Float64Array): Outcome {
  if (quality(expected, found).maxError <= UNSEEN) return 'right';
  return what === 'sum' || correlation(expected, found) > UNLIKE ? 'wrong' : 'noise';
}

function correlation(x: Float64Array, y: Float64Array): number {
  const mean = (v: Float64Array): number => v.reduce((s, e) => s + e, 0) / v.length;
  const [mx, my] = [mean(x), mean(y)];
  let [xx, yy, xy] = [0, 0, 0];
  x.forEach((e, i) => {
    const [dx, dy] = [e - mx, (y[i] ?? 0) - my];
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  });
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : 0;
}

/** Breaks the voyage of `voyage.input` as chosen, for a toy set whose keys are at hand. */
export async function breakIt(rf: Refloat, keys: KeySet, boot: BootstrapKeys, voyage: Voyage, choice: Choice, signal: AbortSignal): Promise<Broken> {
  if (choice.what === 'guess' || choice.what === 'noise') return read(rf, keys, voyage, choice, signal);
  const times = choice.what === 'sum' ? 2 ** choice.doublings : 1;
  const spent = await exhausted(rf, keys, voyage.input, times, signal);
  try {
    const { found, refusal, reach, water } = await {
      sum: () => refreshed(keys, boot, spent, signal),
      key: () => byOther(rf, keys, spent, signal),
      bit: () => damaged(rf, keys, boot, spent, choice.where / 100, signal),
    }[choice.what as 'sum' | 'key' | 'bit']();
    const slots = found.slice(0, voyage.input.length).map((x) => x / times);
    const result = { ...water, bytes: 0, sample: new Uint8Array(), slots, quality: quality(voyage.input, slots) };
    return { ...choice, voyage: { ...voyage, state: 'done', result }, ...(refusal === undefined ? {} : { refusal }), ...(reach === undefined ? {} : { reach }), outcome: outcomeOf(choice.what, voyage.input, slots) };
  } finally {
    spent.free();
  }
}

/** What a stranger without any key reads. */
async function read(rf: Refloat, keys: KeySet, voyage: Voyage, choice: Choice, signal: AbortSignal): Promise<Broken> {
  const { input } = voyage;
  const { found, water, tries, control } = await (choice.what === 'guess' ? guessed(rf, keys.params.name, choice.keyBits, input, signal) : divided(rf, keys, input, signal));
  const slots = found.slice(0, input.length);
  const result = { ...water, bytes: 0, sample: new Uint8Array(), slots, quality: quality(input, slots) };
  return {
    ...choice,
    voyage: { ...voyage, state: 'done', result },
    ...(tries ? { tries } : {}),
    ...(control ? { control: quality(input, control.slice(0, input.length)).maxError } : {}),
    outcome: outcomeOf(choice.what, input, slots),
  };
}

/** The sum of `times` copies of the message, a power of two, at the level where it is exhausted. */
async function exhausted(rf: Refloat, keys: KeySet, message: Float64Array, times: number, signal: AbortSignal): Promise<Ciphertext> {
  let sum = await keys.encrypt(message, { signal });
  for (let copies = 1; copies < times; copies *= 2) {
    using half = sum;
    sum = await half.add(half);
  }
  using full = sum;
  return await rf.exhaust(full);
}

interface Seen {
  readonly found: Float64Array;
  readonly water: { readonly level: number; readonly logQ: number; readonly logScale: number };
  readonly refusal?: string;
  readonly reach?: number;
}

async function seen(keys: KeySet, ciphertext: Ciphertext, refusal?: string): Promise<Seen> {
  const { level, logQ, logScale } = ciphertext;
  return { found: await keys.decrypt(ciphertext), water: { level, logQ, logScale }, ...(refusal === undefined ? {} : { refusal }) };
}

async function refreshed(keys: KeySet, boot: BootstrapKeys, spent: Ciphertext, signal: AbortSignal, refusal?: string): Promise<Seen> {
  const run = keys.bootstrap(spent, boot, { signal });
  let reach = Number.NaN;
  // The views show phases at the modulus left at that point: one turn is the modulus over the scale.
  for await (const event of run) if (event.kind === 'exit' && event.stage === 'encapsulate') reach = 2 ** (event.logQ - event.logScale) / (2 * Math.PI);
  using output = await run;
  return { ...(await seen(keys, output, refusal)), reach };
}

/** Decrypts with somebody else's key: refused because of its key id, and then again with the id changed. */
async function byOther(rf: Refloat, keys: KeySet, spent: Ciphertext, signal: AbortSignal): Promise<Seen> {
  using other = await rf.keygen(keys.params.name, { allowInsecure: true, signal });
  const refusal = await refusalOf(() => other.decrypt(spent));
  using forged = await rf.ciphertextFromBytes(await sealed(renamed(await spent.toBytes(), other.id)));
  return await seen(other, forged, refusal);
}

/** Bootstraps with one bit flipped: refused because of its digest, and then again with a digest that fits. */
async function damaged(rf: Refloat, keys: KeySet, boot: BootstrapKeys, spent: Ciphertext, where: number, signal: AbortSignal): Promise<Seen> {
  const bytes = await spent.toBytes();
  const refusal = await refusalOf(async () => (await rf.ciphertextFromBytes(flipped(bytes, where))).free());
  using forged = await taken(rf, bytes, where);
  return await refreshed(keys, boot, forged, signal, refusal);
}

/** The ciphertext with a bit flipped at this place, or at the next one where the residue stays below its modulus: others are refused. */
async function taken(rf: Refloat, bytes: Uint8Array, where: number): Promise<Ciphertext> {
  for (let step = 0; ; step += 1) {
    try {
      return await rf.ciphertextFromBytes(await sealed(flipped(bytes, (where + step / bytes.length) % 1)));
    } catch (error) {
      if (step === NEIGHBOURS) throw error;
    }
  }
}

async function refusalOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
  } catch (error) {
    return sentence(error);
  }
  throw new Error('what should have been refused was taken');
}
