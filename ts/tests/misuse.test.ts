// Common mistakes: every answer names what was expected, what was passed, and the way out.
import { inspect } from 'node:util';
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

/** The message with which something is refused. `act` may pass anything, as somebody without a compiler would. */
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
    // A server's message is followed by its address.
    const problem = { status: 429, detail: 'too many jobs; try again later' };
    expect(new RefloatError('LIMIT', `${problem.detail} (HTTP 429 from somewhere)`, { problem }).repair).toBe('try again later');
    expect(new RefloatError('SERVER', 'out of order').repair).toBeUndefined();
    // If this package says something instead of the server's words, that is what counts.
    expect(new RefloatError('MISSING_KEY', 'there are none; send them', { problem }).repair).toBe('send them');
    expect(new RefloatError('LIMIT', 'too many; wait (https://host/v1/jobs/1)').repair).toBe('wait');
    expect(new RefloatError('LIMIT', 'too much; let a server hold them (rf.server(url))').repair).toBe('let a server hold them (rf.server(url))');
  });
});

describe('values', () => {
  it('that are not lists of numbers are named', async () => {
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

  it('that are no finite numbers are named', async () => {
    for (const [act, message] of [
      [() => keys.encrypt([0.5, NaN]), /^entry 1 of what encrypt\(\) got is NaN; pass finite numbers$/],
      [() => keys.encrypt(Float64Array.of(-Infinity)), /^entry 0 of what encrypt\(\) got is -Infinity; pass finite/],
      [() => ct.addPlain(NaN), /^entry 0 of what addPlain\(\) got is NaN/],
      [() => ct.multiplyPlain([1, Infinity]), /^entry 1 of what multiplyPlain\(\) got is Infinity/],
    ] as const) {
      expect(await refusal('INVALID_ARGUMENT', act)).toMatch(message);
    }
  });

  it('that are no integers of a set are told how they count', async () => {
    using whole = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
    for (const [value, repair] of [
      [-1, 'they count modulo 65537, so write -1 as 65536'],
      [70000, 'they count modulo 65537, so write 70000 as 4463'],
      [0.5, 'pass whole numbers'],
    ] as const) {
      expect(await refusal('INVALID_ARGUMENT', () => whole.encrypt([value]))).toBe(`entry 0 is ${value}, and integers of toy-bgv10 are 0 to 65536; ${repair}`);
    }
  });

  it('that are lists of other kinds are taken', async () => {
    for (const list of [new Uint8Array([1, 0]), [true, false], { length: 1, 0: 0.5 }]) {
      using x = await keys.encrypt(list as ArrayLike<number>);
      expect(x.preset).toBe('toy10');
    }
  });

  it('are bits for gates', async () => {
    expect(await refusal('INVALID_ARGUMENT', (wrong) => bits.encrypt(wrong(2)))).toMatch(/true, false, .*encryptIntegers.*the number 2/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => bits.encrypt(wrong(1)))).toMatch(/a list of bits, such as \[true\] or \[1\]/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => bits.encrypt(wrong([true, 2])))).toMatch(/entry 1 .*the number 2/);
    using one = await bits.encrypt(true);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => gates.and(one, wrong(true)))).toMatch(/^and\(\) takes ciphertexts of bits.*got true/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => gates.and(wrong(ct), one))).toMatch(/got a ciphertext/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => gates.lookUp(wrong(undefined), [0, 1]))).toMatch(/got undefined/);
  });
});

