// What runs tell of their stages.
import { expect } from 'vitest';

/** Follows a run to its end, and checks that it tells of each stage when the stage begins and again when it is over. Returns the stages. */
export async function stagesTold(run: AsyncIterable<{ kind: string; stage: string }> & { readonly events: readonly { kind: string; stage: string }[] }): Promise<string[]> {
  const begun: string[] = [];
  for await (const event of run) {
    if (event.kind !== 'enter') continue;
    // What a step reports comes all at once.
    expect(run.events.at(-1)).toBe(event);
    begun.push(event.stage);
  }
  const told = run.events.filter(({ kind }) => kind === 'enter' || kind === 'exit').map(({ kind, stage }) => `${kind} ${stage}`);
  expect(told).toEqual(begun.flatMap((stage) => [`enter ${stage}`, `exit ${stage}`]));
  return begun;
}
