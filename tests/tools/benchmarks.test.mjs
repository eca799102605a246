// Tests of `npm run bench:tables` and of the tables of core/BENCHMARKS.md, each of which has commands, and a machine for every command.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { READERS, isRun, keysOf, refreshed, tablesOf, withTable } from './lib/benchmarks.mjs';
import { root } from './lib/paths.mjs';
import { run } from './lib/run.mjs';

const text = readFileSync(join(root, 'core/BENCHMARKS.md'), 'utf8');
const machine = { cpu: 'AMD EPYC', threads: 2, backend: 'avx512', load: 0.14, system: 'linux x86_64' };
const date = new Date('2026-11-27T12:00:00Z');
const where = 'AMD EPYC, 2 threads, backend avx512, load average 0.1 before it, 27 November 2026';

const table = (id) => tablesOf(text).find((one) => one.id === id);

/** The cells of a row, by the titles of their columns, after a command has printed `answer`. */
function rowAfter(id, key, answer) {
  const before = table(id);
  const [command] = before.runs.map((one) => one.command).filter((one) => isRun(before, one));
  const after = refreshed(before, command, { machine, ...answer }, date);
  const at = keysOf(before, READERS[id].key).indexOf(key);
  assert.ok(at >= 0, `${id} has a row ${key}`);
  assert.deepEqual(after.runs.find((one) => one.command === command).where, where);
  const others = (rows) => rows.filter((_, index) => index !== at);
  assert.deepEqual(others(after.rows), others(before.rows), 'no other row changes');
  return (title) => after.rows[at][after.header.indexOf(title)];
}