describe('other arguments', () => {
  it('are named where they are of another kind', async () => {
    const whole = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
    const program = new Program(keys.params);
    const x = program.input('x');
    const adder = await rf.gates.adder(2);
    const one = await bits.encrypt(true);
    const integers = await whole.encrypt([1]);
    const arithmetic = await keys.arithmeticKeys({ rotations: [] });
    const server = rf.server('http://127.0.0.1:1');
    const buffer = (await ct.toBytes()).buffer;
    for (const [act, message] of [
      [(wrong) => rf.keygen(wrong({ allowInsecure: true })), /given by its name, such as 'toy10', not by an object; pass the name, and options after it/],
      [(wrong) => rf.gates.keygen(wrong({})), /given by its name/],
      [(wrong) => rf.gates.params(wrong(undefined)), /not by undefined/],
      [(wrong) => rf.integers.keygen(wrong({})), /given by its name/],
      [(wrong) => rf.integers.params(wrong(1)), /not by the number 1/],
      [(wrong) => rf.loadPresets(wrong('ckks')), /"ckks" is not a method .* those are ckks-ship, ckks-conventional/],
      [(wrong) => rf.ciphertextFromBytes(wrong(buffer)), /ciphertextFromBytes\(\) takes a Uint8Array, and got an ArrayBuffer; wrap it, new Uint8Array\(buffer\)/],
      [(wrong) => rf.ciphertextFromBytes(wrong('iXJl')), /got the string "iXJl"; pass the bytes as they were given out/],
      [(wrong) => rf.importKeys(wrong({ 0: 137 })), /importKeys\(\) takes a Uint8Array, and got an object/],
      [(wrong) => rf.publicKeyFromBytes(wrong([256])), /publicKeyFromBytes\(\) .* got an Array/],
      [(wrong) => rf.gates.importKeys(wrong(null)), /importKeys\(\) .* got null/],
      [(wrong) => rf.gates.ciphertextFromBytes(wrong(buffer)), /wrap it/],
      [(wrong) => rf.integers.importKeys(wrong(buffer)), /wrap it/],
      [(wrong) => rf.integers.publicKeyFromBytes(wrong(buffer)), /wrap it/],
      [(wrong) => rf.integers.ciphertextFromBytes(wrong(buffer)), /wrap it/],
      [(wrong) => keys.keyPart(wrong(undefined)), /^part undefined of the keys; pass an integer from 0 to 33$/],
      [(wrong) => ct.dropToLevel(wrong('1')), /^the level is the string "1"; pass an integer from 0 to 2$/],
      [(wrong) => rf.gates.circuit(wrong(undefined)), /takes the text of a circuit, and got undefined/],
      [(wrong) => rf.gates.adder(wrong('8')), /the width is the string "8"/],
      [(wrong) => rf.gates.adder(8, wrong('Prefix')), /by 'ripple' or 'prefix', not by the string "Prefix"/],
      [(wrong) => gates.run(wrong(undefined), one), /run\(\) takes a circuit, .* and got undefined/],
      [(wrong) => gates.run(adder, wrong(undefined)), /takes ciphertexts of bits, .* and got undefined/],
      [(wrong) => gates.gateRun('and', wrong(ct)), /takes ciphertexts of bits, .* and got a ciphertext/],
      [(wrong) => gates.lookUp(one, wrong(undefined)), /takes a table, .* and got undefined/],
      [(wrong) => gates.sum(wrong([one])), /pairs \[weight, ciphertext\], and got a ciphertext for gates; pass \[1, x\] for x/],
      [(wrong) => gates.sum(wrong(one)), /takes a list of pairs/],
      [(wrong) => gates.sum([[wrong('2'), one]]), /a weight is the string "2"/],
      [(wrong) => whole.encrypt(wrong(5)), /takes a list of integers, .* and got the number 5/],
      [(wrong) => whole.encrypt(wrong(['5'])), /entry 0 is the string "5"/],
      [(wrong) => server.run(program, wrong(undefined)), /takes an object with a ciphertext for each input/],
      [(wrong) => server.circuit(wrong(1), one), /circuit\(\) takes a circuit, .* and got the number 1/],
      [(wrong) => server.circuit(adder, wrong(ct)), /ciphertexts of bits, .* and got a ciphertext/],
      [(wrong) => server.integers(wrong(ct)), /ciphertexts of integers, .* and got a ciphertext; bootstrap\(\) of the server takes that$/],
      [(wrong) => server.integers(wrong(one)), /and got a ciphertext for gates; circuit\(\) of the server takes that$/],
      [(wrong) => server.bootstrap(wrong(one)), /takes a ciphertext of numbers, .* and got a ciphertext for gates; circuit\(\) of the server takes that$/],
      [(wrong) => server.bootstrap(wrong(integers)), /and got a ciphertext of exact integers; integers\(\) of the server takes that$/],
      [(wrong) => server.bootstrap(wrong(keys)), /and got a key set$/],
      [(wrong) => rf.square(wrong(integers), boot), /and got a ciphertext of exact integers; multiply\(\) of its evaluation keys/],
      [(wrong) => rf.exhaust(wrong(integers)), /and got a ciphertext of exact integers; it has dropToLevel/],
      [(wrong) => keys.bootstrap(ct, wrong(arithmetic)), /and got keys for arithmetic$/],
      [() => server.keys('zz'), /^the id of a key set is 32 hexadecimal digits in lower case, and not the string "zz"; pass/],
      [() => server.frontOf('../jobs'), /^the id of a key set is 32 hexadecimal digits/],
      [(wrong) => server.keys(wrong(undefined)), /keys\(\) takes a key set, or the id of one, and got undefined/],
      [(wrong) => server.frontOf(wrong({})), /frontOf\(\) takes a key set, or the id of one, and got an object/],
      [(wrong) => program.input(wrong(undefined)), /has a name, and got undefined/],
      [(wrong) => x.rotate(wrong('1')), /a rotation by the string "1" slots/],
      [(wrong) => x.mod(wrong('1')), /numbers modulo the string "1"/],
      [(wrong) => x.argmax(wrong('3')), /^argmax\(\) takes the number of slots to compare, and got the string "3"; pass an integer, such as 4$/],
      [(wrong) => x.top(wrong(undefined), 1), /^top\(\) takes the number of slots to compare, and got undefined/],
      [(wrong) => bits.encryptBinary(3, wrong(undefined)), /^encryptBinary\(\) takes a width in bits after the integer, and got undefined; pass one, such as 8$/],
      [(wrong) => new (wrong<new () => unknown>(Refloat))(), /^an instance is made by load\(\), and new Refloat\(\) was called; write await Refloat\.load\(\)$/],
      [(wrong) => x.linearTransform(wrong(1)), /takes a list of rows, .* and got the number 1/],
    ] as readonly (readonly [(wrong: <T>(value: unknown) => T) => unknown, RegExp])[]) {
      expect(await refusal('INVALID_ARGUMENT', act)).toMatch(message);
    }
  });
});

