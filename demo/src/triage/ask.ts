/*
 * A question to the server: encrypt, have the program run, decrypt what comes back. Used by the page and by the script that records an
 * answer for it.
 */
import type { Ciphertext, KeyRepair, KeySet, ProgramEvent, Server, ServerPreset } from 'refloat/client';
import type { Model, Patient } from '../patients/model.js';
import { measurementsOf } from '../patients/program.js';
import { whileWanted } from '../abortable.js';
import { beside, casesOf, closeness, MOST, nearest, scaleOf, urgency, urgent, type Case, type QuestionName } from './questions.js';
import { leastOf, nameOf, type Answer, type Entry } from './state.js';

/** The method whose sets compare. */
export const METHOD = 'scheme-switching';

/** The patients that are asked about, and what is known to everybody. */
export interface Scene {
  readonly model: Model;
  readonly patients: readonly Patient[];
  readonly cases: readonly Case[];
  readonly scale: number;
}

/** Patients that the model has not seen, evenly spread over the test rows, and cases from its training rows. */
export function sceneOf(model: Model, train: readonly Patient[], test: readonly Patient[]): Scene {
  const cases = casesOf(train);
  const step = Math.floor(test.length / MOST);
  return { model, patients: test.filter((_, i) => i % step === 0).slice(0, MOST), cases, scale: scaleOf(cases, train) };
}

/** Where a question goes. */
export interface Asking {
  readonly server: Server;
  readonly keys: KeySet;
  readonly set: ServerPreset;
  readonly signal?: AbortSignal;
  /** Makes sure that a ciphertext is freed. */
  use(ciphertext: Ciphertext): Ciphertext;
}

/** Asks about some of the patients, by their indices; the second question asks about the first of them. */
export async function ask(scene: Scene, question: QuestionName, who: readonly number[], to: Asking, note: (event: ProgramEvent | KeyRepair) => void): Promise<Answer> {
  const { server, keys, set, signal } = to;
  const { name, numbers, program, compared } = prepared(scene, question, who, set);
  const options = signal ? { signal } : {};
  const input = to.use(await whileWanted(signal, keys.encrypt(numbers, { level: set.outputLevel })));
  const began = performance.now();
  const job = server.run(program, { [name]: input }, { ...options, keys });
  for await (const event of job) note(event);
  const outputs = await job;
  const back = new Map<string, Float64Array>();
  for (const [name, ciphertext] of Object.entries(outputs)) back.set(name, await whileWanted(signal, keys.decrypt(to.use(ciphertext))));
  const of = (name: string, slot: number): number => back.get(name)?.[slot] ?? NaN;
  const seconds = (performance.now() - began) / 1000;
  const entries: Entry[] = compared.map((entry, slot) => ({ ...entry, number: of('number', slot), rank: of('rank', slot), flag: of('top', slot) }));
  return {
    question,
    set: set.name,
    entries,
    ...(question === 'nearest' ? { verdict: of('verdict', 0), patient: nameOf(who[0] ?? 0), malignant: scene.patients[who[0] ?? 0]?.malignant } : {}),
    least: leastOf(set, question),
    seconds,
    sent: input.byteLength,
    levels: [input.level, outputs['top']?.level ?? 0],
  };
}

/** What a question needs: an input, its numbers, a program, and the compared numbers in the clear. */
function prepared(scene: Scene, question: QuestionName, who: readonly number[], set: ServerPreset) {
  const { model, patients, cases, scale } = scene;
  const asked = who.flatMap((i) => patients.slice(i, i + 1));
  if (question === 'urgent') {
    const compared = asked.map((patient, i) => ({ name: nameOf(who[i] ?? 0), malignant: patient.malignant, clear: urgency(patient, model) }));
    return { name: 'measurements', numbers: measurementsOf(asked, set), program: urgent(model, set, asked.length), compared };
  }
  const patient = asked[0] as Patient;
  const compared = cases.map((known, i) => ({ name: `${i + 1}`, malignant: known.malignant, clear: closeness(patient, known, scale) }));
  return { name: 'patient', numbers: beside(patient, cases.length, scale, set), program: nearest(cases, scale, set), compared };
}
