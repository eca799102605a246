import { readFile } from 'node:fs/promises';
import { Refloat } from 'refloat';
import wasm from 'refloat/refloat_full.wasm' with { type: 'file' };
import { journey } from './journey.mjs';

const rf = await Refloat.load({ worker: false, wasm: await readFile(wasm) });
await journey(rf);
rf.close();
