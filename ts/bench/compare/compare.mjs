// Client operations of refloat beside node-seal 7, in turns, in one process:
//
//   npm run build:ts
//   npm install --prefix ts/bench/compare && npm run compare --prefix ts/bench/compare
//
// node-seal's wasm needs Node 24, which the npm package `node` brings (its install script must be
// allowed). Operations alternate, so that what else the machine does meets both; medians are printed.
//
// Both hold 4096 real slots at N = 2^13. refloat's ship13 has log2 QP = 204 and encrypts at the level
// a bootstrapping returns, 62 bits. node-seal encrypts at the top of its chain: once with 200 bits in
// all, 140 of them in a fresh ciphertext, and once with the 62 bits that ship13 encrypts at.
import SEAL from 'node-seal';
import { Refloat } from '../../dist/sync.js';

const ROUNDS = Number(process.argv[2] ?? 60);
const N = 8192;
const VALUES = Float64Array.from({ length: N / 2 }, (_, i) => Math.sin(i));

/** Runs `work` and adds its milliseconds to `times`. */
function timed(times, work) {
  const start = performance.now();
  const result = work();
  times.push(performance.now() - start);
  return result;
}

const median = (times) => times.slice().sort((a, b) => a - b)[times.length >> 1];

/** The worst slot, so that nothing is timed that does not work. */
function check(name, found) {
  const worst = VALUES.reduce((most, x, i) => Math.max(most, Math.abs(x - found[i])), 0);
  if (!(worst < 1e-3)) throw new Error(`${name} decrypts to something else: off by ${worst}`);
}

/** One library's operations, with their times. */
const sides = [];

async function refloat() {
  const times = { ready: [], keygen: [], encrypt: [], decrypt: [] };
  const start = performance.now();
  const rf = await Refloat.load();
  const keys = rf.keygen('ship13');
  keys.encrypt(VALUES).free();
  times.ready.push(performance.now() - start);
  keys.free();
  const round = () => {
    const keys = timed(times.keygen, () => rf.keygen('ship13'));
    const ct = timed(times.encrypt, () => keys.encrypt(VALUES));
    check('refloat', timed(times.decrypt, () => keys.decrypt(ct)));
    ct.free();
    keys.free();
  };
  sides.push({ name: 'refloat, ship13 (62 of 204 bits)', times, round });
}

async function seal(name, sizes, scale) {
  const times = { ready: [], keygen: [], encrypt: [], decrypt: [] };
  const start = performance.now();
  const lib = await SEAL();
  const parms = new lib.EncryptionParameters(lib.SchemeType.ckks);
  parms.setPolyModulusDegree(N);
  parms.setCoeffModulus(lib.CoeffModulus.Create(N, Int32Array.from(sizes)));
  const context = new lib.SEALContext(parms, true, lib.SecLevelType.tc128);
  const encoder = new lib.CKKSEncoder(context);
  const round = () => {
    const generator = timed(times.keygen, () => new lib.KeyGenerator(context));
    const secret = generator.secretKey();
    const publicKey = generator.createPublicKey();
    const encryptor = new lib.Encryptor(context, publicKey);
    encryptor.setSecretKey(secret);
    const decryptor = new lib.Decryptor(context, secret);
    const [plain, ct, out] = [new lib.Plaintext(), new lib.Ciphertext(), new lib.Plaintext()];
    timed(times.encrypt, () => {
      encoder.encode(VALUES, scale, plain);
      encryptor.encryptSymmetric(plain, ct);
    });
    const found = timed(times.decrypt, () => {
      decryptor.decrypt(ct, out);
      return encoder.decodeFloat64(out);
    });
    check(name, found);
    for (const object of [generator, secret, publicKey, encryptor, decryptor, plain, ct, out]) object.delete();
  };
  round();
  times.ready.push(performance.now() - start);
  for (const key of ['keygen', 'encrypt', 'decrypt']) times[key].length = 0;
  sides.push({ name, times, round });
}

await refloat();
await seal('node-seal, 200 bits (140 fresh)', [60, 40, 40, 60], 2 ** 40);
await seal('node-seal, 122 bits (62 fresh)', [31, 31, 60], 2 ** 22);
for (let i = 0; i < ROUNDS; i++) for (const { round } of sides) round();

const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);
console.log(`Node ${process.versions.node}, ${ROUNDS} rounds, medians in ms; in brackets: times refloat's\n`);
row('library', 'secret key', 'encode, encrypt', 'decrypt, decode', 'load to first ciphertext');
row('---', '--:', '--:', '--:', '--:');
const [own] = sides;
for (const { name, times } of sides) {
  const cell = (key) => {
    const ms = median(times[key]);
    return times === own.times ? ms.toFixed(2) : `${ms.toFixed(2)} (${(ms / median(own.times[key])).toFixed(1)})`;
  };
  row(name, cell('keygen'), cell('encrypt'), cell('decrypt'), cell('ready'));
}
