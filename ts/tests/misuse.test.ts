// What people do by mistake: each answer names what was wanted, what came, and the way out.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Program, Refloat, RefloatError, type BootstrapKeys, type Ciphertext, type GateKeys, type GateKeySet, type KeySet } from '../dist/index.js';

let rf: Refloat;
let keys: KeySet;
let boot: BootstrapKeys;
let ct: Ciphertext;
let bits: GateKeySet;
let gates: GateKeys;

beforeAll(async () => {
  rf = await Refloat.load();
  keys = await rf.keygen('toy10', { allowInsecure: true });
  boot = await keys.bootstrapKeys();
  ct = await keys.encrypt([0.5]);
  bits = await rf.gates.keygen('toy-bool', { allowInsecure: true });
  gates = await bits.evaluationKeys();
});
afterAll(() => rf.close());

/** The message with which something is refused; whatever it was given, as somebody without a compiler would. */
async function refusal(code: string, act: (wrong: <T>(value: unknown) => T) => unknown): Promise<string> {
  try {
    await act(<T>(value: unknown) => value as T);
  } catch (error) {
    expect(error).toBeInstanceOf(RefloatError);
    expect(error).toMatchObject({ code });
    return (error as RefloatError).message;
  }
  return expect.unreachable('nothing was refused');
}

describe('what repairs it', () => {
  it('is told apart from what is wrong', async () => {
    const failure = async (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, (error: unknown) => error);
    expect(await failure(rf.keygen('toy10'))).toMatchObject({ code: 'INSECURE', repair: expect.stringMatching(/^take a secure set such as .*allowInsecure/) as unknown });
    expect(await failure(keys.encrypt([1], { level: 99 }))).toMatchObject({ code: 'LEVEL_MISMATCH', repair: expect.stringMatching(/^take level 1 or/) as unknown });
    expect(await failure(keys.encrypt([0.5, '1' as unknown as number]))).toMatchObject({ code: 'INVALID_ARGUMENT', repair: 'pass numbers' });
    // What a server said is followed by where.
    const problem = { status: 429, detail: 'too many jobs; try again later' };
    expect(new RefloatError('LIMIT', `${problem.detail} (HTTP 429 from somewhere)`, { problem }).repair).toBe('try again later');
    expect(new RefloatError('SERVER', 'out of order').repair).toBeUndefined();
  });
});

describe('values', () => {
  it('that are no list of numbers are named', async () => {
    for (const [value, name] of [
      [200, 'the number 200'],
      [undefined, 'undefined'],
      ['abc', 'the string "abc"'],
      [{}, 'an object'],
      [Promise.resolve([1]), 'a promise: await it'],
      [new Map(), 'a Map'],
    ] as const) {
      expect(await refusal('INVALID_ARGUMENT', (wrong) => keys.encrypt(wrong(value)))).toMatch(new RegExp(`^encrypt\\(\\) takes a list of numbers.* and got ${name}`));
    }
    expect(await refusal('INVALID_ARGUMENT', (wrong) => keys.encrypt(wrong([0.5, '1'])))).toMatch(/entry 1 .* the string "1"/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => keys.encrypt(wrong([1n])))).toMatch(/entry 0 .* the bigint 1n/);
  });

  it('that are lists of other kinds are taken', async () => {
    for (const list of [new Uint8Array([1, 0]), [true, false], { length: 1, 0: 0.5 }]) {
      using x = await keys.encrypt(list as ArrayLike<number>);
      expect(x.preset).toBe('toy10');
    }
  });

  it('are bits for gates', async () => {
    expect(await refusal('INVALID_ARGUMENT', (wrong) => bits.encrypt(wrong(2)))).toMatch(/true, false, .*encryptIntegers.*the number 2/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => bits.encrypt(wrong([true, 2])))).toMatch(/entry 1 .*the number 2/);
    using one = await bits.encrypt(true);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => gates.and(one, wrong(true)))).toMatch(/^and\(\) takes ciphertexts of bits.*got true/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => gates.and(wrong(ct), one))).toMatch(/got a ciphertext/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => gates.lookUp(wrong(undefined), [0, 1]))).toMatch(/got undefined/);
  });
});

