import { expect, test } from 'vitest';
import { levelsOf } from '../src/levels.js';
import { progressOf, recordedBy, standing, titled } from '../src/views/making.js';

const preset = titled({ stages: [{ id: 'a', title: 'Reduce modulo q0' }, { id: 'b', title: 'Sparse secret, times p^e' }] });

test('levels that the first stage needs are none for products', () => {
  expect(levelsOf(0, 0)).toBe('no level for products');
  expect(levelsOf(1, 0)).toBe('1 level for products');
  expect(levelsOf(3, 3)).toBe('no level for products, 3 for the first stage of a bootstrapping');
  expect(levelsOf(5, 3)).toBe('2 levels for products, 3 for the first stage of a bootstrapping');
});

test('a run is said to be under way, to pause, and to be paused before what comes next', () => {
  const at = (under: string | undefined, done: number, paused: boolean): string => standing({ preset, under, paused }, done);
  expect(at(undefined, 0, true)).toBe('Paused. The next stage is “Reduce modulo q₀”.');
  expect(at(undefined, 0, false)).toBe('Encrypting what is bootstrapped.');
  expect(at('a', 1, false)).toBe('“Sparse secret, times pᵉ” is next.');
  expect(at('a', 0, false)).toBe('“Reduce modulo q₀” is under way.');
  expect(at('a', 0, true)).toBe('The run pauses after “Reduce modulo q₀”.');
  expect(at('a', 1, true)).toBe('Paused. The next stage is “Sparse secret, times pᵉ”.');
  expect(at('b', 2, false)).toBe('Decrypting what the last stage made.');
  expect(at('b', 2, true)).toBe('Decrypting what the last stage made.');
});

test('keys are counted while they are made, and a recorded run says that it is one', () => {
  const keys = { busy: 'keys', progress: [500, 1000], problem: undefined, retrying: undefined } as const;
  expect(progressOf(keys).text).toContain('Making keys: 500 bytes of 1.00 kB');
  const set = { name: 'a-set', keyBytes: 1000 };
  expect(progressOf(keys, set).text).toContain('Making and sending evaluation keys: 500 bytes of 1.00 kB');
  expect(progressOf({ ...keys, progress: [1000, 1000] }, set).text).toContain('the server checks them');
  expect(progressOf({ ...keys, busy: undefined, problem: 'Out of memory.' }).text.trim()).toMatch(/^<p class="problem" role="alert" tabindex="-1">Out of memory\.<\/p>$/);
  expect(recordedBy(undefined, undefined).text).toBe('');
  expect([recordedBy('by us', undefined).text, recordedBy('by us', 'keys').text]).toEqual([expect.stringContaining('Press the button'), expect.stringContaining('Your own is on its way')]);
});
