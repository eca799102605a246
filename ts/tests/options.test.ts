// Options that do not exist, and values that an option does not take: every public options type, through each method that takes it.
import { readFile, readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Program,
  Refloat,
  type ArithmeticKeys,
  type BootstrapKeys,
  type Ciphertext,
  type GateCiphertext,
  type GateKeySet,
  type GateKeys,
  type IntegerCiphertext,
  type IntegerKeySet,
  type IntegerArithmeticKeys,
  type IntegerKeys,
  type IntegerPublicKey,
  type KeySet,
  type PublicKey,
  type RemoteKeys,
  type Server,
  type Value,
} from '../dist/index.js';
import { Refloat as Client } from '../dist/client.js';

let rf: Refloat;
let keys: KeySet;
let others: PublicKey;
let arithmetic: ArithmeticKeys;
let boot: BootstrapKeys;
let ct: Ciphertext;
let gateKeys: GateKeySet;
let gates: GateKeys;
let bit: GateCiphertext;
let integerKeys: IntegerKeySet;
let integerPublic: IntegerPublicKey;
let integers: IntegerKeys;
let integerArithmetic: IntegerArithmeticKeys;
let three: IntegerCiphertext;
let program: Program;
let value: Value;
let server: Server;
let remote: RemoteKeys;

/** A server that has one key set. */
const fetch = (): Promise<Response> => Promise.resolve(Response.json({ state: 'sealed', params: 'toy10', digest: '', bytes: 1 }));

beforeAll(async () => {
  rf = await Refloat.load();
  keys = await rf.keygen('toy10', { allowInsecure: true });
  others = await keys.publicKey();
  arithmetic = await keys.arithmeticKeys({ rotations: [] });
  boot = await keys.bootstrapKeys();
  ct = await keys.encrypt([0.5]);
  gateKeys = await rf.gates.keygen('toy-bool', { allowInsecure: true });
  gates = await gateKeys.evaluationKeys();
  bit = await gateKeys.encrypt(true);
  integerKeys = await rf.integers.keygen('toy-bgv10', { allowInsecure: true });
  integerPublic = await integerKeys.publicKey();
  integers = await integerKeys.evaluationKeys();
  integerArithmetic = await integerKeys.arithmeticKeys({ rotations: [] });
  three = await integerKeys.encrypt([3]);
  program = new Program(keys.params);
  value = program.input('x');
  program.output('y', value);
  server = rf.server('http://127.0.0.1:1', { fetch });
  const found = await server.keys(keys.id);
  if (!found) throw new Error('the server was to have the keys');
  remote = found;
});
afterAll(() => rf.close());

/** A method with options: a misspelt name of one of them, and values that each of them does not take. */
interface Row {
  /** The public type; types without a name are identified by their method. */
  readonly type: string;
  readonly where: string;
  readonly near: readonly [written: string, meant: string];
  readonly wrong: Readonly<Record<string, unknown>>;
  readonly call: (options: never) => unknown;
}

const SIGNAL = { signal: {} };
const MISSPELT = ['signl', 'signal'] as const;
const ENCRYPT = { ...SIGNAL, mode: 'reel', level: '1', seed: 'seed' };
const IMPORT = { signal: new AbortController(), allowInsecure: 'yes' };
const KEYGEN = { ...IMPORT, seed: [1, 2, 3] };
const INSPECT = { ...SIGNAL, inspect: true };
const ORDER = { bounds: 'signd', by: 'gate' };
const PROGRAM = { ...SIGNAL, bootstraps: 'as_written' };
const bytes = new Uint8Array(4);

