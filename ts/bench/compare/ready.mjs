// Times load() up to the first ciphertext, each time in a fresh process; importing the JavaScript is not counted.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { seal } from './seal.mjs';

/** What to import, and what to do with it. */
const SIDES = {
  'refloat/client, ship13': ['../../dist/client.js', ours],
  'refloat, ship13': ['../../dist/index.js', ours],
  'node-seal, 200 bits': ['node-seal', theirs],
};

async function ours({ Refloat }, values) {
  const rf = await Refloat.load({ worker: false });
  const keys = await rf.keygen('ship13');
  await keys.encrypt(values);
}

async function theirs({ default: SEAL }, values) {
  const lib = await SEAL();
  const context = seal(lib, 8192, [60, 40, 40, 60]);
  const generator = new lib.KeyGenerator(context);
  const encryptor = new lib.Encryptor(context, generator.createPublicKey());
  encryptor.setSecretKey(generator.secretKey());
  const [plain, ct] = [new lib.Plaintext(), new lib.Ciphertext()];
  new lib.CKKSEncoder(context).encode(values, 2 ** 40, plain);
  encryptor.encryptSymmetric(plain, ct);
}

/** Times every side `rounds` times, in turns. */
export function ready(rounds) {
  const sides = Object.keys(SIDES).map((name) => ({ name, times: [] }));
  for (let i = 0; i < rounds; i++) {
    for (const { name, times } of sides) {
      const text = execFileSync(process.execPath, [fileURLToPath(import.meta.url), name], { encoding: 'utf8' });
      times.push(Number(text));
    }
  }
  return sides;
}

const asked = SIDES[process.argv[2]];
if (asked) {
  const values = Float64Array.from({ length: 4096 }, (_, i) => Math.sin(i));
  const [library, work] = asked;
  const imported = await import(library);
  const start = performance.now();
  await work(imported, values);
  console.log(performance.now() - start);
  process.exit();
}
