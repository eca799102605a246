// Results of sets from fixed seeds, as wasm/tests/portable.rs recorded them.
import { readFile } from 'node:fs/promises';

/** Recorded for every set; what takes too long is recorded only for toys. */
interface OfKeys {
  readonly name: string;
  readonly fingerprint: string;
  readonly keyId: string;
  readonly secret: string;
  readonly parts: readonly [number, string][];
}

/** Digests of ciphertexts, by their contents. */
type Digests<Always extends string, OfToys extends string = never> = Readonly<Record<Always, string>> & Readonly<Partial<Record<OfToys, string>>>;

interface Vectors {
  readonly keySeed: number;
  readonly encryptionSeed: number;
  readonly sets: readonly (OfKeys & Digests<'fresh' | 'exhausted', 'complex' | 'bootstrapped' | 'squared' | 'bootstrappedAgain'>)[];
  readonly conventional: readonly (OfKeys & Digests<never, 'fresh' | 'exhausted' | 'bootstrapped' | 'squared'>)[];
  readonly reduction: readonly (OfKeys & Digests<'fresh' | 'bootstrapped'> & { readonly readings: readonly string[] })[];
  readonly link: readonly (OfKeys & Digests<'fresh' | 'ranks' | 'lookedUp' | 'argmax'>)[];
  readonly gates: readonly (OfKeys & Digests<never, 'fresh' | 'nand' | 'sum' | 'lookedUp'>)[];
  readonly integers: readonly (OfKeys & Digests<never, 'fresh' | 'squared' | 'bootstrapped'>)[];
}

const path = new URL('../../../tests/vectors/portable.json', import.meta.url);

export const vectors = JSON.parse(await readFile(path, 'utf8')) as Vectors;

/** The digest that ends every object on the wire: the BLAKE3 hash of everything before it. */
export const digest = (bytes: Uint8Array): string => Buffer.from(bytes.slice(-32)).toString('hex');

export const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

/** Options for keys of sets that are not secure. */
export const TOY = { allowInsecure: true } as const;
