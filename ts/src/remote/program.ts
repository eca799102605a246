import { RefloatError } from '../errors.js';
import { joined } from './body.js';

/** The body of a job: who places bootstraps, the program with its length, ciphertexts. @internal */
export function programBody(
  program: Uint8Array,
  bootstraps: 'where-needed' | 'as-written',
  inputs: readonly Uint8Array[],
): Uint8Array {
  const head = new Uint8Array(5);
  head[0] = bootstraps === 'where-needed' ? 1 : 0;
  new DataView(head.buffer).setUint32(1, program.length, true);
  return joined([head, program, ...inputs]);
}

/** Lengths of an object's header and digest, and where the header states the length of the rest. */
const HEADER = 64;
const DIGEST = 32;
const PAYLOAD_LENGTH = 48;

/** The ciphertexts of a result, each with its output's name. @internal */
export function outputsOf(names: readonly string[], result: Uint8Array): [string, Uint8Array][] {
  const out: [string, Uint8Array][] = [];
  let rest = result;
  for (const name of names) {
    if (rest.length < HEADER) break;
    const payload = new DataView(rest.buffer, rest.byteOffset).getBigUint64(PAYLOAD_LENGTH, true);
    const length = HEADER + Number(payload) + DIGEST;
    if (length > rest.length) break;
    out.push([name, rest.slice(0, length)]);
    rest = rest.subarray(length);
  }
  if (out.length !== names.length || rest.length > 0) {
    throw new RefloatError('SERVER', `the server sent ${result.length} bytes, and they are not the ${names.length} outputs of the program`);
  }
  return out;
}
