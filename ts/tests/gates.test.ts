// Gates, look-ups and circuits on the real wasm, in a worker, with the toy sets.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refloat, type GateCiphertext, type GateKeySet, type GateKeys, type GateName } from 'refloat';
import { settledObjects } from './support/settled.js';

const TOY = { allowInsecure: true };

let rf: Refloat;
let keys: GateKeySet;
let evaluation: GateKeys;
beforeAll(async () => {
  rf = await Refloat.load();
  keys = await rf.gates.keygen('toy-bool', TOY);
  evaluation = await keys.evaluationKeys();
});
afterAll(() => rf.close());

const bitsOf = (value: number, width: number): boolean[] => Array.from({ length: width }, (_, i) => ((value >> i) & 1) === 1);
const integer = (bits: readonly boolean[]): number => bits.reduce((sum, bit, i) => sum + (Number(bit) << i), 0);

describe('sets', () => {
  it('are listed with what they promise', async () => {
    const presets = await rf.gates.presets();
    expect(presets[0]).toMatchObject({ name: 'bool-128', secure: true, logFailure: -128, gates: { messages: 2 }, logN: 10 });
    expect(presets.map((p) => p.name)).not.toContain('fbs16-50'); // needs 64-bit words
    for (const preset of presets) {
      expect(preset.secure ? preset.securityBits >= 128 : preset.name.startsWith('toy'), preset.name).toBe(true);
      expect(preset.keyParts.reduce((sum, part) => sum + part.bytes, 0)).toBe(preset.keyBytes);
      expect(preset.gates.gateLogFailure).toBeLessThanOrEqual(preset.logFailure);
    }
  });

  it('that are toys need a word, and secure ones draw their own randomness', async () => {
    await expect(rf.gates.keygen('toy-bool')).rejects.toMatchObject({
      code: 'INSECURE',
      message: expect.stringContaining('bool-128') as unknown,
    });
    await expect(rf.gates.keygen('bool-128', { seed: new Uint8Array(32) })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(rf.gates.keygen('bool-129')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(rf.gates.keygen('fbs16-50')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('gates', () => {
  const TRUTH: Record<GateName, (a: boolean, b: boolean, c: boolean) => boolean> = {
    not: (a) => !a,
    and: (a, b) => a && b,
    nand: (a, b) => !(a && b),
    or: (a, b) => a || b,
    nor: (a, b) => !(a || b),
    xor: (a, b) => a !== b,
    xnor: (a, b) => a === b,
    andny: (a, b) => !a && b,
    andyn: (a, b) => a && !b,
    orny: (a, b) => !a || b,
    oryn: (a, b) => a || !b,
    mux: (a, b, c) => (a ? b : c),
    maj3: (a, b, c) => Number(a) + Number(b) + Number(c) >= 2,
    xor3: (a, b, c) => (a !== b) !== c,
    and3: (a, b, c) => a && b && c,
    nand3: (a, b, c) => !(a && b && c),
    or3: (a, b, c) => a || b || c,
    nor3: (a, b, c) => !(a || b || c),
  };

  it('are right for all operands, place by place', async () => {
    const columns = [0, 1, 2].map((i) => Array.from({ length: 8 }, (_, row) => ((row >> i) & 1) === 1));
    const lists = await Promise.all(columns.map((bits) => keys.encrypt(bits)));
    for (const [gate, truth] of Object.entries(TRUTH) as [GateName, (typeof TRUTH)[GateName]][]) {
      const arity = Math.max(truth.length, 1);
      using result = await evaluation.gate(gate, ...lists.slice(0, arity));
      const [a, b, c] = columns as [boolean[], boolean[], boolean[]];
      const wanted = a.map((bit, row) => truth(bit, b[row] as boolean, c[row] as boolean));
      expect(await keys.decrypt(result), gate).toEqual(wanted);
    }
    for (const list of lists) list.free();
  });

  it('go on forever: each result is as fresh as a new bit', async () => {
    using one = await keys.encrypt(true);
    let bit = await evaluation.nand(one, one);
    for (let i = 0; i < 50; i++) {
      using old = bit;
      bit = await evaluation.nand(old, one);
    }
    expect(await keys.decrypt(bit)).toEqual([false]);
  });

  it('refuse what they cannot take', async () => {
    using bit = await keys.encrypt(true);
    using two = await keys.encrypt([true, false]);
    await expect(evaluation.nand(bit, two)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(evaluation.gate('maj3', bit)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(evaluation.gate('nope' as GateName, bit, bit)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(keys.encrypt([])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(two.slice(1, 3)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    using other = await rf.gates.keygen('toy-bool', TOY);
    await expect(other.decrypt(bit)).rejects.toMatchObject({ code: 'PARAMS_MISMATCH' });
    using foreign = await other.encrypt(true);
    await expect(evaluation.and(bit, foreign)).rejects.toMatchObject({ code: 'PARAMS_MISMATCH' });
    const bytes = await bit.toBytes();
    bytes[100]! ^= 1;
    await expect(rf.gates.ciphertextFromBytes(bytes)).rejects.toMatchObject({ code: 'BAD_BYTES' });
    bit.free();
    await expect(evaluation.not(bit)).rejects.toMatchObject({ code: 'FREED' });
  });

  it('leave nothing behind in the instance', async () => {
    const before = (await rf.memory()).objects;
    using a = await keys.encrypt(true);
    using both = await a.concat(a, a);
    using result = await evaluation.not(both);
    expect(await keys.decrypt(result)).toEqual([false, false, false]);
    expect((await rf.memory()).objects).toBe(before + 3);
  });
});

describe('circuits', () => {
  it('add and compare', async () => {
    using x = await keys.encrypt(bitsOf(200, 8));
    using y = await keys.encrypt(bitsOf(77, 8));
    for (const form of ['ripple', 'prefix'] as const) {
      using sum = await evaluation.run(await rf.gates.adder(8, form), [x, y]);
      expect(integer(await keys.decrypt(sum))).toBe(277);
      using order = await evaluation.run(await rf.gates.comparator(8, form), [x, y]);
      expect(await keys.decrypt(order)).toEqual([false, false, true]);
    }
  });

  it('report each gate, and can be stepped and cancelled', async () => {
    const circuit = await rf.gates.adder(4);
    expect(circuit).toMatchObject({ depth: 4, bootstraps: 8 });
    expect(circuit.inputs).toEqual(['a[0]', 'a[1]', 'a[2]', 'a[3]', 'b[0]', 'b[1]', 'b[2]', 'b[3]']);
    using inputs = await keys.encrypt(bitsOf(0x6b, 8));
    const run = evaluation.run(circuit, inputs);
    run.pause();
    for (let i = 0; i < 3; i++) await run.step();
    expect(run.events.filter((e) => e.kind === 'progress').map((e) => e.done)).toEqual([1, 2, 3]);
    run.resume();
    using sum = await run;
    expect(integer(await keys.decrypt(sum))).toBe(0xb + 0x6);
    expect(run.events.map((e) => e.kind)).toEqual(['enter', ...Array<string>(8).fill('progress'), 'exit']);
    const times = run.events.map((e) => e.atMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));

    const before = await settledObjects(rf);
    const cancelled = evaluation.run(circuit, inputs);
    cancelled.pause();
    await cancelled.step();
    cancelled.cancel();
    await expect(cancelled).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await settledObjects(rf)).toBe(before);
  });

  it('are read from text, folded, and refused with the line of a mistake', async () => {
    const circuit = await rf.gates.circuit('input a b\noutput x y z\nx = NAND a b\ny = AND b a\nz = 1\n');
    expect(circuit.bootstraps).toBe(1);
    expect(circuit.outputs[2]).toEqual({ name: 'z', constant: true });
    expect(circuit.outputs[0]).toMatchObject({ name: 'x', wire: 2 });
    using inputs = await keys.encrypt([true, true]);
    using outputs = await evaluation.run(circuit, inputs);
    expect(await keys.decrypt(outputs)).toEqual([false, true, true]);
    await expect(rf.gates.circuit('input a\noutput b\nb = NAND a\n')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('line 3') as unknown,
    });
    await expect(evaluation.run(circuit, [inputs, inputs])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('the bootstrapping of one gate', () => {
  it('shows the phase before, the accumulator and the phase after to the owner of the key', async () => {
    for (const [a, b] of [[false, false], [false, true], [true, true]] as const) {
      using x = await keys.encrypt(a);
      using y = await keys.encrypt(b);
      const run = evaluation.gateRun('nand', [x, y], { inspect: keys, productsPerStep: 16 });
      using result = await run;
      expect(await keys.decrypt(result)).toEqual([!(a && b)]);
      const views = run.events.filter((e) => e.kind === 'view');
      // The sum 1/8 - x - y: 3/8, 1/8 or -1/8 of the turn.
      const sum = (1 - (a ? 1 : -1) - (b ? 1 : -1)) / 8;
      expect(views[0]).toMatchObject({ stage: 'input', form: 'phase' });
      const apart = (p: number | undefined, q: number): number => Math.abs((((p ?? 9) - q + 1.5) % 1) - 0.5);
      for (const view of views.slice(0, 3)) expect(apart(view.data[0], sum)).toBeLessThan(1 / 16);
      const turned = views.filter((v) => v.stage === 'blind_rotate');
      expect(turned.length).toBeGreaterThan(2);
      expect(turned.every((v) => v.form === 'polynomial' && v.data.length === 256)).toBe(true);
      const last = views.at(-1);
      expect(last).toMatchObject({ stage: 'sample_extract', form: 'phase' });
      expect(apart(last?.data[0], a && b ? -1 / 8 : 1 / 8)).toBeLessThan(1 / 16);
      expect(apart(turned.at(-1)?.data[0], last?.data[0] as number)).toBeLessThan(1e-9);
    }
  });

  it('of a look-up shows the table going round', async () => {
    using own = await rf.gates.keygen('toy-fbs', TOY);
    using evaluator = await own.evaluationKeys();
    const table = Array.from({ length: 16 }, (_, m) => (5 * m + 3) % 16);
    for (const m of [0, 6, 15]) {
      using x = await own.encryptIntegers(m);
      const run = evaluator.lookUpRun(x, table, { inspect: own, productsPerStep: 16 });
      using result = await run;
      expect(await own.decryptIntegers(result)).toEqual([table[m]]);
      const views = run.events.filter((e) => e.kind === 'view');
      expect(Math.abs((views[0]?.data[0] ?? 9) - (m + 0.5) / 32)).toBeLessThan(1 / 64);
      const turned = views.filter((v) => v.form === 'polynomial');
      expect(turned[0]?.data).toHaveLength(1024);
      expect(Math.abs((turned.at(-1)?.data[0] ?? 9) - (table[m] ?? 0) / 32)).toBeLessThan(1 / 64);
    }
    using two = await own.encryptIntegers([1, 2]);
    await expect(evaluator.lookUpRun(two, table)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(() => evaluator.lookUpRun(two, [0.5])).toThrow(/an entry of the table/);
  });

  it('shows nobody else anything, and is not for gates of two rotations', async () => {
    using bit = await keys.encrypt(true);
    const run = evaluation.gateRun('xor', [bit, bit]);
    using _result = await run;
    expect(run.events.some((e) => e.kind === 'view')).toBe(false);
    using stranger = await rf.gates.keygen('toy-bool', TOY);
    await expect(evaluation.gateRun('and', [bit, bit], { inspect: stranger })).rejects.toMatchObject({ code: 'PARAMS_MISMATCH' });
    await expect(evaluation.gateRun('mux', [bit, bit, bit])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('integers', () => {
  let own: GateKeySet;
  let evaluator: GateKeys;
  beforeAll(async () => {
    own = await rf.gates.keygen('toy-fbs', TOY);
    evaluator = await own.evaluationKeys();
  });

  it('take any function, in one look-up', async () => {
    const all = Array.from({ length: 16 }, (_, m) => m);
    using x = await own.encryptIntegers(all);
    expect(x.messages).toBe(16);
    const table = all.map((m) => (m * m * m + 5) % 16);
    using y = await evaluator.lookUp(x, table);
    expect(await own.decryptIntegers(y)).toEqual(table);
    using odd = await evaluator.lookUp(x, all.map((m) => m % 2), { messages: 0 });
    expect(await own.decrypt(odd)).toEqual(all.map((m) => m % 2 === 1));
    await expect(evaluator.lookUp(x, [1, 2])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(own.decrypt(x)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('are added without a bootstrapping', async () => {
    const list: GateCiphertext[] = [];
    for (const value of [3, 4]) list.push(await own.encryptIntegers([value, 1]));
    using sum = await evaluator.sum([[1, list[0] as GateCiphertext], [2, list[1] as GateCiphertext]], 1);
    expect(await own.decryptIntegers(sum)).toEqual([12, 4]);
    await expect(own.encryptIntegers(1.5)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(own.encryptIntegers(16)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('the module of gates', () => {
  it('is loaded with the first call, in the worker and in this thread', async () => {
    for (const worker of [true, false]) {
      const fresh = await Refloat.load({ worker, threads: 1 });
      const before = await fresh.memory();
      using own = await fresh.gates.keygen('toy-bool', TOY);
      using bit = await own.encrypt(true);
      expect(await own.decrypt(bit)).toEqual([true]);
      const { instances, objects } = await fresh.memory();
      expect([instances, objects]).toEqual([before.instances + 1, before.objects + 2]);
      bit.free();
      expect((await fresh.memory()).objects).toBe(objects - 1);
    }
  });

  it('comes from where it is said to be', async () => {
    const gatesWasm = await readFile(new URL('../dist/wasm/refloat_gates_bg.wasm', import.meta.url));
    const own = await Refloat.load({ gatesWasm, threads: 1 });
    expect(await own.gates.params('bool-128')).toMatchObject({ secure: true });
    own.close();
    const nowhere = await Refloat.load({ gatesWasm: new Uint8Array(8) });
    await expect(nowhere.gates.presets()).rejects.toMatchObject({
      code: 'BAD_BYTES',
      message: expect.stringContaining('{ gatesWasm }') as unknown,
    });
    expect((await nowhere.keygen('toy10', TOY)).params.name).toBe('toy10');
    nowhere.close();
  });

  it('is the same behind the client entry', async () => {
    const { Refloat: Client } = await import('refloat/client');
    const client = await Client.load();
    using own = await client.gates.importKeys(await keys.exportSecret(), TOY);
    expect(own.id).toBe(keys.id);
    using bits = await own.encrypt([true, false]);
    expect(await own.decrypt(bits)).toEqual([true, false]);
    expect(await own.keyPart(1)).toEqual(await keys.keyPart(1));
    using nand = await (await own.evaluationKeys()).nand(bits, bits);
    expect(await own.decrypt(nand)).toEqual([false, true]);
    client.close();
  });
});

describe('integers and their bits', () => {
  it('are binary numbers of any width', async () => {
    for (const [value, width] of [[200, 8], [0, 1], [2n ** 70n - 3n, 70]] as const) {
      using ct = await keys.encryptBinary(value, width);
      expect(ct.length).toBe(width);
      expect(await keys.decryptBinary(ct)).toBe(BigInt(value));
    }
    using x = await keys.encryptBinary(200, 8);
    using y = await keys.encryptBinary(77, 8);
    using sum = await evaluation.run(await rf.gates.adder(8), [x, y]);
    expect(await keys.decryptBinary(sum)).toBe(277n);
    for (const [value, width] of [[4, 2], [-1, 8], [0.5, 8], [2 ** 53, 60], [1, 0], [1, 5000]] as const) {
      await expect(keys.encryptBinary(value, width)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(/bits; pass/) as unknown });
    }
  });

  it('are taken apart and joined under encryption', async () => {
    using owner = await rf.gates.keygen('toy-fbs', TOY);
    using own = await owner.evaluationKeys();
    const { messages } = owner.params.gates;
    const values = Array.from({ length: messages }, (_, value) => value);
    using x = await owner.encryptIntegers(values);
    const bits = await own.toBits(x);
    expect(2 ** bits.length).toBe(messages);
    for (const [place, bit] of bits.entries()) {
      expect(await owner.decrypt(bit), `bit ${place}`).toEqual(values.map((value) => ((value >> place) & 1) === 1));
    }
    using flipped = await own.not(bits[0] as GateCiphertext);
    using again = await own.fromBits([flipped, ...bits.slice(1)]);
    expect(again.messages).toBe(messages);
    expect(await owner.decryptIntegers(again)).toEqual(values.map((value) => value ^ 1));
    const refused = async (promise: Promise<unknown>, words: RegExp): Promise<void> =>
      expect(promise).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(words) as unknown });
    await refused(own.toBits(flipped), /pass integers/);
    await refused(own.fromBits([x]), /pass encrypted bits/);
    await refused(own.fromBits([]), /0 bits/);
    await refused(own.fromBits([...bits, flipped]), /or more messages/);
  });
});
