/** Brings what the address leads to into sight again, once a page that opened shorter than it is has all its height. */
export function backToAnchor(): void {
  const [, id = ''] = /^#([\w-]+)$/.exec(location.hash) ?? [];
  document.getElementById(id)?.scrollIntoView({ behavior: 'instant' });
}