describe('programs', () => {
  it('for another number of slots are refused, in the page and before a server is asked', async () => {
    using arithmetic = await keys.arithmeticKeys({ rotations: [] });
    using whole = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
    using evaluation = await whole.evaluationKeys();
    using three = await whole.encrypt([3]);
    const server = rf.server('http://127.0.0.1:1');
    for (const slots of [keys.params.slots / 2, 2 * keys.params.slots, 4 * keys.params.slots]) {
      const program = new Program({ slots });
      program.output('y', program.input('x').add(0.5));
      const numbers = new RegExp(`^the program is for ${slots} slots, and ciphertexts of toy10 have 512; build it with new Program\\(keys\\.params\\) of these keys$`);
      for (const run of [() => arithmetic.run(program, { x: ct }), () => boot.run(program, { x: ct }), () => server.run(program, { x: ct })]) {
        expect(await refusal('PARAMS_MISMATCH', run)).toMatch(numbers);
      }
      if (slots === whole.params.slots) continue;
      for (const run of [() => evaluation.run(program, { x: three }), () => server.run(program, { x: three })]) {
        expect(await refusal('PARAMS_MISMATCH', run)).toMatch(/and ciphertexts of toy-bgv10 have 1024; build it/);
      }
    }
  });

  it('sum no more slots than there are', async () => {
    const x = new Program({ slots: 1024 }).input('x');
    expect(await refusal('INVALID_ARGUMENT', () => x.rotateSum(2048))).toBe('a sum of 2048 slots, and there are 1024; pass a power of two up to 1024');
  });
});

