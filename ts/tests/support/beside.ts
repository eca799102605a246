// The library beside a native server, and keys of a small set there.
import { expect } from 'vitest';
import { Refloat, type Ciphertext, type KeySet, type LoadOptions, type RemoteKeys, type Server, type SetInfo } from 'refloat';
import { realServer, type RealServer } from './real-server.js';

/** Options of a client whose server goes away and comes back. */
export const PATIENT = { retry: { attempts: 30, firstDelayMs: 50, maxDelayMs: 500 } };

export interface Beside {
  readonly rf: Refloat;
  readonly real: RealServer;
  readonly server: Server;
  close(): Promise<void>;
}

/** Loads the library and starts a server. */
export async function beside(options: LoadOptions = {}): Promise<Beside> {
  const rf = await Refloat.load(options);
  const real = await realServer();
  const server = rf.server(real.url, PATIENT);
  const close = async (): Promise<void> => {
    rf.close();
    await real.close();
  };
  return { rf, real, server, close };
}

/** Checks that a server offers sets with the numbers that they have in this package. */
export async function expectOffered(server: Server, mine: readonly SetInfo[]): Promise<void> {
  const offer = await server.params({ parts: true });
  for (const { expandedKeyBytes, ...numbers } of mine) {
    const theirs = offer.sets.find((set) => set.name === numbers.name);
    expect(theirs, numbers.name).toMatchObject(numbers);
    // A server with little memory keeps less besides the keys.
    expect(theirs?.expandedKeyBytes, numbers.name).toBeLessThanOrEqual(expandedKeyBytes);
  }
}

/** The values that are encrypted here. */
export const VALUES = [0.5, -0.25, 1];

export interface UploadedKeys extends Beside {
  readonly keys: KeySet;
  readonly remote: RemoteKeys;
  /** {@link VALUES}, exhausted. */
  readonly ct: Ciphertext;
}

/** The same as `beside`, with keys of `toy10` on the server. */
export async function uploadedKeys(): Promise<UploadedKeys> {
  const { rf, real, server, close } = await beside();
  const keys = await rf.keygen('toy10', { allowInsecure: true });
  const remote = await server.uploadKeys(keys);
  const ct = await keys.encrypt(VALUES, { level: keys.params.inputLevel });
  return { rf, real, server, keys, remote, ct, close };
}

/** Checks that a ciphertext decrypts to {@link VALUES}, as precisely as its set promises, and frees it. */
export async function expectValues(keys: KeySet, fresh: Ciphertext): Promise<void> {
  const found = await keys.decrypt(fresh);
  VALUES.forEach((value, i) => expect(Math.abs((found[i] as number) - value)).toBeLessThan(2 ** -keys.params.promisedBits));
  fresh.free();
}