const ROWS: readonly Row[] = [
  ...[Refloat, Client].map((Entry) => ({
    type: 'LoadOptions',
    where: 'Refloat.load()',
    near: ['thread', 'threads'] as const,
    wrong: {
      wasm: Promise.resolve(),
      gatesWasm: 1,
      conventionalWasm: true,
      digitsWasm: {},
      linkWasm: null,
      integersWasm: () => undefined,
      worker: 1,
      threads: '2',
    },
    call: (o: never) => Entry.load(o),
  })),
  { type: 'KeygenOptions', where: 'keygen()', near: ['insecure', 'allowInsecure'], wrong: KEYGEN, call: (o) => rf.keygen('toy10', o) },
  { type: 'KeygenOptions', where: 'keygen()', near: ['allowinsecure', 'allowInsecure'], wrong: KEYGEN, call: (o) => rf.gates.keygen('toy-bool', o) },
  { type: 'KeygenOptions', where: 'keygen()', near: ['sed', 'seed'], wrong: KEYGEN, call: (o) => rf.integers.keygen('toy-bgv10', o) },
  ...(['importKeys', 'publicKeyFromBytes'] as const).flatMap((name): Row[] => [
    { type: 'ImportOptions', where: `${name}()`, near: MISSPELT, wrong: IMPORT, call: (o) => rf[name](bytes, o) },
    { type: 'ImportOptions', where: `${name}()`, near: MISSPELT, wrong: IMPORT, call: (o) => rf.integers[name](bytes, o) },
  ]),
  { type: 'ImportOptions', where: 'importKeys()', near: MISSPELT, wrong: IMPORT, call: (o) => rf.gates.importKeys(bytes, o) },
  { type: 'ciphertextFromBytes', where: 'ciphertextFromBytes()', near: ['node', 'mode'], wrong: { mode: 1 }, call: (o) => rf.ciphertextFromBytes(bytes, o) },
  { type: 'reduction', where: 'reduction()', near: ['degre', 'degree'], wrong: { degree: '31' }, call: (o) => rf.reduction('n15', [], o) },
  {
    type: 'clamp',
    where: 'clamp()',
    near: ['overshot', 'overshoot'],
    wrong: { overshoot: '0.05', margin: null, degree: '31' },
    call: (o) => rf.clamp(o),
  },
  { type: 'EncryptOptions', where: 'encrypt()', near: ['levle', 'level'], wrong: ENCRYPT, call: (o) => keys.encrypt([0.5], o) },
  { type: 'EncryptOptions', where: 'encrypt()', near: ['levle', 'level'], wrong: ENCRYPT, call: (o) => others.encrypt([0.5], o) },
  { type: 'SignalOptions', where: 'decrypt()', near: MISSPELT, wrong: SIGNAL, call: (o) => keys.decrypt(ct, o) },
  { type: 'SignalOptions', where: 'run()', near: MISSPELT, wrong: SIGNAL, call: (o) => arithmetic.run(program, { x: ct }, o) },
  {
    type: 'ArithmeticKeysOptions',
    where: 'arithmeticKeys()',
    near: ['rotation', 'rotations'],
    wrong: { ...SIGNAL, rotations: 1, conjugation: 1 },
    call: (o) => keys.arithmeticKeys(o),
  },
  {
    type: 'IntegerArithmeticKeysOptions',
    where: 'arithmeticKeys()',
    near: ['swapRow', 'swapRows'],
    wrong: { ...SIGNAL, rotations: 1, swapRows: 1 },
    call: (o) => integerKeys.arithmeticKeys(o),
  },
  { type: 'SignalOptions', where: 'run()', near: MISSPELT, wrong: SIGNAL, call: (o) => integerArithmetic.run(program, { x: three }, o) },
  { type: 'BootstrapKeysOptions', where: 'bootstrapKeys()', near: ['resistent', 'resident'], wrong: { ...SIGNAL, resident: 'false' }, call: (o) => keys.bootstrapKeys(o) },
  {
    type: 'BootstrapOptions',
    where: 'bootstrap()',
    near: ['round', 'rounds'],
    wrong: { ...SIGNAL, rounds: '2', inspect: [0.5] },
    call: (o) => keys.bootstrap(ct, boot, o),
  },
  { type: 'ProgramOptions', where: 'run()', near: ['bootstrap', 'bootstraps'], wrong: PROGRAM, call: (o) => boot.run(program, { x: ct }, o) },
  { type: 'ProgramOptions', where: 'run()', near: ['bootstrap', 'bootstraps'], wrong: PROGRAM, call: (o) => integers.run(program, { x: three }, o) },
  { type: 'DigitOptions', where: 'mod()', near: ['centered', 'centred'], wrong: { ...INSPECT, bits: '15', centred: 1 }, call: (o) => boot.mod(ct, 1, o) },
  { type: 'DigitOptions', where: 'intMod()', near: ['inspekt', 'inspect'], wrong: INSPECT, call: (o) => boot.intMod(ct, 24, o) },
  { type: 'DigitOptions', where: 'bits()', near: ['inspekt', 'inspect'], wrong: INSPECT, call: (o) => boot.bits(ct, 2, o) },
  { type: 'DigitOptions', where: 'lookUp()', near: ['exakt', 'exact'], wrong: { ...INSPECT, exact: 1 }, call: (o) => boot.lookUp(ct, [0, 1], o) },
  { type: 'DigitOptions', where: 'quantise()', near: ['nearst', 'nearest'], wrong: { ...INSPECT, nearest: 0.5 }, call: (o) => boot.quantise(ct, 4, o) },
  ...(['argmax', 'argmin', 'rank'] as const).flatMap((name): Row[] => [
    { type: 'InspectedOrderOptions', where: `${name}()`, near: ['bound', 'bounds'], wrong: { ...ORDER, ...INSPECT }, call: (o) => boot[name](ct, 3, o) },
    { type: 'RemoteOrderOptions', where: `${name}()`, near: ['bound', 'bounds'], wrong: { ...ORDER, ...SIGNAL }, call: (o) => remote[name](ct, 3, o) },
    { type: 'OrderOptions', where: `${name}()`, near: ['bound', 'bounds'], wrong: ORDER, call: (o) => value[name](3, o) },
  ]),
  { type: 'InspectedOrderOptions', where: 'top()', near: ['bound', 'bounds'], wrong: { ...ORDER, ...INSPECT }, call: (o) => boot.top(ct, 3, 1, o) },
  { type: 'RemoteOrderOptions', where: 'top()', near: ['bound', 'bounds'], wrong: { ...ORDER, ...SIGNAL }, call: (o) => remote.top(ct, 3, 1, o) },
  { type: 'OrderOptions', where: 'top()', near: ['bound', 'bounds'], wrong: ORDER, call: (o) => value.top(3, 1, o) },
  { type: 'InspectedOrderOptions', where: 'sign()', near: ['inspects', 'inspect'], wrong: { by: 1, ...INSPECT }, call: (o) => boot.sign(ct, 3, o) },
  { type: 'SignalOptions', where: 'sign()', near: MISSPELT, wrong: SIGNAL, call: (o) => remote.sign(ct, 3, o) },
  { type: 'OrderOptions', where: 'sign()', near: ['BY', 'by'], wrong: { by: 'gate' }, call: (o) => value.sign(3, o) },
  { type: 'polynomial', where: 'polynomial()', near: ['intervall', 'interval'], wrong: { interval: [1] }, call: (o) => value.polynomial([0, 1], o) },
  { type: 'mod', where: 'mod()', near: ['centered', 'centred'], wrong: { bits: '15', centred: 1 }, call: (o) => value.mod(1, o) },
  { type: 'lookUp', where: 'lookUp()', near: ['exakt', 'exact'], wrong: { exact: 1 }, call: (o) => value.lookUp([0, 1], o) },
  { type: 'quantise', where: 'quantise()', near: ['nearst', 'nearest'], wrong: { nearest: 0.5 }, call: (o) => value.quantise(4, o) },
  { type: 'GateEncryptOptions', where: 'encrypt()', near: ['seeds', 'seed'], wrong: { ...SIGNAL, seed: 1 }, call: (o) => gateKeys.encrypt(true, o) },
  { type: 'GateEncryptOptions', where: 'encryptBinary()', near: ['seeds', 'seed'], wrong: { ...SIGNAL, seed: 1 }, call: (o) => gateKeys.encryptBinary(1, 8, o) },
  {
    type: 'GateEncryptOptions',
    where: 'encryptIntegers()',
    near: ['message', 'messages'],
    wrong: { ...SIGNAL, seed: 1, messages: '16' },
    call: (o) => gateKeys.encryptIntegers(1, o),
  },
  ...(['decrypt', 'decryptBinary', 'decryptIntegers'] as const).map(
    (name): Row => ({ type: 'SignalOptions', where: `${name}()`, near: MISSPELT, wrong: SIGNAL, call: (o) => gateKeys[name](bit, o) }),
  ),
  { type: 'SignalOptions', where: 'evaluationKeys()', near: MISSPELT, wrong: SIGNAL, call: (o) => gateKeys.evaluationKeys(o) },
  { type: 'SignalOptions', where: 'run()', near: MISSPELT, wrong: SIGNAL, call: (o) => gates.run('input a\noutput a\n', bit, o) },
  { type: 'lookUp of gates', where: 'lookUp()', near: ['message', 'messages'], wrong: { messages: '2' }, call: (o) => gates.lookUp(bit, [0, 1], o) },
  {
    type: 'GateRunOptions',
    where: 'gateRun()',
    near: ['productPerStep', 'productsPerStep'],
    wrong: { ...INSPECT, productsPerStep: '64' },
    call: (o) => gates.gateRun('and', [bit, bit], o),
  },
  {
    type: 'GateRunOptions',
    where: 'lookUpRun()',
    near: ['message', 'messages'],
    wrong: { ...INSPECT, productsPerStep: '64', messages: '2' },
    call: (o) => gates.lookUpRun(bit, [0, 1], o),
  },
  { type: 'IntegerEncryptOptions', where: 'encrypt()', near: ['levle', 'level'], wrong: { ...SIGNAL, level: '1', seed: 1 }, call: (o) => integerKeys.encrypt([3], o) },
  { type: 'IntegerEncryptOptions', where: 'encrypt()', near: ['levle', 'level'], wrong: { ...SIGNAL, level: '1', seed: 1 }, call: (o) => integerPublic.encrypt([3], o) },
  { type: 'SignalOptions', where: 'decrypt()', near: MISSPELT, wrong: SIGNAL, call: (o) => integerKeys.decrypt(three, o) },
  { type: 'SignalOptions', where: 'evaluationKeys()', near: MISSPELT, wrong: SIGNAL, call: (o) => integerKeys.evaluationKeys(o) },
  { type: 'IntegerBootstrapOptions', where: 'bootstrap()', near: ['inspekt', 'inspect'], wrong: INSPECT, call: (o) => integers.bootstrap(three, o) },
  {
    type: 'ServerOptions',
    where: 'server()',
    near: ['timout', 'timeoutMs'],
    wrong: {
      headers: new Headers({ a: 'b' }),
      apiKey: 1,
      token: 2,
      fetch: 'fetch',
      retry: 3,
      onContact: true,
      inFlight: '2',
      timeoutMs: '1000',
    },
    call: (o) => rf.server('http://127.0.0.1:1', o),
  },
  {
    type: 'retry of ServerOptions',
    where: 'retry of server()',
    near: ['attemps', 'attempts'],
    wrong: { attempts: '6', firstDelayMs: null, maxDelayMs: false },
    call: (o) => rf.server('http://127.0.0.1:1', { retry: o }),
  },
  { type: 'params', where: 'params()', near: ['part', 'parts'], wrong: { ...SIGNAL, parts: 1 }, call: (o) => server.params(o) },
  {
    type: 'UploadOptions',
    where: 'uploadKeys()',
    near: ['publik', 'public'],
    wrong: { ...SIGNAL, token: 1, public: 'true' },
    call: (o) => server.uploadKeys(keys, o),
  },
  { type: 'LookUpOptions', where: 'keys()', near: ['tocken', 'token'], wrong: { ...SIGNAL, token: 1 }, call: (o) => server.keys(keys, o) },
  { type: 'SignalOptions', where: 'frontOf()', near: MISSPELT, wrong: SIGNAL, call: (o) => server.frontOf(keys, o) },
  {
    type: 'RemoteBootstrapOptions',
    where: 'bootstrap()',
    near: ['key', 'keys'],
    wrong: { ...SIGNAL, rounds: '2', keys: 'toy10', op: ['sqare'] },
    call: (o) => server.bootstrap(ct, o),
  },
  {
    type: 'RemoteIntegerOptions',
    where: 'integers()',
    near: ['ops', 'op'],
    wrong: { ...SIGNAL, keys: {}, op: 'add' },
    call: (o) => server.integers(three, o),
  },
  { type: 'RemoteProgramOptions', where: 'run()', near: ['bootstrap', 'bootstraps'], wrong: { ...PROGRAM, keys: {} }, call: (o) => server.run(program, { x: ct }, o) },
  { type: 'RemoteIntegerProgramOptions', where: 'run()', near: ['key', 'keys'], wrong: { ...PROGRAM, keys: {} }, call: (o) => server.run(program, { x: three }, o) },
  { type: 'RemoteCircuitOptions', where: 'circuit()', near: ['key', 'keys'], wrong: { ...SIGNAL, keys: {} }, call: (o) => server.circuit('input a\noutput a\n', bit, o) },
  { type: 'SignalOptions', where: 'wake()', near: MISSPELT, wrong: SIGNAL, call: (o) => remote.wake(o) },
  { type: 'SignalOptions', where: 'delete()', near: MISSPELT, wrong: SIGNAL, call: (o) => remote.delete(o) },
];

