/*
 * What the pages that use one set and make keys of their own have in common.
 */
import { again } from '../contact.js';
import { bytes, decimal } from '../format.js';
import { html, type Html } from '../html.js';
import { sending, type Sent } from '../sending.js';
import type { Making } from '../shell.js';

/** How far the keys are (which may also be sent to a server), and what went wrong. */
export function progressOf({ busy, progress: [done, total], problem, retrying }: Pick<Making, 'busy' | 'progress' | 'problem' | 'retrying'>, sent?: Sent): Html {
  return html`${busy === 'keys' ? html`<p class="hint">${retrying ? again(retrying) : sent ? sending([done, total], sent) : `Making keys: ${bytes(done)} of ${bytes(total)}`}</p><progress max="${total || 1}" value="${done}" aria-label="Keys"></progress>` : ''}
    ${problem ? html`<p class="problem" role="alert" tabindex="-1">${problem}</p>` : ''}`;
}

/** A set whose stage titles use the signs that a terminal does not have. */
export function titled<P extends { readonly stages: readonly { readonly title: string }[] }>(preset: P): P {
  return { ...preset, stages: preset.stages.map((stage) => ({ ...stage, title: stage.title.replace('q0', 'q₀').replace('^e', 'ᵉ') })) };
}

/** How far a run is whose first `done` stages have ended. */
export function standing({ preset, under, paused }: { readonly preset: { readonly stages: readonly { readonly id: string; readonly title: string }[] } | undefined; readonly under: string | undefined; readonly paused: boolean }, done: number): string {
  const stages = preset?.stages ?? [];
  const at = stages.findIndex(({ id }) => id === under);
  const title = (i: number): string => `“${stages[i]?.title ?? ''}”`;
  if (at >= done) return paused ? `The run pauses after ${title(at)}.` : `${title(at)} is under way.`;
  if (done === stages.length) return 'Decrypting what the last stage made.';
  if (paused) return `Paused. The next stage is ${title(done)}.`;
  return done === 0 ? 'Encrypting what is bootstrapped.' : `${title(done)} is next.`;
}

/** Lets the keyboard scroll a list of stages while none of them can be pressed. */
export function scrolled(seen: readonly unknown[]): Html {
  return seen.length > 0 ? html`` : html` tabindex="0"`;
}

/** What made the run that is shown, unless it was the reader. */
export function recordedBy(maker: string | undefined, busy: unknown): Html {
  return maker ? html`<p class="recorded"><strong>A recorded run</strong> on real ciphertexts, ${maker}. ${busy ? 'Your own is on its way' : 'Press the button to make your own'}.</p>` : html``;
}

/** A set by its name, and whether it protects anything. */
export function badge({ name, secure }: { readonly name: string; readonly secure: boolean }): Html {
  return html`<span class="badge badge-${secure ? 'secure' : 'insecure'}">${name}${secure ? '' : ' · insecure demonstration parameters'}</span>`;
}

/** The ring of a set, and its largest modulus. */
export function ring({ logN, logQP }: { readonly logN: number; readonly logQP: number }): Html {
  return html`in polynomials of degree below N = 2<sup>${logN}</sup>; the largest modulus has ${decimal(logQP, 0)} bits`;
}
