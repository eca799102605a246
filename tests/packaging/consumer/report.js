// Tells the server what the page says, and what it fails with.
{
  const tell = (text) => fetch('/result', { method: 'POST', body: text });
  const result = document.querySelector('#result');
  new MutationObserver(() => result.textContent && tell(result.textContent)).observe(result, { childList: true, characterData: true, subtree: true });
  addEventListener('error', (event) => tell(`error: ${event.message}`));
  addEventListener('unhandledrejection', (event) => tell(`unhandled: ${event.reason}`));
}
