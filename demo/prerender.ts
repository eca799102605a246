import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { gridFor, type InputSource } from './src/input/source.js';
import { OPENED, PRERENDERED, regions } from './src/page.js';
import { decode, type RecordedVoyage } from './src/recorded.js';
import { untouched, type State } from './src/store.js';
import { latest } from './src/voyage.js';

const WIDTHS: Record<string, number> = { gauge: 600, 'view-flame': 640, 'view-work': 640 };

/**
 * Draws the figures of the recorded voyage into the page when it is built, so that text, formulas and
 * pictures are there before any script, on paper, and where scripts are off.
 */
export function prerender(recording: URL): Plugin {
  return {
    name: 'refloat-prerender',
    transformIndexHtml(page, { path }) {
      // Only the first page shows this recording.
      if (!path.endsWith('/index.html')) return page;
      const voyage = decode(JSON.parse(readFileSync(recording, 'utf8')) as RecordedVoyage);
      const input: InputSource = { kind: 'boat', label: voyage.label, values: () => voyage.input };
      const state: State = {
        ...untouched(),
        presets: [voyage.preset],
        pagePreset: voyage.preset.name,
        serverPreset: 'ship13',
        input,
        recorded: voyage,
        shown: 'page',
        at: latest(voyage),
      };
      if (gridFor(voyage.preset.slots).width !== voyage.width) throw new Error(`the recording ${recording.href} is of another shape; record it again`);
      const drawn = regions(state, 'boat', (region) => WIDTHS[region] ?? 1180, false);
      return [...OPENED, ...PRERENDERED].reduce((text, id) => {
        const empty = new RegExp(`(<div [^>]*\\bid="${id}"[^>]*>)</div>`);
        if (!empty.test(text)) throw new Error(`index.html has no empty element #${id} to draw into`);
        return text.replace(empty, (_all, open: string) => `${open}${drawn[id]?.text ?? ''}</div>`);
      }, page);
    },
  };
}
