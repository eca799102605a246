import { Refloat } from 'refloat';
import { journey } from './journey.mjs';

await journey(await Refloat.load({ worker: false }));