describe('objects', () => {
  it('of another kind are named, and where the right ones come from', async () => {
    expect(await refusal('INVALID_ARGUMENT', (wrong) => keys.bootstrap(ct, wrong(undefined)))).toMatch(/bootstrapKeys\(\) makes, and got undefined/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => keys.bootstrap(ct, wrong(keys)))).toMatch(/got a key set/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => rf.square(ct, wrong(keys)))).toMatch(/got a key set/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => rf.square(wrong(boot), boot))).toMatch(/got bootstrapping keys/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => keys.decrypt(wrong(new Uint8Array(4))))).toMatch(/got a Uint8Array; .*ciphertextFromBytes/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => keys.decrypt(wrong(keys.encrypt([1]))))).toMatch(/got a promise: await it/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => rf.exhaust(wrong(null)))).toMatch(/got null/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => bits.decrypt(wrong(ct)))).toMatch(/key set for gates .* got a ciphertext.*key set that encrypted it/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => ct.multiplyPlain(wrong('2')))).toMatch(/takes a number or a list of numbers, and got/);
    const program = new Program(keys.params);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => program.input('x').mul(wrong('a')))).toMatch(/numbers, lists of numbers and its own values, and got the string "a"/);
    for (const none of [{}, { re: 1, im: [1] }, null]) {
      expect(await refusal('INVALID_ARGUMENT', (wrong) => program.constant(wrong(none)))).toMatch(/a program takes numbers, .* and got/);
    }
    expect(await refusal('INVALID_ARGUMENT', (wrong) => bits.encryptBinary(256, wrong(8)))).toMatch(/the number 256 does not fit in 8 bits; pass/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => program.output('y', wrong(2)))).toMatch(/values of its own, and got/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => new Program(wrong(undefined)))).toMatch(/slots of a ciphertext, and got undefined; pass keys.params/);
  });

  it('cannot be cloned or posted, and can be logged', async () => {
    using open = await keys.publicKey();
    using bit = await bits.encrypt(true);
    using whole = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
    using three = await whole.encrypt([3]);
    using others = await whole.publicKey();
    const run = keys.bootstrap(ct, boot);
    const program = new Program(keys.params);
    for (const [object, name, repair] of [
      [ct, 'Ciphertext', 'rf.ciphertextFromBytes()'],
      [bit, 'GateCiphertext', 'rf.gates.ciphertextFromBytes()'],
      [three, 'IntegerCiphertext', 'rf.integers.ciphertextFromBytes()'],
      [open, 'PublicKey', 'rf.publicKeyFromBytes()'],
      [others, 'IntegerPublicKey', 'rf.integers.publicKeyFromBytes()'],
      [keys, 'KeySet', 'rf.importKeys()'],
      [bits, 'GateKeySet', 'rf.gates.importKeys()'],
      [whole, 'IntegerKeySet', 'rf.integers.importKeys()'],
      [boot, 'BootstrapKeys', 'bootstrapKeys()'],
      [gates, 'GateKeys', 'evaluationKeys()'],
      [rf, 'Refloat', 'Refloat.load()'],
      [program, 'Program', 'the same calls'],
      [program.input('x'), 'Program', 'the same calls'],
      [run, 'Run', 'await it'],
    ] as const) {
      for (const copy of [structuredClone, (value: unknown) => new MessageChannel().port1.postMessage({ value })]) {
        expect(() => copy(object)).toThrow(
          expect.objectContaining({ name: 'DataCloneError', message: expect.stringMatching(new RegExp(`\\(${name} objects cannot be cloned or posted`)) }),
        );
        expect(() => copy(object)).toThrow(repair);
      }
    }
    (await run).free();
    expect(JSON.parse(JSON.stringify({ rf, program }))).toEqual({ rf: {}, program: { slots: keys.params.slots } });
    const logged = JSON.parse(JSON.stringify({ ct, keys })) as Record<string, Record<string, unknown>>;
    expect(logged['ct']).toMatchObject({ preset: 'toy10', keyId: keys.id, mode: 'real' });
    expect(logged['keys']).toEqual({ id: keys.id });
  });

  it('are compared by matchers, which read all their fields', async () => {
    using same = await keys.encrypt([0.5]);
    using other = await keys.encrypt([0.5]);
    expect({ same }).toEqual({ same });
    expect(same).not.toEqual(other);
    expect(same).toMatchObject({ preset: 'toy10', level: other.level });
    expect({ ...same }).toMatchObject({ preset: 'toy10' });
    expect(() => expect(same).toEqual({ level: -1 })).toThrow(/expected .* to deeply equal/);
    expect(() => expect(same).toBe(3)).toThrow(/expected .* to be 3/);
  });
});

describe('servers', () => {
  it('have an address with a scheme', async () => {
    expect(await refusal('INVALID_ARGUMENT', () => rf.server('localhost:7979'))).toMatch(/try http:\/\/localhost:7979/);
    expect(await refusal('INVALID_ARGUMENT', () => rf.server('127.0.0.1:7979'))).toMatch(/try http:\/\/127.0.0.1:7979/);
    expect(await refusal('INVALID_ARGUMENT', () => rf.server('ftp://host'))).toMatch(/its scheme is ftp:/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => rf.server(wrong(undefined)))).toMatch(/"undefined" is not the address/);
    expect(rf.server(new URL('https://host/refloat')).url).toMatch(/^https:\/\/host\/refloat/);
  });
});

describe('what takes long', () => {
  it('is given up in the middle, and what comes of it is freed', async () => {
    const { objects } = await rf.memory();
    for (const make of [
      (signal: AbortSignal) => rf.keygen('toy10', { allowInsecure: true, signal }),
      (signal: AbortSignal) => rf.gates.keygen('toy-bool', { allowInsecure: true, signal }),
      (signal: AbortSignal) => bits.evaluationKeys({ signal }),
    ]) {
      const controller = new AbortController();
      const making = make(controller.signal);
      controller.abort('enough');
      await expect(making).rejects.toBe('enough');
      await expect(make(AbortSignal.abort('before'))).rejects.toBe('before');
    }
    // What the worker was making has come by the time it answers this.
    await rf.kernelSelfCheck();
    expect((await rf.memory()).objects).toBe(objects);
  });

  it('is refused where it cannot fit', async () => {
    using n15 = await rf.keygen('n15');
    expect(await refusal('LIMIT', () => n15.bootstrapKeys())).toMatch(/keys of n15 take \d\.\d GB .* let a server hold them/);
  });
});
