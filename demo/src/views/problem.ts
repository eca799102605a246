import { html, type Html } from '../html.js';
import type { Beside, State } from '../store.js';

/** What went wrong, shown beside its cause; nothing elsewhere. */
export function problem({ problem: p }: Pick<State, 'problem'>, beside: Beside): Html | null {
  if (p?.beside !== beside) return null;
  return html`<div class="problem" role="alert" tabindex="-1"><p class="box-title">${p.title}</p><p>${p.detail}</p><div class="buttons">
    ${p.retry && html`<button type="button" class="secondary" data-act="retry:${p.retry.action}">${p.retry.label}</button>`}
    <button type="button" class="quiet" data-act="close-problem">Close</button></div></div>`;
}
