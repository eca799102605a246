/** What relative URLs are resolved against: the page's base, or in a worker the URL of its file. Nothing in Node. */
export function baseUrl(): string | undefined {
  return globalThis.document?.baseURI ?? globalThis.location?.href;
}
