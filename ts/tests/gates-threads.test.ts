// Gates of a circuit spread over workers: the same bits and the same events as in one.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Refloat, type CircuitEvent, type CircuitInfo, type GateCiphertext, type GateKeys, type LoadOptions } from 'refloat';
import { WorkerPort } from '../dist/engine/port.js';
import { settledObjects } from './support/settled.js';

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
  it('give the bits and the events of one thread, also in the page’s own', async () => {
    const outcome = async (options: LoadOptions, instances: number): Promise<{ bytes: Uint8Array[]; events: object[][] }> => {
      const rf = await Refloat.load(options);
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
      expect((await rf.memory()).instances).toBe(instances);
      return { bytes, events };
    };
    const one = await outcome({ threads: 1 }, 2);
    expect(await outcome({ threads: 3 }, 6)).toEqual(one);
    expect(await outcome({ worker: false }, 2)).toEqual(one);
  });

  it('evaluate some of the gates', async () => {
    const { Refloat: Watched } = await import('../dist/index.js');
    const step = vi.spyOn(WorkerPort.prototype, 'step');
    using rf = await Watched.load({ threads: 2 });
    const { keys, inputs } = await same(rf);
    const [circuit] = await circuits(rf);
    // The first run sends the keys to the worker; once the worker is ready, the second run finds them there.
    for (let i = 0; i < 2; i++) {
      (await keys.run(circuit as CircuitInfo, inputs)).free();
      await rf.memory();
    }
    expect((step.mock.calls as unknown[][]).map((call) => call[1])).toContain('compute');
    step.mockRestore();
  });

  it('stop when cancelled or paused, and leave nothing behind but the keys', async () => {
    const rf = await Refloat.load({ threads: 2 });
    loaded.push(rf);
    const { keys, inputs } = await same(rf);
    const [circuit] = await circuits(rf);
    (await keys.run(circuit as CircuitInfo, inputs)).free();
    const before = await settledObjects(rf);
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

describe('gates in this thread', () => {
  it('do what those in a worker do', async () => {
    const { gates } = await Refloat.load({ worker: false });
    expect((await gates.presets())[0]).toMatchObject({ name: 'bool-128' });
    using secret = await gates.keygen('toy-fbs', TOY);
    using keys = await secret.evaluationKeys();
    expect(keys.params.name).toBe('toy-fbs');
    const table = Array.from({ length: 16 }, (_, m) => (m * m) % 16);
    using x = await secret.encryptIntegers([3, 5]);
    using squares = await keys.lookUp(x, table);
    expect(await secret.decryptIntegers(squares)).toEqual([9, 9]);
    using sum = await keys.sum([[1, x]], 2);
    expect(await secret.decryptIntegers(sum)).toEqual([5, 7]);
    using three = await x.slice(0, 1);
    const run = keys.lookUpRun(three, table, { inspect: secret });
    using nine = await run;
    expect(await secret.decryptIntegers(nine)).toEqual([9]);
    expect(run.events[0]).toMatchObject({ kind: 'view', stage: 'input' });
    expect(run.events.at(-1)).toMatchObject({ kind: 'view', stage: 'sample_extract' });
    using bit = await secret.encrypt([true, false]);
    using both = await gates.ciphertextFromBytes(await (await bit.concat(bit)).toBytes());
    expect(both.length).toBe(4);
    using again = await gates.importKeys(await secret.exportSecret(), { allowInsecure: true });
    expect(again.id).toBe(secret.id);
    expect(await again.keyPart(0)).toEqual(await secret.keyPart(0));
    await expect(keys.gate('and', bit)).rejects.toThrow(/takes 2 operands/);
    await expect(secret.decrypt(x)).rejects.toThrow(/decryptIntegers/);
    await expect(bit.slice(1, 3)).rejects.toThrow(/a list of 2/);
  });
});
