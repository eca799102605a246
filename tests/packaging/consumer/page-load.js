import { Refloat } from 'refloat';

const result = document.querySelector('#result');
try {
  const rf = await Refloat.load();
  rf.close();
  result.textContent = 'ok';
} catch (error) {
  result.textContent = `${error?.code} ${error?.message}`;
}
