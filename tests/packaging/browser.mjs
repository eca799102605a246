// Opens a built page in the system's Chromium and waits for its verdict.
import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const MIME = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };

/** The browser to use, if there is one. */
export function findChromium() {
  if (process.env.REFLOAT_SKIP_BROWSER === '1') return undefined;
  const named = process.env.CHROMIUM;
  if (named && existsSync(named)) return named;
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      // Not this name.
    }
  }
  return undefined;
}

/** Serves a folder with these headers on a free port while `use`, which gets the origin, runs. `said` gets what is posted. */
export async function serving(folder, headers, use, said = () => undefined) {
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      let text = '';
      request.on('data', (piece) => (text += piece));
      request.on('end', () => {
        response.writeHead(204).end();
        said(text);
      });
      return;
    }
    const path = normalize(new URL(request.url, 'http://localhost').pathname);
    const file = join(folder, path === '/' ? 'index.html' : path);
    if (!file.startsWith(folder) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404, headers).end();
      return;
    }
    response.writeHead(200, { ...headers, 'content-type': MIME[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Opens a folder's index.html and returns what the page writes into `#result`, or else what went wrong in it. */
export async function visit(executablePath, folder, { headers = {}, errors: expected = false } = {}) {
  const { chromium } = await import('playwright-core');
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args });
  try {
    return await serving(folder, headers, async (origin) => {
      const page = await browser.newPage();
      const errors = [];
      page.on('pageerror', (error) => errors.push(String(error)));
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      await page.goto(`${origin}/`);
      const result = page.locator('#result:not(:empty)');
      await result.waitFor({ state: 'attached', timeout: 120_000 });
      return errors.length && !expected ? errors.join('\n') : await result.textContent();
    });
  } finally {
    await browser.close();
  }
}
