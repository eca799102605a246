// Client operations of refloat beside node-seal 7, in turns, in one process:
//
//   npm run build:ts
//   npm install --prefix ts/bench/compare && npm run compare --prefix ts/bench/compare
//
// node-seal's wasm needs Node 24, which the npm package `node` brings (its install script must be
// allowed). Operations alternate, so that other load on the machine affects both; medians are printed.
//
// All hold N/2 real slots. refloat encrypts at the level that a bootstrapping returns. node-seal encrypts
// at the top of its chain, which the last row of each table makes as short as refloat's ciphertexts.
import SEAL from 'node-seal';
import { Refloat } from '../../dist/index.js';
import { ready } from './ready.mjs';
import { seal } from './seal.mjs';

const ROUNDS = Number(process.argv[2] ?? 60);

const SIZES = [
  {
    n: 8192,
    own: { name: 'refloat, ship13 (62 of 214 bits)', preset: 'ship13' },
    others: [
      { name: 'node-seal, 200 bits (140 fresh)', bits: [60, 40, 40, 60], scale: 2 ** 40 },
      { name: 'node-seal, 122 bits (62 fresh)', bits: [31, 31, 60], scale: 2 ** 22 },
    ],
  },
  {
    n: 16384,
    own: { name: 'refloat, ship14 (113 of 430 bits)', preset: 'ship14' },
    others: [
      { name: 'node-seal, 360 bits (300 fresh)', bits: [60, 40, 40, 40, 40, 40, 40, 60], scale: 2 ** 40 },
      { name: 'node-seal, 173 bits (113 fresh)', bits: [40, 37, 36, 60], scale: 2 ** 37 },
    ],
  },
];

/** Runs `work`, waits for its result, and adds the milliseconds to `times`. */
async function timed(times, work) {
  const start = performance.now();
  const result = await work();
  times.push(performance.now() - start);
  return result;
}

const median = (times) => times.slice().sort((a, b) => a - b)[times.length >> 1];

/** Checks the worst slot, so that nothing is timed that does not work. */
function check(name, values, found) {
  const worst = values.reduce((most, x, i) => Math.max(most, Math.abs(x - found[i])), 0);
  if (!(worst < 1e-3)) throw new Error(`${name} decrypts to something else: off by ${worst}`);
}

/** One round of a library's operations, and the names of what it times. */
async function ours(rf, { name, preset }, values, times) {
  const keys = await timed(times.keygen, () => rf.keygen(preset));
  const ct = await timed(times.encrypt, () => keys.encrypt(values));
  check(name, values, await timed(times.decrypt, () => keys.decrypt(ct)));
  ct.free();
  keys.free();
}

async function theirs(lib, context, { name, scale }, values, times) {
  const generator = await timed(times.keygen, () => new lib.KeyGenerator(context));
  const secret = generator.secretKey();
  const publicKey = generator.createPublicKey();
  const encryptor = new lib.Encryptor(context, publicKey);
  encryptor.setSecretKey(secret);
  const decryptor = new lib.Decryptor(context, secret);
  const encoder = new lib.CKKSEncoder(context);
  const [plain, ct, out] = [new lib.Plaintext(), new lib.Ciphertext(), new lib.Plaintext()];
  await timed(times.encrypt, () => {
    encoder.encode(values, scale, plain);
    encryptor.encryptSymmetric(plain, ct);
  });
  const found = await timed(times.decrypt, () => {
    decryptor.decrypt(ct, out);
    return encoder.decodeFloat64(out);
  });
  check(name, values, found);
  for (const object of [generator, secret, publicKey, encryptor, decryptor, encoder, plain, ct, out]) object.delete();
}

const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);
const rf = await Refloat.load({ worker: false });
const lib = await SEAL();
console.log(`Node ${process.versions.node}, ${ROUNDS} rounds, medians in ms; in brackets: times refloat's`);
for (const { n, own, others } of SIZES) {
  const values = Float64Array.from({ length: n / 2 }, (_, i) => Math.sin(i));
  const side = (name, round) => ({ name, round, times: { keygen: [], encrypt: [], decrypt: [] } });
  const sides = [
    side(own.name, (times) => ours(rf, own, values, times)),
    ...others.map((other) => {
      const context = seal(lib, n, other.bits);
      return side(other.name, (times) => theirs(lib, context, other, values, times));
    }),
  ];
  // Three warm-up rounds, for the engine to compile the code.
  for (let i = -3; i < ROUNDS; i++) {
    for (const { round, times } of sides) {
      await round(times);
      if (i < 0) for (const list of Object.values(times)) list.length = 0;
    }
  }
  console.log(`\nN = ${n}\n`);
  row('library', 'secret key', 'encode, encrypt', 'decrypt, decode');
  row('---', '--:', '--:', '--:');
  for (const { name, times } of sides) {
    const cell = (key) => {
      const [ms, base] = [median(times[key]), median(sides[0].times[key])];
      return times === sides[0].times ? ms.toFixed(2) : `${ms.toFixed(2)} (${(ms / base).toFixed(1)})`;
    };
    row(name, cell('keygen'), cell('encrypt'), cell('decrypt'));
  }
}

console.log('\nFrom load() to the first ciphertext of a new key, in a process of its own, best and median of 9, in ms\n');
row('library', 'best', 'median');
row('---', '--:', '--:');
for (const { name, times } of ready(9)) row(name, Math.min(...times).toFixed(0), median(times).toFixed(0));
