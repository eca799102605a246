import { trusted, type Html } from './html.js';
import type { StageEvent as AnyStageEvent } from 'refloat';
import type { StageEvent, StageId } from './types.js';

/** Stations of the journey: the six stages of the method, and what the reader's page does around them. */
export type Station = 'encrypt' | 'exhaust' | StageId | 'decrypt';

/** The journey in order. */
export const JOURNEY: readonly Station[] = [
  'encrypt',
  'exhaust',
  'slots_to_coeffs',
  'encapsulate',
  'encode_phase',
  'blind_rotate',
  'product_tree',
  'conjugate',
  'decrypt',
];

/** What a station is called and what happens there, for someone who meets it for the first time. */
export interface StationText {
  /** Full title. */
  readonly title: string;
  /** One or two short words, for narrow columns. */
  readonly short: string;
  /** The formula. */
  readonly formula: Html;
  /** Two or three sentences. */
  readonly body: string;
  /** What the lens shows here. */
  readonly lens: string;
}

/** Texts of the stations. */
export const STATIONS: Readonly<Record<Station, StationText>> = {
  encrypt: {
    title: 'Encrypt',
    short: 'Encrypt',
    formula: trusted('<i>ct</i> = (−<i>a</i>·<i>s</i> + <i>m</i> + <i>e</i>, <i>a</i>) mod <i>Q</i>'),
    body: 'Every number, which in a picture is the grey level of a pixel, becomes one slot of a polynomial m. A ciphertext is a pair of polynomials, b = −a·s + m + e and a, that look random. Anybody may see both, but it takes the secret key s to compute b + a·s, which is the message and a little noise e. The modulus Q is the water it floats in: the deeper, the more can still be computed.',
    lens: 'The slots of the fresh ciphertext, decrypted with your key.',
  },
  exhaust: {
    title: 'Exhaust',
    short: 'Exhausted',
    formula: trusted('<i>Q</i> = <i>q</i><sub>0</sub> <i>q</i><sub>s</sub> <i>q</i><sub>m</sub> → <i>q</i><sub>0</sub> <i>q</i><sub>s</sub>'),
    body: 'A product multiplies the scales of its factors, and their noise too. To bring both down again, ciphertext and modulus are divided by one prime of Q, and the ciphertext goes down a level. Here the last level that a product may spend is gone: the ciphertext is exhausted. The message is still inside and still secret. The level that is left is kept for the first stage of the bootstrapping.',
    lens: 'The slots of the exhausted ciphertext, decrypted with your key.',
  },
  slots_to_coeffs: {
    title: 'Slots to coefficients',
    short: 'Slots to coeffs',
    formula: trusted('<i>m</i>(<i>X</i>) = Σ <i>z</i><sub>i</sub> · <i>q</i><sub>0</sub>/γ · <i>X</i><sup>i</sup>'),
    body: 'A homomorphic matrix product, the inverse of the encoding, moves the numbers out of the slots into the coefficients, where the next steps can reach them one by one. It costs the level that was kept for it; of the modulus only q₀ is left.',
    lens: 'The first coefficients of the plaintext polynomial, at the scale of the message.',
  },
  encapsulate: {
    title: 'Switch to a sparse key',
    short: 'Sparse key',
    formula: trusted('<i>b</i> + <i>a</i>·<i>s</i> → <i>b</i>′ + <i>a</i>′·<i>s</i>′, <i>s</i>′ = Σ ±<i>X</i><sup>e<sub>k</sub></sup>'),
    body: 'A key switch re-encrypts the ciphertext under a secret with few non-zero coefficients, one in each block. Decrypting with it is a short sum: one term for every block. It is the message plus a multiple of q₀, and it is what will be computed under encryption.',
    lens: 'The same coefficients under the sparse key, as angles: fractions of the modulus.',
  },
  encode_phase: {
    title: 'Write phases',
    short: 'Phases',
    formula: trusted('<i>F</i><sub>t</sub> = exp(2πi · <i>a</i><sub>t</sub>/<i>q</i><sub>0</sub>)'),
    body: 'Decrypting is one sum, b′ + a′·s′, and b′ and a′ are public: whoever computes can write them down afresh, with a large modulus. Only the key is missing. They are written onto the unit circle, where a number modulo q₀ is an angle and adding numbers is multiplying points; b′ a quarter turn back, for a reason that comes with the sine.',
    lens: 'Plaintexts made from the ciphertext itself, which is public.',
  },
  blind_rotate: {
    title: 'Rotate blindly',
    short: 'Blind rotation',
    formula: trusted('slot <i>i</i> of track <i>k</i> = <i>F</i><sub>i − J<sub>k</sub></sub>'),
    body: 'Each block of the sparse key says: shift the angles by Jₖ places. The server performs the shift without learning Jₖ, by choosing under encryption among all candidates: the evaluation keys hold an encrypted 1 or 0 for each. The blocks are independent tracks; they can run side by side.',
    lens: 'The slots of the latest track: the angles, shifted by a secret amount.',
  },
  product_tree: {
    title: 'Multiply along a tree',
    short: 'Product tree',
    formula: trusted('ω<sup>(b + a·s′)<sub>i</sub></sup> = ω<sup>b<sub>i</sub></sup> · Π <i>F</i><sub>i − J<sub>k</sub></sub>'),
    body: 'Multiplying points adds angles, so the product of all tracks is the decryption itself, run inside the encryption: ω = exp(2πi/q₀) raised to the message. Whole turns vanish on the circle, and with them the multiples of q₀ that every other method has to remove by a polynomial.',
    lens: 'The slots at this level of the tree. Angles look random until the last product brings them home.',
  },
  conjugate: {
    title: 'Take the sine',
    short: 'Conjugate',
    formula: trusted('<i>p</i> + conj <i>p</i> = γ/2π · sin(2π<i>m</i>/<i>q</i><sub>0</sub>)'),
    body: 'The complex conjugate is the mirror image across the horizontal axis. Adding it cancels the height and doubles the width. The phases were written a quarter turn back, so the width is the sine of a small angle, which is the angle itself up to a known correction. The numbers are back in the slots, and a product may spend a level again.',
    lens: 'The slots of the refreshed ciphertext.',
  },
  decrypt: {
    title: 'Decrypt',
    short: 'Decrypt',
    formula: trusted('<i>m</i> + <i>e</i> = <i>b</i> + <i>a</i>·<i>s</i> mod <i>Q</i>'),
    body: 'Your key opens the refreshed ciphertext in this page. What differs from what you put in is measured below, slot by slot.',
    lens: 'What came back.',
  },
};

/** May products spend the levels of this station's ciphertext? Inside the bootstrapping, levels are for its stages. */
export function isSpendable(station: Station): boolean {
  return ['encrypt', 'exhaust', 'conjugate', 'decrypt'].includes(station);
}

/** Position of a station in the journey. */
export function stationIndex(station: Station): number {
  return JOURNEY.indexOf(station);
}

/** Is this an event of SHIP, the method that the stations show? */
export function isOfShip(event: AnyStageEvent): event is StageEvent {
  return isStation(event.stage);
}

/** Is this the name of a station? */
export function isStation(name: string): name is Station {
  return (JOURNEY as readonly string[]).includes(name);
}
