import type { Ciphertext, KeySet, Refloat } from 'refloat';
import { primesOf, relabelled, renamed, residuesOf, sealed, withResidues, type Residues } from './forge.js';

/** What a stranger has read, and what it took. */
export interface Read {
  readonly found: Float64Array;
  readonly water: { readonly level: number; readonly logQ: number; readonly logScale: number };
  /** Keys that were tried, and how many there are. */
  readonly tries?: readonly [number, number];
  /** What the same attack gave with noise. */
  readonly control?: Float64Array;
}

const water = ({ level, logQ, logScale }: Ciphertext): Read['water'] => ({ level, logQ, logScale });

/** The seed that a number below 2^bits is expanded to. */
function seedOf(number: number): Uint8Array {
  const seed = new Uint8Array(32);
  new DataView(seed.buffer).setUint32(0, number);
  return seed;
}

/** Encrypts with a key drawn from few bits; a stranger with only the ciphertext makes all keys and finds the one with its key id. */
export async function guessed(rf: Refloat, set: string, bits: number, message: Float64Array, signal: AbortSignal): Promise<Read> {
  const all = 2 ** bits;
  const make = (number: number): Promise<KeySet> => rf.keygen(set, { allowInsecure: true, seed: seedOf(number), signal });
  using owner = await make(crypto.getRandomValues(new Uint32Array(1)).reduce((_, x) => x % all, 0));
  using fresh = await owner.encrypt(message, { signal });
  using sent = await rf.exhaust(fresh);
  for (let number = 0; ; number += 1) {
    using tried = await make(number);
    if (tried.id !== sent.keyId) continue;
    using taken = await rf.ciphertextFromBytes(await sent.toBytes());
    return { found: await tried.decrypt(taken), water: water(taken), tries: [number + 1, all] };
  }
}

/** Scales at which the coefficients of random signs in the slots are a few units, for v, and as large as noise. */
const [SMALL, NOISY] = [16, 64];

/**
 * Encrypts as a public key does, (v b + m, v a) for a small random v, but adds no noise. A stranger divides by a, which is public, and has
 * v. The control is the same with noise.
 */
export async function divided(rf: Refloat, keys: KeySet, message: Float64Array, signal: AbortSignal): Promise<Read> {
  const slots = keys.params.slots;
  const n = 2 * slots;
  using fresh = await keys.encrypt([], { signal });
  using zero = await rf.exhaust(fresh);
  using negative = await zero.negate();
  const frame = await zero.toBytes();
  const primes = primesOf(frame, await negative.toBytes(), n);
  const { parts: [b = [], a = []] } = residuesOf(frame, primes, n);
  const nothing = b.map((row) => row.map(() => 0n));
  const each = (of: (row: number, i: number, prime: bigint) => bigint): bigint[][] =>
    primes.map((prime, row) => Array.from({ length: n }, (_, i) => (((of(row, i, prime) % prime) + prime) % prime)));
  /** The polynomial that encodes the numbers, not encrypted at all. */
  const plain = async (numbers: Float64Array, scale?: number): Promise<Residues['parts'][number]> => {
    const empty = withResidues(frame, { primes, parts: [nothing, nothing] });
    using open = await rf.ciphertextFromBytes(await sealed(scale === undefined ? empty : relabelled(empty, scale)));
    using sum = await open.addPlain(numbers);
    return residuesOf(await sum.toBytes(), primes, n).parts[0] ?? [];
  };
  const signs = (): Float64Array => Float64Array.from(crypto.getRandomValues(new Uint8Array(slots)), (x) => (x & 1 ? 1 : -1));
  const at = (rows: Residues['parts'][number], row: number, i: number): bigint => rows[row]?.[i] ?? 0n;
  const m = await plain(message);
  using stranger = await rf.keygen(keys.params.name, { allowInsecure: true, signal });
  const attack = async (noise: readonly Residues['parts'][number][]): Promise<readonly [Float64Array, Read['water']]> => {
    const v = await plain(signs(), SMALL);
    const [e0 = nothing, e1 = nothing] = noise;
    const c0 = each((row, i) => at(v, row, i) * at(b, row, i) + at(m, row, i) + at(e0, row, i));
    const c1 = each((row, i) => at(v, row, i) * at(a, row, i) + at(e1, row, i));
    const guess = each((row, i, prime) => at(c1, row, i) * power(at(a, row, i), prime - 2n, prime));
    const rest = each((row, i) => at(c0, row, i) - at(guess, row, i) * at(b, row, i));
    const forged = withResidues(renamed(frame, stranger.id), { primes, parts: [rest, nothing] });
    using read = await rf.ciphertextFromBytes(await sealed(forged));
    return [await stranger.decrypt(read), water(read)];
  };
  const [found, left] = await attack([]);
  const [control] = await attack([await plain(signs(), NOISY), await plain(signs(), NOISY)]);
  return { found, water: left, control };
}

function power(base: bigint, exponent: bigint, prime: bigint): bigint {
  let out = 1n;
  for (let square = base, rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) out = (out * square) % prime;
    square = (square * square) % prime;
  }
  return out;
}