/** What a method throws, or rejects with, for some options. */
async function refusal({ call }: Row, options: unknown): Promise<unknown> {
  try {
    await call(options as never);
  } catch (error) {
    return error;
  }
  return expect.unreachable(`${JSON.stringify(options)} was not refused`);
}

function invalid(message: RegExp): unknown {
  return expect.objectContaining({ name: 'RefloatError', code: 'INVALID_ARGUMENT', message: expect.stringMatching(message) as unknown });
}

const literal = (text: string): string => text.replace(/[.()]/g, '\\$&');

describe.each(ROWS)('$type of $where', (row) => {
  const names = Object.keys(row.wrong);
  const where = literal(row.where);

  it('have the names that there are', async () => {
    const [written, meant] = row.near;
    const error = await refusal(row, { [written]: true });
    expect(error).toEqual(invalid(new RegExp(`^${where} has no option "${written}" \\(did you mean ${meant}\\?\\); it takes `)));
    const [, listed = ''] = / it takes (.*)$/.exec((error as Error).message) ?? [];
    expect(listed.split(', ').sort()).toEqual(names.sort());
    expect(await refusal(row, { onprogress: () => undefined })).toEqual(invalid(new RegExp(`^${where} has no option "onprogress"; it takes `)));
  });

  it('have the values that they take', async () => {
    for (const [name, value] of Object.entries(row.wrong)) {
      expect(await refusal(row, { [name]: value })).toEqual(invalid(new RegExp(`^the option ${name} of ${where} is .+; pass .+`)));
    }
  });

  it('are an object', async () => {
    for (const [options, what] of [
      [2, 'the number 2'],
      [() => undefined, 'a function'],
      [null, 'null'],
      [new AbortController().signal, 'an AbortSignal'],
    ] as const) {
      // Without a retry option the default applies.
      if (options === null && row.where === 'retry of server()') continue;
      expect(await refusal(row, options)).toEqual(invalid(new RegExp(`takes its options as an object, and got ${what}; pass some of|^the option retry .* ${what}`)));
    }
  });
});

