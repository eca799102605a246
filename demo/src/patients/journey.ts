import type { KeyRepair, ProgramEvent } from 'refloat/client';
import type { Standing, Standings } from './graph.js';
import type { ValueName } from './program.js';

/** The ciphertext at one point of the server's run through the program. */
export interface Point {
  /** Steps of the program done; a bootstrap is one step, so a point within it has a fraction. */
  readonly step: number;
  readonly level: number;
  readonly logQ: number;
  readonly logScale: number;
}

/** What was seen of a program's run: the ciphertext after each stretch of arithmetic and each stage of a bootstrap. */
export interface Journey {
  points: Point[];
  /** Steps done, and all of them. */
  steps: number;
  total: number;
  /** The steps that are bootstraps. */
  bootstraps: number[];
}

/** A run before its first event, with its input. */
export function journeyFrom(input: Omit<Point, 'step'>): Journey {
  return { points: [{ step: 0, ...input }], steps: 0, total: 0, bootstraps: [] };
}

/** Takes in an event; `stages` is the number of stages that a bootstrap has. */
export function take(journey: Journey, event: ProgramEvent | KeyRepair, stages: number): void {
  if (event.kind === 'progress' && event.stage === 'arithmetic') [journey.steps, journey.total] = [event.done, event.total];
  if (event.kind === 'enter' && event.stage === 'mod_raise') {
    journey.bootstraps.push(journey.steps);
    journey.steps += 1;
  }
  if (event.kind !== 'exit') return;
  const { level, logQ, logScale } = event;
  const begun = journey.bootstraps.at(-1) ?? 0;
  const before = journey.points.filter(({ step }) => step > begun && step <= begun + 1).length;
  const step = event.stage === 'arithmetic' ? journey.steps : Math.min(begun + 1, begun + (before + 1) / stages);
  journey.points.push({ step, level, logQ, logScale });
}

/** Level, modulus and scale of the ciphertexts of a run. */
export function standingsOf(values: Readonly<Record<ValueName, Standing>>): Standings {
  return Object.fromEntries(Object.entries(values).map(([name, { level, logQ, logScale }]) => [name, { level, logQ, logScale }]));
}
