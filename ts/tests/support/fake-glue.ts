// A wasm module that computes nothing: for the tests of what lies around it (handles, messages,
// runs, HTTP). Tests of the real one are in engine.test.ts, api.test.ts and their neighbours.
import { createHash } from 'node:crypto';
import { KeySet } from '../../dist/api/key-set.js';
import { Sets } from '../../dist/api/sets.js';
import { Engine } from '../../dist/engine/engine.js';
import type { CkksGlue, GlueBootstrapKeys, GlueCiphertext, GlueRun, GlueSecretKey, GlueTasks } from '../../dist/engine/glue.js';
import { ckks, classOf } from '../../dist/engine/handle.js';
import { Host } from '../../dist/engine/host.js';
import { DirectPort } from '../../dist/engine/port.js';
import type { Preset } from '../../dist/params.js';

/** Called before each operation with its name: the test decides what goes wrong. */
export type Trouble = (op: string) => void;

export const PARTS = 7;

export function fakePreset(name = 'toy10'): Preset {
  return {
    name,
    title: 'Fake',
    method: 'ckks-ship',
    mode: 'real',
    secure: false,
    securityBits: 0,
    securityStatement: 'INSECURE',
    policy: 'insecure-for-tests',
    source: 'none',
    fingerprint: 'ab'.repeat(16),
    logN: 3,
    slots: 4,
    logQP: 60,
    logQ0P: 30,
    maxLevel: 5,
    inputLevel: 1,
    outputLevel: 2,
    promisedBits: 10,
    promisedFor: 'every message with parts in [-1, 1]',
    gainBits: 10,
    stages: [
      { id: 'slots_to_coeffs', title: 'S2C', symbol: 'V z', levels: 1 },
      { id: 'blind_rotate', title: 'Rotate', symbol: 'X^a', levels: 0 },
    ],
    tracks: 3,
    treeLevels: 2,
    keyParts: Array.from({ length: PARTS }, (_, index) => ({ index, label: `part ${index}`, bytes: 10 + index })),
    keyBytes: Array.from({ length: PARTS }, (_, index) => 10 + index).reduce((a, b) => a + b),
    ciphertextBytes: [32, 64, 96],
    scheme: 'ckks',
    parts: PARTS,
    expandedKeyBytes: 1000,
  };
}

class FakeObject {
  freed = false;
  free(): void {
    if (this.freed) throw new Error('freed twice');
    this.freed = true;
  }
  [Symbol.dispose](): void {
    this.free();
  }
}

class FakeCiphertext extends FakeObject implements GlueCiphertext {
  constructor(
    readonly key: number,
    readonly values: Float64Array,
    readonly atLevel: number,
  ) {
    super();
  }
  preset = (): string => 'toy10';
  keyId = (): Uint8Array => new Uint8Array(16).fill(this.key);
  level = (): number => this.atLevel;
  logQ = (): number => 20 * this.atLevel;
  logScale = (): number => 20;
  byteLength = (): number => 8 * (2 + this.values.length);
  toBytes = (): Uint8Array => new Uint8Array(Float64Array.from([this.key, this.atLevel, ...this.values]).buffer);
}

class FakeKeys extends FakeObject implements GlueBootstrapKeys {
  readonly have = new Set<number>();
  addFromSecret(_secret: GlueSecretKey, index: number): void {
    this.have.add(index);
  }
  add(index: number): void {
    this.have.add(index);
  }
  finish(): void {
    if (this.have.size !== PARTS) throw coded('MISSING_KEY', `${PARTS - this.have.size} parts are missing`);
  }
  memoryBytes = (): number => 1000;
}

class FakeSecret extends FakeObject implements GlueSecretKey {
  constructor(
    readonly key: number,
    readonly trouble: Trouble,
  ) {
    super();
  }
  preset = (): string => 'toy10';
  keyId = (): Uint8Array => new Uint8Array(16).fill(this.key);
  encrypt(values: Float64Array, _mode?: string | null, level?: number | null): GlueCiphertext {
    this.trouble('encrypt');
    return new FakeCiphertext(this.key, values.slice(), level ?? 2);
  }
  decrypt(ct: GlueCiphertext): Float64Array {
    return (ct as FakeCiphertext).values.slice();
  }
  keyPart(index: number): Uint8Array {
    this.trouble('keyPart');
    return new Uint8Array(10 + index).fill(index);
  }
  publicKey(): never {
    throw new Error('nothing here encrypts with public keys');
  }
  exportSecret = (): Uint8Array => Uint8Array.of(this.key);
  serverToken = (origin: string): Uint8Array => fakeDigest(new TextEncoder().encode(`${this.key} at ${origin}`));
}

