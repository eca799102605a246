// Keys, inputs and right results, made on the command line without any server.
import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stop } from '../lib/log.mjs';
import { serverBinary } from '../lib/paths.mjs';
import { run } from '../lib/run.mjs';

/** Gates of the long circuit, which takes a tenth of a second or more, so that a kill can come in the middle. */
const LONG = 300;

async function refloat(...args) {
  const { code, output } = await run(serverBinary, args);
  if (code !== 0) throw new Stop(`refloat ${args.join(' ')}:\n${output}`);
  return output;
}

/** Bytes of memory that keys of a set take. */
export async function keyMemory(params) {
  return JSON.parse(await refloat('--json', 'params', params)).expandedKeyBytes;
}

/**
 * Key sets, each {id, params, fingerprint, token, pieces, tasks}; a task is {op, body, expected}. The
 * last set is only for uploads and deletions.
 */
export async function makeSets(folder) {
  const gates = [];
  for (const name of ['a', 'b', 'scratch']) gates.push(await gateSet(join(folder, name)));
  return { gates: gates.slice(0, 2), ckks: await ckksSet(join(folder, 'ckks'), 'toy10'), scratch: gates[2] };
}

/** Keys of `toy-bool` and four tasks for them, everything in `folder`. */
export async function gateSet(folder) {
  await refloat('keygen', '--preset', 'toy-bool', '--allow-insecure', '--out', folder);
  const circuits = { short: chain(12), long: chain(LONG) };
  const tasks = [];
  for (const [name, text] of Object.entries(circuits)) {
    const file = join(folder, `${name}.txt`);
    writeFileSync(file, text);
    for (const bits of ['00110101', '11100010']) {
      const [input, output] = [join(folder, `${name}-${bits}.ct`), join(folder, `${name}-${bits}.out`)];
      await refloat('encrypt', '--key', folder, '--bits', bits, '--out', input);
      await refloat('circuit', file, '--keys', folder, '--in', input, '--out', output);
      const head = Buffer.alloc(4);
      head.writeUInt32LE(Buffer.byteLength(text));
      const body = Buffer.concat([head, Buffer.from(text), readFileSync(input)]);
      tasks.push({ op: 'circuit', body, expected: readFileSync(output) });
    }
  }
  return { ...read(folder), tasks };
}

/** A circuit of eight inputs in which every gate needs the one before it. */
function chain(length) {
  const kinds = ['NAND', 'XOR', 'OR', 'AND', 'XNOR', 'NOR'];
  const inputs = Array.from({ length: 8 }, (_, i) => `x${i}`);
  const gates = Array.from(
    { length },
    (_, i) => `n${i} = ${kinds[i % kinds.length]} ${i ? `n${i - 1}` : 'x7'} ${i > 7 && i % 3 === 0 ? `n${i - 5}` : inputs[i % 8]}`,
  );
  return [`input ${inputs.join(' ')}`, `output n${length - 1} n${length - 2}`, ...gates, ''].join('\n');
}

/** Keys of a set of numbers and a bootstrap for them, everything in `folder`. */
export async function ckksSet(folder, params) {
  await refloat('keygen', '--preset', params, '--allow-insecure', '--out', folder);
  const [numbers, input, output] = ['numbers.csv', 'in.ct', 'out.ct'].map((name) => join(folder, name));
  writeFileSync(numbers, Array.from({ length: 16 }, (_, i) => Math.sin(i)).join('\n'));
  await refloat('encrypt', '--key', folder, '--in', numbers, '--out', input, '--exhausted');
  await refloat('bootstrap', '--keys', folder, '--in', input, '--out', output);
  const set = read(folder);
  return { ...set, tasks: [{ op: 'bootstrap', body: readFileSync(input), expected: readFileSync(output) }] };
}

function read(folder) {
  const evaluation = join(folder, 'evaluation');
  const { params, fingerprint, keyId } = JSON.parse(readFileSync(join(evaluation, 'keys.json'), 'utf8'));
  const names = readdirSync(evaluation).filter((name) => name.endsWith('.part')).sort();
  const pieces = names.map((name) => readFileSync(join(evaluation, name)));
  return { id: keyId, params, fingerprint, token: randomBytes(32).toString('hex'), pieces };
}
