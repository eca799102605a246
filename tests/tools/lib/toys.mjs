// Bootstraps every toy set on the command line, for binaries of systems that have to be tried on more than the shared vectors: finds
// the sets that the vectors leave out, and what to do with each.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

/** Milliseconds after which a command is taken to hang. */
const LIMIT = 10 * 60_000;

/** Largest error of refreshed numbers. */
const ERROR = 0.02;

/** Fields of sets in the vectors whose ciphertexts were refreshed, as their methods call that. */
const REFRESHED = ['bootstrapped', 'nand', 'lookedUp'];

const asNumbers = (text) => text.trim().split(/[\s,]+/).map(Number);
const isNear = (wanted) => (text) => {
  const found = asNumbers(text);
  return found.length === wanted.length && found.every((x, i) => Math.abs(x - wanted[i]) < ERROR);
};

const numbers = (message) => ({ encrypt: (at) => ['--in', at('x.csv')], message, ask: ['bootstrap'], count: message.length, isRight: isNear(message) });

/**
 * The question for each method: how to encrypt a message, which command refreshes it, and what the decryption must be. The message,
 * if there is one, is written to `x.csv`.
 */
const QUESTIONS = {
  'ckks-ship': numbers([0.5, -0.25, 1]),
  'ckks-conventional': numbers([0.5, -0.25, 1]),
  // Numbers modulo 1, from -1/2 to 1/2.
  'ckks-msb': numbers([0.25, -0.125, 0.375]),
  bgv: numbers([0, 1, 5]),
  cggi: { encrypt: () => ['--bits', '1100'], ask: ['gate', 'nand'], twice: true, isRight: (text) => asNumbers(text).join('') === '0011' },
  'scheme-switching': {
    ...numbers([0.25, 0.875, 0.5]),
    ask: ['argmax', '--count', '3', '--range', 'unit'],
    isRight: isNear([0, 1, 0]),
  },
};

/** The toys of `sets`, as {name, method}, for which the vectors refresh no ciphertext. A method without a question is an error. */
export function toysLeft(sets, vectors) {
  const refreshed = new Set(
    Object.values(vectors).filter(Array.isArray).flat().filter((set) => REFRESHED.some((name) => name in set)).map(({ name }) => name),
  );
  const left = sets.filter(({ name }) => name.startsWith('toy') && !refreshed.has(name));
  const unknown = left.find(({ method }) => !(method in QUESTIONS));
  if (unknown) throw new Error(`${unknown.name} is a set of ${unknown.method}, of which tests/tools/lib/toys.mjs asks nothing; add a question`);
  return left;
}

/** Makes keys of a set, encrypts, refreshes and decrypts, with `command`, which runs the binary, in an empty folder. */
export async function refresh({ name, method }, command, folder) {
  const at = (file) => join(folder, file);
  const question = QUESTIONS[method];
  const refloat = async (...args) => {
    const [program, ...first] = command;
    const { code, output } = await run(program, [...first, ...args], { limit: LIMIT });
    if (code !== 0) throw new Error(`${name}: refloat ${args.join(' ')} ended with ${code}, and said:\n${output}`);
  };
  if (question.message) writeFileSync(at('x.csv'), question.message.join('\n'));
  await refloat('keygen', '--preset', name, '--allow-insecure', '--out', at('keys'));
  await refloat('encrypt', '--key', at('keys'), ...question.encrypt(at), '--out', at('x.ct'));
  const inputs = question.twice ? ['--in', at('x.ct'), '--in', at('x.ct')] : ['--in', at('x.ct')];
  await refloat(...question.ask, '--keys', at('keys'), ...inputs, '--out', at('y.ct'));
  await refloat('decrypt', '--key', at('keys'), '--in', at('y.ct'), '--out', at('y.csv'), ...(question.count ? ['--count', String(question.count)] : []));
  const found = readFileSync(at('y.csv'), 'utf8');
  if (!question.isRight(found)) throw new Error(`${name}: ${question.ask.join(' ')} gave ${found.trim().replace(/\s+/g, ', ')}`);
}
