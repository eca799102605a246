import { Refloat } from 'refloat/client';
import { close } from './journey.mjs';

const rf = await Refloat.load();
const keys = await rf.keygen('ship13');
close(await keys.decrypt(await keys.encrypt([0.5, -0.25])), [0.5, -0.25]);
const error = await keys.bootstrapKeys().catch((e) => e);
if (error.code !== 'INVALID_ARGUMENT') throw new Error(`expected INVALID_ARGUMENT, got ${error}`);
rf.close();
