import { Program, Refloat } from 'refloat';
import { close, journey } from './journey.mjs';

const result = document.querySelector('#result');
try {
  const rf = await Refloat.load();
  await journey(rf);
  // The module of gates is loaded now.
  const bits = await rf.gates.keygen('toy-bool', { allowInsecure: true });
  const gates = await bits.evaluationKeys();
  const one = await bits.encrypt([true]);
  const nand = await bits.decrypt(await gates.nand(one, one));
  if (nand[0] !== false) throw new Error(`not (1 and 1) is ${nand}`);
  // And that of conventional sets, with a program that is bootstrapped here.
  const conventional = await rf.keygen('toy-conventional10-sparse', { allowInsecure: true });
  close(await conventional.decrypt(await conventional.encrypt([0.25])), [0.25]);
  const program = new Program(conventional.params);
  program.output('y', program.input('x').mul(0.5).bootstrap());
  const { y } = await (await conventional.bootstrapKeys()).run(program, { x: await conventional.encrypt([0.25]) });
  close(await conventional.decrypt(y), [0.125]);
  rf.close();
  // The same without a worker: the module is then loaded into the page itself.
  const direct = await Refloat.load({ worker: false });
  const keys = await direct.keygen('toy10', { allowInsecure: true });
  close(await keys.decrypt(await keys.encrypt([0.25])), [0.25]);
  result.textContent = 'ok';
} catch (error) {
  result.textContent = String(error?.stack ?? error);
}