describe('bytes', () => {
  it('of another kind are named, with what reads them', async () => {
    const toy = { allowInsecure: true };
    const whole = await rf.integers.keygen('toy-bgv10', toy);
    const open = await (await whole.publicKey()).toBytes();
    const [ctBytes, secret] = [await ct.toBytes(), await keys.exportSecret()];
    const [bitBytes, bitSecret] = [await (await bits.encrypt(true)).toBytes(), await bits.exportSecret()];
    const [wholeBytes, wholeSecret] = [await (await whole.encrypt([1])).toBytes(), await whole.exportSecret()];
    for (const [act, message] of [
      [() => rf.ciphertextFromBytes(bitBytes), /^ciphertextFromBytes\(\) was given the bytes of a ciphertext for gates, .*; rf\.gates\.ciphertextFromBytes\(\) reads them$/],
      [() => rf.ciphertextFromBytes(wholeBytes), /of a ciphertext of exact integers, .*; rf\.integers\.ciphertextFromBytes\(\) reads them$/],
      [() => rf.ciphertextFromBytes(secret), /of a secret key, .*; rf\.importKeys\(\)/],
      [() => rf.importKeys(ctBytes), /^importKeys\(\) was given the bytes of a ciphertext, and takes those of a secret key; rf\.ciphertextFromBytes\(\) reads them$/],
      [() => rf.publicKeyFromBytes(secret), /of a secret key, and takes those of a public key/],
      [() => rf.gates.importKeys(ctBytes), /^gates\.importKeys\(\) was given the bytes of a ciphertext,/],
      [() => rf.gates.ciphertextFromBytes(ctBytes), /; rf\.ciphertextFromBytes\(\) reads them$/],
      [() => rf.integers.importKeys(wholeBytes), /; rf\.integers\.ciphertextFromBytes\(\) reads them$/],
      [() => rf.integers.publicKeyFromBytes(wholeBytes), /; rf\.integers\.ciphertextFromBytes\(\) reads them$/],
      [() => rf.integers.ciphertextFromBytes(open), /; rf\.publicKeyFromBytes\(\), or rf\.integers\.publicKeyFromBytes\(\), reads them$/],
    ] as const) {
      expect(await refusal('BAD_BYTES', act)).toMatch(message);
    }
    for (const [act, message] of [
      [() => rf.importKeys(bitSecret), /numbers, and this one belongs to toy-bool; rf\.gates\.importKeys\(\) reads it$/],
      [() => rf.importKeys(wholeSecret, toy), /numbers, and this one belongs to toy-bgv10; rf\.integers\.importKeys\(\) reads it$/],
      [() => rf.publicKeyFromBytes(open), /numbers, and this one belongs to toy-bgv10; rf\.integers\.publicKeyFromBytes\(\) reads it$/],
    ] as const) {
      expect(await refusal('PARAMS_MISMATCH', act)).toMatch(message);
    }
  });
});

