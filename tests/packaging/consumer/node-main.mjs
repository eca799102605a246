import { Refloat, RefloatError } from 'refloat';
import { journey } from './journey.mjs';

const rf = await Refloat.load();
if (rf !== (await Refloat.load())) throw new Error('load() is not idempotent');
await journey(rf);
const error = await rf.keygen('toy10').catch((e) => e);
if (!(error instanceof RefloatError) || error.code !== 'INSECURE') throw new Error(`expected INSECURE, got ${error}`);
// No close(): an idle worker must not keep the process alive.
