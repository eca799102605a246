/** Scrolls back to the element that the address names, once a page that opened shorter has its full height. */
export function backToAnchor(): void {
  const [, id = ''] = /^#([\w-]+)$/.exec(location.hash) ?? [];
  document.getElementById(id)?.scrollIntoView({ behavior: 'instant' });
}
