import { Refloat } from 'refloat';
import { journey } from './journey.mjs';

const result = document.querySelector('#result');
try {
  const rf = await Refloat.load({ worker: new URL('refloat/browser/worker.js', document.baseURI) });
  await journey(rf);
  rf.close();
  result.textContent = 'ok';
} catch (error) {
  result.textContent = String(error?.stack ?? error);
}
