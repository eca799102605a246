// Gates of a circuit spread over workers: the same bits and the same events as in one.
import { afterEach, describe, expect, it } from 'vitest';
import { Refloat, type CircuitEvent, type CircuitInfo, type GateCiphertext, type GateKeys } from 'refloat';
import { Refloat as Direct } from 'refloat/sync';

const SEED = new Uint8Array(32).fill(7);
const TOY = { allowInsecure: true, seed: SEED };
const loaded: Refloat[] = [];
afterEach(() => {
  for (const rf of loaded.splice(0)) rf.close();
});

const INPUTS = Array.from({ length: 16 }, (_, i) => i % 3 === 0);

/** Gates of one level that do not depend on each other, and a chain. */
async function circuits(rf: Refloat): Promise<CircuitInfo[]> {
  const wide = Array.from({ length: 8 }, (_, i) => `y${i} = ${['NAND', 'XOR', 'ORYN', 'NOR'][i % 4]} a[${i}] a[${i + 8}]\n`);
  const text = `input a[0..16]\noutput ${wide.map((_, i) => `y${i}`).join(' ')} m\n${wide.join('')}m = MUX y0 y1 y2\n`;
  return [await rf.gates.adder(8, 'prefix'), await rf.gates.comparator(8), await rf.gates.circuit(text)];
}

/** The same key and the same bits in any instance. */
async function same(rf: Refloat): Promise<{ keys: GateKeys; inputs: GateCiphertext }> {
  const secret = await rf.gates.keygen('toy-bool', TOY);
  return { keys: await secret.evaluationKeys(), inputs: await secret.encrypt(INPUTS, { seed: SEED }) };
}

/** What an event says, without times. */
function timeless(event: CircuitEvent): object {
  const { atMs: _, ...rest } = event;
  return 'gateMs' in rest ? { ...rest, gateMs: 0 } : rest;
}

describe('circuits on several threads', () => {
  it('give the bits and the events of one thread, and of the direct form', async () => {
    const outcome = async (threads: number): Promise<{ bytes: Uint8Array[]; events: object[][] }> => {
      const rf = await Refloat.load({ threads });
      loaded.push(rf);
      const { keys, inputs } = await same(rf);
      const [bytes, events]: [Uint8Array[], object[][]] = [[], []];
      for (const circuit of await circuits(rf)) {
        const run = keys.run(circuit, inputs);
        using result = await run;
        bytes.push(await result.toBytes());
        events.push(run.events.map(timeless));
        expect(run.events.every((e) => e.kind !== 'progress' || (e.gateMs ?? 0) > 0)).toBe(true);
      }
      expect((await rf.memory()).instances).toBe(2 * threads);
      return { bytes, events };
    };
    const one = await outcome(1);
    expect(await outcome(3)).toEqual(one);

    const gates = await (await Direct.load()).gates();
    using secret = gates.keygen('toy-bool', TOY);
    using keys = secret.evaluationKeys();
    using inputs = secret.encrypt(INPUTS, { seed: SEED });
    for (const [i, circuit] of [gates.adder(8, 'prefix'), gates.comparator(8)].entries()) {
      const run = keys.run(circuit, inputs);
      using result = run.result();
      expect(result.toBytes()).toEqual(one.bytes[i]);
      expect(run.events.map(timeless)).toEqual(one.events[i]);
    }
  });

  it('stop when cancelled or paused, and leave nothing behind but the keys', async () => {
    const rf = await Refloat.load({ threads: 2 });
    loaded.push(rf);
    const { keys, inputs } = await same(rf);
    const [circuit] = await circuits(rf);
    (await keys.run(circuit as CircuitInfo, inputs)).free();
    const before = (await rf.memory()).objects;
    const run = keys.run(circuit as CircuitInfo, inputs);
    run.pause();
    for (let step = 0; step < 4; step++) await run.step();
    expect(run.events.filter((e) => e.kind === 'progress').map((e) => e.done)).toEqual([1, 2, 3, 4]);
    run.cancel();
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    await expect.poll(async () => (await rf.memory()).objects).toBe(before);
    keys.free();
    await expect.poll(async () => (await rf.memory()).objects).toBe(before - 2);
  });
});

describe('the direct form of gates', () => {
  it('does what the other does', async () => {
    const rf = await Direct.load();
    const gates = await rf.gates();
    expect(gates.presets()[0]).toMatchObject({ name: 'bool-128' });
    using secret = gates.keygen('toy-fbs', TOY);
    using keys = secret.evaluationKeys();
    expect(keys.params.name).toBe('toy-fbs');
    const table = Array.from({ length: 16 }, (_, m) => (m * m) % 16);
    using x = secret.encryptIntegers([3, 5]);
    using squares = keys.lookUp(x, table);
    expect(secret.decryptIntegers(squares)).toEqual([9, 9]);
    using sum = keys.sum([[1, x]], 2);
    expect(secret.decryptIntegers(sum)).toEqual([5, 7]);
    using three = x.slice(0, 1);
    const run = keys.lookUpRun(three, table, { inspect: secret });
    using nine = run.result();
    expect(secret.decryptIntegers(nine)).toEqual([9]);
    expect(run.events[0]).toMatchObject({ kind: 'view', stage: 'input' });
    expect(run.events.at(-1)).toMatchObject({ kind: 'view', stage: 'sample_extract' });
    using bit = secret.encrypt([true, false]);
    using both = gates.ciphertextFromBytes(bit.concat(bit).toBytes());
    expect(both.length).toBe(4);
    using first = bit.slice(0, 1);
    const gate = keys.gateRun('nand', [first, first]);
    gate.step();
    gate.cancel();
    expect(() => gate.result()).toThrow(expect.objectContaining({ code: 'ABORTED' }) as Error);
    using again = gates.importKeys(secret.exportSecret(), TOY);
    expect(again.id).toBe(secret.id);
    expect(again.keyPart(0)).toEqual(secret.keyPart(0));
    expect(() => keys.gate('and', bit)).toThrow(/takes 2 operands/);
    expect(() => secret.decrypt(x)).toThrow(/decryptIntegers/);
    expect(() => bit.slice(1, 3)).toThrow(/a list of 2/);
    expect(() => gates.keygen('toy-fbs')).toThrow(expect.objectContaining({ code: 'INSECURE' }) as Error);
    expect(rf.memory().instances).toBe(2);
  });
});
