// Records one real addition and the bootstrapping of one gate with the built npm package, for the page of gates to show before
// the reader has made one (src/recorded/gates.json). Run it again when stages or events change:
//
//   node demo/scripts/record-gates.mjs
import { Refloat } from 'refloat';
import { keep, madeBy } from './recording.mjs';

const SET = 'bool-128';
const WIDTH = 8;
const NUMBERS = [200, 77];
/** The gate whose bootstrapping is shown, and its bits. */
const CLOSE = { gate: 'nand', operands: [true, false] };
/** Number of accumulator coefficients that are drawn. */
const DRAWN = 256;

const bits = (value) => Array.from({ length: WIDTH }, (_, i) => ((value >> i) & 1) === 1);
const short = (x) => Number(x.toPrecision(4));

const rf = await Refloat.load({ threads: 1 });
const secret = await rf.gates.keygen(SET);
const keys = await secret.evaluationKeys();
const circuit = await rf.gates.adder(WIDTH);
const run = keys.run(circuit, await Promise.all(NUMBERS.map((value) => secret.encrypt(bits(value)))));
const times = [];
let total = 0;
for await (const event of run) {
  if (event.kind === 'progress') times.push(short(event.gateMs));
  total = event.atMs;
}
const sum = (await secret.decrypt(await run)).reduce((value, bit, i) => value + (Number(bit) << i), 0);

const gate = keys.gateRun(CLOSE.gate, await Promise.all(CLOSE.operands.map((bit) => secret.encrypt(bit))), { inspect: secret });
const seen = {};
for await (const event of gate) {
  if (event.kind !== 'view') seen.ms = short(event.atMs);
  else if (event.form === 'polynomial') {
    seen.coefficients = event.data.length;
    const step = Math.max(1, Math.floor(event.data.length / DRAWN));
    seen.accumulator = Array.from(event.data.filter((_, i) => i % step === 0), short);
  } else if (event.stage === 'input') seen.before = short(event.data[0]);
  else if (event.stage === 'mod_switch') seen.rounded = short(event.data[0]);
  else if (event.stage === 'sample_extract') seen.after = short(event.data[0]);
}
const [result] = await secret.decrypt(await gate);
const made = madeBy(rf);
const size = keep('gates', { made, set: SET, numbers: NUMBERS, times, total: short(total), threads: 1, sum, close: { ...CLOSE, ...seen, result } });
process.stdout.write(`recorded ${NUMBERS.join(' + ')} = ${sum}, ${times.length} gates, ${size} bytes\n`);
rf.close();
