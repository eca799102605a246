/** Markup that has already been escaped. */
export class Html {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

/** What may stand in a template: nested markup is inserted as it is, everything else is escaped. */
export type Part = Html | string | number | false | null | undefined | readonly Part[];

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function write(part: Part): string {
  if (part === false || part === null || part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(write).join('');
  return String(part).replace(/[&<>"']/g, (c) => ESCAPES[c] ?? c);
}

/** Template tag for markup; the only way strings become HTML in this page. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? '';
  parts.forEach((part, i) => {
    text += write(part) + (strings[i + 1] ?? '');
  });
  return new Html(text);
}

/** Markup written in this source, never from outside. */
export function trusted(text: string): Html {
  return new Html(text);
}

/**
 * Makes the children of `el` equal to `markup` while keeping every node that need not change, so that
 * focus, selection, scroll positions and CSS transitions survive. The children of elements that carry `data-own` belong to somebody else
 * and are left alone. If the focused element disappears, the element marked with `data-heir` gets the focus.
 */
export function morph(el: Element, markup: Html): void {
  const document = el.ownerDocument;
  const template = document.createElement('template');
  template.innerHTML = markup.text;
  const held = el.contains(document.activeElement) ? document.activeElement : null;
  patchChildren(el, template.content);
  if (held && !held.isConnected) el.querySelector<HTMLElement>('[data-heir]:enabled')?.focus({ preventScroll: true });
}

function patchChildren(to: Node, from: Node): void {
  let old = to.firstChild;
  let next = from.firstChild;
  while (next) {
    const following = next.nextSibling;
    if (!old) {
      to.appendChild(next);
    } else if (sameKind(old, next)) {
      patch(old, next);
      old = old.nextSibling;
    } else {
      const after: ChildNode | null = old.nextSibling;
      to.replaceChild(next, old);
      old = after;
    }
    next = following;
  }
  while (old) {
    const after: ChildNode | null = old.nextSibling;
    to.removeChild(old);
    old = after;
  }
}

function sameKind(a: Node, b: Node): boolean {
  if (a.nodeType !== b.nodeType || a.nodeName !== b.nodeName) return false;
  return !(a instanceof Element && b instanceof Element) || a.getAttribute('data-key') === b.getAttribute('data-key');
}

function patch(old: Node, next: Node): void {
  if (!(old instanceof Element && next instanceof Element)) {
    if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) {
    // The reader opens and closes these.
    if (!next.hasAttribute(name) && !(name === 'open' && old instanceof HTMLDetailsElement)) old.removeAttribute(name);
  }
  for (const { name, value } of [...next.attributes]) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (old instanceof HTMLInputElement && next instanceof HTMLInputElement) {
    if (old.type === 'checkbox' || old.type === 'radio') old.checked = next.checked;
    else if (document.activeElement !== old || old.type === 'range') old.value = next.value;
  }
  if (!old.hasAttribute('data-own')) patchChildren(old, next);
  // What the reader chose outlasts a change of the options.
  if (old instanceof HTMLSelectElement && next instanceof HTMLSelectElement && old.value !== next.value) old.value = next.value;
}
