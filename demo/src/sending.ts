import type { Preset } from 'refloat/client';
import { bytes } from './format.js';
import { html, type Html } from './html.js';

/** A set whose evaluation keys are sent to a server. */
export type Sent = Pick<Preset, 'name' | 'keyBytes'>;

/** Bytes of evaluation keys above which the reader is asked before they are made and sent. */
const LARGE = 200e6;

/** Whether the reader is asked before the keys of a set are sent. */
export function isLarge({ keyBytes }: Pick<Sent, 'keyBytes'>): boolean {
  return keyBytes > LARGE;
}

/** The question; its buttons trigger `confirm` and `dismiss`. */
export function question({ name, keyBytes }: Sent): Html {
  return html`<div class="action confirm" data-key="confirm" role="group" aria-labelledby="confirm-title">
    <p class="box-title" id="confirm-title">Make and send ${bytes(keyBytes)} of evaluation keys?</p>
    <p>That is what a server needs to compute with ${name}; it cannot decrypt with them. You can cancel at any time: as long as this page is open, what has been sent is not sent again.</p>
    <div class="buttons"><button type="button" class="primary small" data-heir data-act="confirm">Make and send</button><button type="button" class="secondary" data-act="dismiss">Not now</button></div>
  </div>`;
}

/** What happens to the keys before a server computes with them. */
export function sending([done, total]: readonly [number, number], { keyBytes }: Pick<Sent, 'keyBytes'>): string {
  return total > 0 && done >= total ? `All ${bytes(total)} of evaluation keys are sent; the server checks them` : `Making and sending evaluation keys: ${bytes(done)} of ${bytes(total || keyBytes)}`;
}

/** What is said while the server has reported nothing of the run yet. */
export const UNPACKING = 'The server has the encrypted data. Before the first run it unpacks the keys: the more bytes, the longer it takes';