describe('sets whose keys the page does not make', () => {
  it('are named with what makes them', async () => {
    for (const name of ['msb16+fbs16-50', 'toy-msb-link']) {
      expect(await refusal('INVALID_ARGUMENT', () => rf.keygen(name))).toContain(`refloat keygen --preset ${name}`);
    }
    for (const name of ['fbs8-50', 'fbs16-50']) {
      expect(await refusal('INVALID_ARGUMENT', () => rf.gates.keygen(name))).toContain(`refloat keygen --preset ${name}`);
      expect(await refusal('INVALID_ARGUMENT', () => rf.gates.params(name))).toContain(`refloat keygen --preset ${name}`);
    }
    const unknown = await refusal('INVALID_ARGUMENT', () => rf.gates.keygen('n15'));
    expect(unknown).toMatch(/^no set for gates is called "n15"; there are bool-128, .*fbs16, .*rf\.keygen\(\)$/);
    expect(unknown).not.toContain('-50');
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

  it('that are copies by JSON or a spread are told how to be sent', async () => {
    using whole = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
    using evaluation = await whole.evaluationKeys();
    using three = await whole.encrypt([3]);
    using arithmetic = await keys.arithmeticKeys({ rotations: [] });
    using bit = await bits.encrypt(true);
    const server = rf.server('http://127.0.0.1:1');
    const program = new Program(keys.params);
    program.output('y', program.input('x'));
    const copies = (object: object): unknown[] => [JSON.parse(JSON.stringify(object)), { ...object }];
    for (const [object, uses] of [
      [ct, [(x) => keys.decrypt(x), (x) => ct.add(x), (x) => ct.subtract(x), (x) => arithmetic.multiply(ct, x), (x) => arithmetic.rotate(x, 0)]],
      [ct, [(x) => keys.bootstrap(x, boot), (x) => boot.run(program, { x }), (x) => rf.square(x, boot), (x) => rf.exhaust(x)]],
      [ct, [(x) => server.bootstrap(x), (x) => server.run(program, { x })]],
      [three, [(x) => whole.decrypt(x), (x) => three.add(x), (x) => evaluation.multiply(three, x), (x) => evaluation.bootstrap(x), (x) => server.integers(x)]],
      [bit, [(x) => bits.decrypt(x), (x) => bits.decryptIntegers(x), (x) => bit.concat(x), (x) => gates.and(bit, x), (x) => server.circuit('input a\noutput a\n', x)]],
    ] as readonly (readonly [object: object, uses: readonly ((x: never) => unknown)[]])[]) {
      for (const copy of copies(object)) {
        for (const use of uses) {
          expect(await refusal('INVALID_ARGUMENT', (wrong) => use(wrong<never>(copy)))).toMatch(
            /and got a plain object, such as JSON or a spread gives; send the bytes of its toBytes\(\) \(in JSON as base64\), and read them with ciphertextFromBytes\(\)$/,
          );
        }
      }
    }
    for (const copy of copies(keys)) {
      expect(await refusal('INVALID_ARGUMENT', (wrong) => server.uploadKeys(wrong(copy)))).toMatch(/got a plain object, .*; send what exportSecret\(\) gives, to those alone who may decrypt, and read it with importKeys\(\)$/);
    }
    // What has the id of a key as well is no ciphertext either.
    using open = await keys.publicKey();
    expect(await refusal('INVALID_ARGUMENT', (wrong) => keys.decrypt(wrong(open)))).toMatch(/got a public key; encrypt\(\) makes one/);
  });

  it('that are plain numbers are told which methods take those', async () => {
    using whole = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
    using evaluation = await whole.evaluationKeys();
    using three = await whole.encrypt([3]);
    using arithmetic = await keys.arithmeticKeys({ rotations: [] });
    for (const [act, message] of [
      [(wrong) => ct.add(wrong(0.5)), /got the number 0\.5; for plain numbers there is addPlain\(\)$/],
      [(wrong) => ct.subtract(wrong([0.5])), /got an Array; for plain numbers there is addPlain\(\)$/],
      [(wrong) => three.add(wrong(2)), /got the number 2; for plain numbers there is addPlain\(\)$/],
      [(wrong) => arithmetic.multiply(ct, wrong(2)), /got the number 2; for plain numbers there is multiplyPlain\(\) of the ciphertext$/],
      [(wrong) => evaluation.multiply(wrong(new Uint32Array(1)), three), /got a Uint32Array; for plain numbers there is multiplyPlain\(\) of the ciphertext$/],
      [(wrong) => arithmetic.multiply(ct, wrong(undefined)), /got undefined; encrypt\(\) makes one/],
    ] as readonly (readonly [(wrong: <T>(value: unknown) => T) => unknown, RegExp])[]) {
      expect(await refusal('INVALID_ARGUMENT', act)).toMatch(message);
    }
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
          expect.objectContaining({ name: 'DataCloneError', message: expect.stringMatching(new RegExp(`\\(${name} cannot be cloned: .{1,100}\\)`)) }),
        );
        expect(() => copy(object)).toThrow(repair);
      }
    }
    (await run).free();
    expect(JSON.parse(JSON.stringify({ rf, program }))).toEqual({ rf: {}, program: { slots: keys.params.slots } });
    // As Node's console shows them.
    expect(inspect(ct)).toMatch(/^Ciphertext \{\s+preset: 'toy10',[^]*mode: 'real'\s+\}$/);
    expect(inspect({ keys })).not.toContain('clone');
    expect(inspect({ a: { b: { ct } } }, { depth: 1 })).toContain('[Object]');
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
    expect(await refusal('INVALID_ARGUMENT', () => rf.server('localhost:7979'))).toMatch(/write it as http:\/\/localhost:7979/);
    expect(await refusal('INVALID_ARGUMENT', () => rf.server('127.0.0.1:7979'))).toMatch(/write it as http:\/\/127.0.0.1:7979/);
    expect(await refusal('INVALID_ARGUMENT', () => rf.server('ftp://host'))).toMatch(/its scheme is ftp:/);
    expect(await refusal('INVALID_ARGUMENT', (wrong) => rf.server(wrong(undefined)))).toMatch(/"undefined" is not the address/);
    const secret = await refusal('INVALID_ARGUMENT', () => rf.server('https://alice:geheim@host/x'));
    expect(secret).toMatch(/^the address of host has a user or a password in it, .*\{ headers \}$/);
    expect(secret).not.toMatch(/alice|geheim/);
    expect(rf.server(new URL('https://host/refloat')).url).toMatch(/^https:\/\/host\/refloat/);
  });
});