describe('options', () => {
  it('may be undefined for the compiler too', async () => {
    const dist = new URL('../dist/', import.meta.url);
    const lacking: string[] = [];
    for (const file of await readdir(dist, { recursive: true })) {
      if (!file.endsWith('.d.ts')) continue;
      const types = await readFile(new URL(file, dist), 'utf8');
      // Whole interfaces, and the types of single parameters.
      const interfaces = [...types.matchAll(/^export interface (\w*Options|RoundsChoice|ModuleSources)\b[^{]*\{([^]*?)^\}/gm)].map(([, name, body]) => [name, body] as const);
      const parameters = [...types.matchAll(/\boptions\??: [^{}()]*\{([^}]*)\}/g)].map(([, body]) => [file, body] as const);
      for (const [name, body] of [...interfaces, ...parameters]) {
        if (name === 'RefloatErrorOptions' || name === 'HttpOptions') continue;
        // A type of several lines ends where the next option or its comment begins.
        for (const [, , option, type = ''] of (body ?? '').matchAll(/^( *)readonly (\w+)\?: ([^]*?);(?=\s*(?![^])|\n\1(?:\/\*\*|readonly))/gm)) {
          if (!/\bundefined$/.test(type)) lacking.push(`${name}.${option}`);
        }
      }
    }
    expect(lacking).toEqual([]);
  });

  it('are told by what was given', async () => {
    for (const [options, message] of [
      [{ level: '1' }, 'the option level of encrypt() is the string "1"; pass a number'],
      [{ level: 1.5 }, 'the level is 1.5; pass an integer such as 2, the level of what a bootstrap gives'],
      [{ level: 2 ** 32 }, /^the level is 4294967296; pass an integer such as 2/],
      [{ mode: 'reel' }, `the option mode of encrypt() is the string "reel"; pass 'real' or 'complex' or 'bits'`],
      [{ signal: new AbortController() }, /is an AbortController; pass an AbortSignal, such as the `signal` of an AbortController$/],
      [{ seed: Promise.resolve(bytes) }, /^the option seed of encrypt\(\) is a promise: await it first; pass a Uint8Array of 32 bytes$/],
    ] as const) {
      await expect(keys.encrypt([0.5], options as never)).rejects.toThrow(message);
    }
    expect(() => rf.server('http://127.0.0.1:1', { headers: new Headers({ a: 'b' }) } as never)).toThrow(/headers of server\(\) is a Headers; pass an object of strings/);
    await expect(Refloat.load({ wasm: globalThis.fetch('data:,') } as never)).rejects.toThrow(/wasm of Refloat.load\(\) is a promise: await it first/);
  });

  it('that are operations are a list with one at least', () => {
    const operations = "a list of 'square' or 'bootstrap', such as ['square']";
    for (const [op, given] of [
      ['square', 'the string "square"'],
      [['square', 'cube'], 'a list with the string "cube" in it'],
      [[undefined], 'a list with undefined in it'],
      [[], 'an empty list'],
    ] as const) {
      expect(() => server.bootstrap(ct, { op } as never)).toThrow(`the option op of bootstrap() is ${given}; pass ${operations}`);
    }
  });

  it('that are undefined are left out, and may have no prototype', async () => {
    using x = await keys.encrypt([0.5], { level: undefined, signal: undefined } as never);
    using y = await keys.encrypt([0.5], Object.assign(Object.create(null) as object, { level: 1 }));
    expect([x.level, y.level]).toEqual([keys.params.outputLevel, 1]);
  });

  it('of every public type are in the table', async () => {
    const types = await readFile(new URL('../dist/public.d.ts', import.meta.url), 'utf8');
    const known = new Set([...types.matchAll(/\b\w+Options\b/g)].map(([name]) => name));
    // Only the package makes errors.
    known.delete('RefloatErrorOptions');
    expect(known.size).toBeGreaterThan(20);
    const rows = new Set(ROWS.map(({ type }) => type));
    expect([...known].filter((name) => !rows.has(name))).toEqual([]);
  });
});