class FakeRun extends FakeObject implements Pick<GlueRun, 'step' | 'finish' | 'tasks'> {
  #steps = 0;
  constructor(
    readonly ciphertext: GlueCiphertext,
    readonly trouble: Trouble,
  ) {
    super();
  }
  step(_keys: GlueBootstrapKeys, onEvent: Function): boolean {
    this.trouble('step');
    this.#steps += 1;
    onEvent({ kind: 'progress', stage: 'blind_rotate', done: this.#steps, total: 4 }, performance.now());
    return this.#steps === 4;
  }
  tasks = (): GlueTasks => ({ next: this.#steps, perStep: 1, total: 4, secret: false });
  finish(): GlueCiphertext {
    const { key, values } = this.ciphertext as FakeCiphertext;
    return new FakeCiphertext(key, values, 2);
  }
}

/** Stands for BLAKE3, which Node does not have. */
export function fakeDigest(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(bytes).digest());
}

/** An error as the wasm module throws them. */
export function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** The surface of the full module. */
export function fakeGlue(trouble: Trouble = () => undefined) {
  let keys = 0;
  const common: CkksGlue = {
    default: () => Promise.resolve({ memory: new WebAssembly.Memory({ initial: 1 }) }),
    initSync: () => ({ memory: new WebAssembly.Memory({ initial: 1 }) }),
    __wbg_reset_state: () => undefined,
    about: () => ({ version: '0.0.0', backend: 'fake', target: 'fake' }),
    presets: () => {
      const { keyParts, ...rest } = fakePreset();
      const partLabels = keyParts.map((part) => part.label).join('\n');
      return [{ ...rest, partLabels, partBytes: Float64Array.from(keyParts, (part) => part.bytes) }];
    },
    panicMessage: () => undefined,
    digest: fakeDigest,
    SecretKey: {
      generate: () => new FakeSecret(++keys, trouble),
      importSecret: (bytes) => new FakeSecret(bytes[0] as number, trouble),
    },
    PublicKey: {
      fromBytes: () => {
        throw coded('BAD_BYTES', 'nothing here has public keys');
      },
    },
    Ciphertext: {
      fromBytes: (bytes) => {
        if (bytes.length % 8 !== 0) throw coded('BAD_BYTES', 'not a multiple of 8');
        const [key, level, ...values] = new Float64Array(bytes.slice().buffer);
        return new FakeCiphertext(key as number, Float64Array.from(values), level as number);
      },
    },
  };
  return {
    ...common,
    BootstrapKeys: { begin: () => new FakeKeys(), generated: () => new FakeKeys() },
    BootstrapRun: { begin: (ct: GlueCiphertext) => new FakeRun(ct, trouble) },
    square: (ct: GlueCiphertext) => ct,
    exhaust: (ct: GlueCiphertext) => ct,
    kernelSelfCheck: () => 'fake',
  };
}

export interface Fake {
  readonly engine: Engine;
  readonly host: Host;
  readonly port: DirectPort;
  readonly sets: Sets;
  /** A new key set. */
  keys(): Promise<KeySet>;
}

export function fake(trouble?: Trouble): Fake {
  const glue = fakeGlue(trouble);
  const engine = new Engine('main', glue, new WebAssembly.Memory({ initial: 1 }));
  const host = new Host((name) => (name === 'main' ? Promise.resolve(engine) : Promise.reject(new Error(`there is no module of ${name} here`))));
  const port = new DirectPort(host);
  const sets = new Sets(port, glue.presets());
  const keys = async (): Promise<KeySet> =>
    new KeySet(port, await port.call(classOf(ckks('main'), 'SecretKey'), 'generate', 'toy10', true), sets.named('toy10'));
  return { engine, host, port, sets, keys };
}
