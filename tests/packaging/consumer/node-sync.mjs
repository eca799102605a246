import { Refloat } from 'refloat/sync';
import { close } from './journey.mjs';

const rf = await Refloat.load();
const keys = rf.keygen('toy10', { allowInsecure: true });
const ct = keys.encrypt([0.5, -0.25], { level: keys.params.inputLevel });
const fresh = keys.bootstrap(ct, keys.bootstrapKeys().result()).result();
close(keys.decrypt(fresh), [0.5, -0.25]);
