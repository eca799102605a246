import { Refloat } from 'refloat';
import { close, journey } from './journey.mjs';

const result = document.querySelector('#result');
try {
  const rf = await Refloat.load();
  await journey(rf);
  rf.close();
  // The same without a worker: the module is then loaded into the page itself.
  const direct = await Refloat.load({ worker: false });
  const keys = await direct.keygen('toy10', { allowInsecure: true });
  close(await keys.decrypt(await keys.encrypt([0.25])), [0.25]);
  result.textContent = 'ok';
} catch (error) {
  result.textContent = String(error?.stack ?? error);
}