describe('servers that are not reached', () => {
  const once = { retry: { attempts: 1 } };
  const lost = async (work: PromiseLike<unknown>): Promise<string> => refusal('NETWORK', () => work);

  it('get each call again in its own way', async () => {
    const fetch = (): Promise<Response> => Promise.reject(new TypeError('nobody there'));
    const server = rf.server('http://127.0.0.1:1', { ...once, fetch });
    expect(await lost(server.params())).toMatch(/\(nobody there\); check that the server is running and does not redirect, then call again$/);
    expect(await lost(server.uploadKeys(keys))).toMatch(/, then call again: uploads go on where they stopped$/);
    expect(await lost(server.bootstrap(ct))).toMatch(/, then submit the job again$/);
  });

  it('are asked for TLS only where somebody adds it', async () => {
    const speaks = /; a refloat server speaks http:\/\/ unless a proxy in front of it adds TLS: check the address, and that the server is running/;
    expect(await lost(rf.server('https://127.0.0.1:1', once).params())).toMatch(speaks);
    const fetch = (): Promise<Response> => Promise.reject(new TypeError('fetch failed', { cause: new Error('SSL routines:ssl3_get_record:wrong version number') }));
    expect(await lost(rf.server('https://host', { ...once, fetch }).params())).toMatch(speaks);
    expect(await lost(rf.server('http://127.0.0.1:1', once).params())).not.toMatch(speaks);
  });
});

describe('what takes long', () => {
  it('is given up in the middle, and what comes of it is freed', async () => {
    using whole = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
    using three = await whole.encrypt([3]);
    using bit = await bits.encrypt(true);
    using open = await keys.publicKey();
    using wholeOpen = await whole.publicKey();
    const secrets = await Promise.all([keys, bits, whole].map((key) => key.exportSecret()));
    const [secret, bitSecret, wholeSecret] = secrets as [Uint8Array, Uint8Array, Uint8Array];
    const [openBytes, wholeOpenBytes] = [await open.toBytes(), await wholeOpen.toBytes()];
    // Options of its own, so it has loaded no module of another method yet, and nobody waits for one after the signal.
    using fresh = await Refloat.load({ threads: 1 });
    const { objects } = await rf.memory();
    for (const make of [
      (signal: AbortSignal) => rf.keygen('toy10', { allowInsecure: true, signal }),
      (signal: AbortSignal) => fresh.keygen('toy-conventional11', { allowInsecure: true, signal }),
      (signal: AbortSignal) => rf.gates.keygen('toy-bool', { allowInsecure: true, signal }),
      (signal: AbortSignal) => rf.integers.keygen('toy-bgv10', { allowInsecure: true, signal }),
      (signal: AbortSignal) => bits.evaluationKeys({ signal }),
      (signal: AbortSignal) => rf.importKeys(secret, { allowInsecure: true, signal }),
      (signal: AbortSignal) => rf.gates.importKeys(bitSecret, { allowInsecure: true, signal }),
      (signal: AbortSignal) => rf.integers.importKeys(wholeSecret, { allowInsecure: true, signal }),
      (signal: AbortSignal) => rf.publicKeyFromBytes(openBytes, { allowInsecure: true, signal }),
      (signal: AbortSignal) => rf.integers.publicKeyFromBytes(wholeOpenBytes, { allowInsecure: true, signal }),
      (signal: AbortSignal) => keys.encrypt([0.5], { signal }),
      (signal: AbortSignal) => open.encrypt([0.5], { signal }),
      (signal: AbortSignal) => bits.encrypt(true, { signal }),
      (signal: AbortSignal) => bits.encryptBinary(3, 2, { signal }),
      (signal: AbortSignal) => whole.encrypt([3], { signal }),
      (signal: AbortSignal) => wholeOpen.encrypt([3], { signal }),
      (signal: AbortSignal) => keys.decrypt(ct, { signal }),
      (signal: AbortSignal) => bits.decrypt(bit, { signal }),
      (signal: AbortSignal) => bits.decryptBinary(bit, { signal }),
      (signal: AbortSignal) => whole.decrypt(three, { signal }),
    ] as readonly ((signal: AbortSignal) => Promise<unknown>)[]) {
      const controller = new AbortController();
      const making = make(controller.signal);
      controller.abort('enough');
      await expect(making).rejects.toBe('enough');
      await expect(make(AbortSignal.abort('before'))).rejects.toBe('before');
    }
    await expect.poll(async () => (await rf.memory()).objects).toBe(objects);
    await expect.poll(async () => (await fresh.memory()).objects).toBe(0);
  });

  it('is refused where it cannot fit', async () => {
    using bgv16 = await rf.integers.keygen('bgv16-gf4');
    expect(await refusal('LIMIT', () => bgv16.evaluationKeys())).toMatch(/keys of bgv16-gf4 take 6\.1 GB .* let a server hold them/);
    using n15 = await rf.keygen('n15');
    expect(await refusal('LIMIT', () => n15.bootstrapKeys())).toMatch(/keys of n15 take \d\.\d GB .* let a server hold them/);
  });
});
