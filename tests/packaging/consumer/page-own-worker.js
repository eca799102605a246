import { Refloat } from 'refloat';
import { journey } from './journey.mjs';

const result = document.querySelector('#result');
try {
  const rf = await Refloat.load({ worker: () => new Worker(new URL('./own-worker.js', import.meta.url), { type: 'module' }) });
  await journey(rf);
  rf.close();
  result.textContent = 'ok';
} catch (error) {
  result.textContent = `${error?.code} ${error?.message}`;
}
