/** What the state says about the stages of a run. */
interface Staged {
  readonly preset: { readonly stages: readonly { readonly id: string; readonly title: string }[] } | undefined;
  under: string | undefined;
}

/** Notes that a stage has begun: it is the one under way, and its title is said. */
export function entered(state: Staged, stage: string, shell: { say(text: string): void }): void {
  state.under = stage;
  shell.say(state.preset?.stages.find(({ id }) => id === stage)?.title ?? stage);
}