test('every table has commands, and each a machine', () => {
  // A table without commands, or outside the comments, is refused.
  const tables = tablesOf(text);
  for (const { id, header, rows, runs } of tables) {
    assert.ok(runs.length > 0, `table ${id} has no command below it`);
    assert.ok(runs.every((one) => one.where.length > 2), `table ${id} has a command without a machine`);
    assert.ok(rows.length > 0 && rows.every((row) => row.length === header.length), `table ${id} has rows of other lengths`);
    const commands = runs.map((one) => one.command);
    assert.deepEqual(commands, [...new Set(commands)], `table ${id} has a command twice`);
  }
  assert.equal(new Set(tables.map(({ id }) => id)).size, tables.length);
  for (const id of Object.keys(READERS)) {
    const one = table(id);
    assert.ok(one?.runs.some(({ command }) => isRun(one, command)), `${id} is read, and has a command to run`);
    assert.equal(new Set(keysOf(one, READERS[id].key)).size, one.rows.length, `rows of ${id} are told apart`);
  }
  const broken = (from, to) => () => tablesOf(text.replace(from, to));
  assert.throws(broken('<!-- table ship -->', ''), /outside/);
  assert.throws(broken(/- `refloat bench --preset toy10[^\n]*/, 'measured somewhere'), /measured somewhere/);
});

test('figures of SHIP are read from bench and from reproduce', () => {
  const precision = { worst: 10.5, rms: 11.25, mean: 11.5 };
  const measurements = [1, 2].map((threads) => ({ threads, ciphertexts: 1, seconds: 0.0125 / threads, precision }));
  const toy = rowAfter('ship', 'toy10', { params: 'toy10', measurements });
  assert.deepEqual(['set', '1 thread', '2 threads', 'worst slot / rms, one key', 'published'].map(toy), [
    '`toy10` (insecure)', '0.013 s', '0.006 s', '10.50 / 11.25 bits', 'none',
  ]);
  const row = (metric, measured, threads = null) => ({ params: 'ship14', metric, measured, threads });
  const rows = [row('precision, worst slot', 19.5), row('precision, rms', 21.25), row('seconds', 1.5, 1)];
  const ship14 = rowAfter('ship', 'ship14', { suite: 'ship', rows });
  assert.equal(ship14('1 thread'), '1.50 s');
  assert.equal(ship14('2 threads'), table('ship').rows[2][2], 'what was not measured stays');
});

test('figures of conventional sets are read from three commands', () => {
  const precision = { mean: 28.4, worst: 26.6 };
  const measurements = [1, 2].map((threads) => ({ threads, seconds: 6 / threads, precision, levelsLeft: 9 }));
  assert.equal(rowAfter('conventional', 'n16, 2^15', { params: 'n16', slots: 32768, measurements })('ours'), '6.00 s, on two threads 3.00 s; 28.4 / 26.6 bits, 9 levels left');
  const openfhe = { params: 'n16-precise', slots: 32, rounds: 2, seconds: 7.5, meanBits: 46.5, worstBits: 45.5, levelsLeft: 6 };
  const rows = [openfhe, { ...openfhe, rounds: 1, seconds: null }];
  assert.equal(rowAfter('conventional', 'n16-precise in two rounds, 2^5', { suite: 'ckks-openfhe', rows })('ours'), '7.50 s; 46.5 / 45.5 bits, 6 levels left');
  const seal = { params: 'seal-1', logSlots: 10, integerBits: 17, publishedFractionBits: 6.44, fractionBits: 11.66, worstFractionBits: 10.07, levels: 7, seconds: 3.75 };
  const answer = { suite: 'seal-bootstrapping', rows: [seal] };
  assert.equal(rowAfter('conventional', 'seal-1, 2^10', answer)('ours'), '3.75 s; 17 + 11.7 / 10.1 bits, 7 levels left');
  assert.equal(rowAfter('seal', 'seal-1', answer)('ours, mean / worst'), '17+11.66 / 17+10.07');
  assert.equal(rowAfter('seal-slots', 'seal-2', { rows: [{ ...seal, params: 'seal-2', logSlots: 12 }] })('2^12'), '6.44; 11.66 / 10.07; 3.8 s');
});

test('figures of exact sets, of modular reduction and of scheme switching are read', () => {
  const row = (metric, measured, threads = null) => ({ params: 'm21845', metric, measured, threads });
  const bgv = [
    row('seconds', 1.5, 1), row('seconds', 0.75, 2), row('slots_to_coeffs', 0.25, 1), row('coeffs_to_slots', 0.5, 1), row('digit_removal', 0.625, 1),
    row('capacity remaining', 256.5), row('integers in a slot', 1), row('evaluation keys, memory', 1.75e9), row('evaluation keys, wire', 5.2e8),
  ];
  const thin = rowAfter('bgv-published', 'm21845-thin', { rows: bgv });
  assert.deepEqual(['seconds, one thread', 'two threads', 'linear maps', 'removal', 'bits left', 'bits/s', 'keys, memory and wire'].map(thin), [
    '1.50 s', '0.75 s', '0.75 s', '0.63 s', '257', '171.0', '1.8, 0.5 GB',
  ]);
  const ours = rowAfter('bgv', 'bgv15', { rows: [...bgv, row('products between bootstraps', 5)].map((one) => ({ ...one, params: 'bgv15' })) });
  assert.deepEqual(['1 thread', '2 threads', 'unpacking', 'digit removal', 'products left', 'keys, memory and wire'].map(ours), [
    '1.50 s', '0.75 s', '-', '0.63 s', '5', '1.8, 0.5 GB',
  ]);
  const boot = { row: 'Boot', digits: 2, seconds: 5.5, meanBits: 9.6, worstBits: 7.1 };
  const [s, bits] = ['s', 'bits'].map(rowAfter('modular-reduction', 'Boot, 2', { rows: [boot] }));
  assert.deepEqual([s, bits], ['5.50', '9.6, 7.1']);
  const signs = { metric: 'signs, deviation', model: -9.774, measured: -9.768, threads: null, unit: 'log2 of a turn' };
  assert.equal(rowAfter('switching-noise', 'signs of close numbers, deviation', { rows: [signs] })('measured'), '2^-9.77 turns');
  const one = { metric: 'one of them', measured: 13.25, threads: 1, unit: 'ms' };
  assert.equal(rowAfter('switching-times', 'one of them', { rows: [one] })('1 thread'), '13.3 ms');
  const nand = { method: 'CGGI, NAND', params: 'bool-128', measured: { slots: 1, bits: 1, seconds: 0.00452 } };
  assert.equal(rowAfter('demystifying', 'CGGI, NAND', { rows: [nand] })('time'), '0.0045 s');
});

test('a table is written in its place, and nothing else', () => {
  assert.equal(withTable(text, 'ship', (same) => same), text);
  const other = withTable(text, 'cluster', (one) => ({ ...one, rows: one.rows.slice(1) }));
  assert.equal(other.split('\n').length, text.split('\n').length - 1);
  assert.throws(() => refreshed(table('ship'), 'refloat bench --preset toy10 --runs 20', { machine, params: 'toy11', measurements: [] }, date), /none of its rows|undefined/);
});

test('the command lists what it is asked for', async () => {
  const listed = (...args) => run(process.execPath, ['tests/tools/benchmarks.mjs', '--list', ...args]);
  const all = await listed();
  for (const { id, runs } of tablesOf(text)) {
    for (const { command } of runs) assert.ok(all.output.includes(`${command}\n`), `${id}: ${command}`);
  }
  const toy = await listed('--only', 'toy10');
  assert.equal(toy.output, `ship\n  refloat bench --preset toy10 --runs 20\n  ${table('ship').runs.at(-1).where}\n`);
  const none = await listed('--only', 'toy10 n16');
  assert.ok(none.code !== 0 && none.output.includes('toy10 n16'), none.output);
});
