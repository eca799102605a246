import { listOf, named } from '../api/arguments.js';
import { Encrypted } from '../api/encrypted.js';
import { RefloatError } from '../errors.js';

/** Numbers known to everybody: reals, or pairs of parts. */
export type Numbers = number | ArrayLike<number> | { readonly re: ArrayLike<number>; readonly im: ArrayLike<number> };

/** What a polynomial's coefficients multiply: powers, or Chebyshev polynomials over an interval. */
export type PolynomialBasis = 'monomial' | { readonly from: number; readonly to: number };

/** A square matrix, with a power of two of rows, given by its diagonals: y_i = sum over k of `diagonals.get(k)[i]` x_(i+k). */
export interface Matrix {
  /** Number of rows. */
  readonly slots: number;
  /** The diagonals by k, counted modulo `slots`. */
  readonly diagonals: ReadonlyMap<number, Numbers>;
}

/** A node as it is written. @internal */
export type ProgramNode = { name: string } & (
  | { readonly kind: 'input' }
  | { readonly kind: 'constant'; readonly numbers: Numbers }
  | { readonly kind: 'add' | 'subtract' | 'multiply'; readonly x: number; readonly y: number }
  | { readonly kind: 'negate' | 'conjugate' | 'bootstrap' | 'output'; readonly x: number }
  | { readonly kind: 'rotate'; readonly x: number; readonly steps: number }
  | { readonly kind: 'polynomial'; readonly x: number; readonly basis: PolynomialBasis; readonly coefficients: Numbers }
  | { readonly kind: 'linear transform'; readonly x: number; readonly matrix: Matrix }
  | { readonly kind: 'digits'; readonly x: number; readonly reading: Reading }
);

/** What is read from the digits of every slot. @internal */
export type Reading =
  | { readonly read: 'modulo' | 'centred'; readonly modulus: number; readonly bits: number }
  | { readonly read: 'integer'; readonly modulus: number }
  | { readonly read: 'bit'; readonly bits: number; readonly index: number }
  | { readonly read: 'look up' | 'look up exactly'; readonly table: Numbers }
  | { readonly read: 'order'; readonly asked: Asked; readonly count: number; readonly bounds: Bounds; readonly by?: Way | undefined };

/** What is asked about the order of slots; for `top`, of how many. @internal */
export type Asked = 'sign' | 'rank' | 'argmax' | 'argmin' | { readonly top: number };

/** Where compared slots lie: in [-1, 1], in [0, 1], or at multiples of 2^-`grid` in there, which are compared exactly. */
export type Bounds = 'signed' | 'unit' | { readonly grid: number };

/** How slots are compared: by one blind rotation per pair, or all pairs at once by the highest digit of their differences. */
export type Way = 'gates' | 'digits';

const KINDS = [
  'input',
  'constant',
  'add',
  'subtract',
  'multiply',
  'negate',
  'rotate',
  'conjugate',
  'polynomial',
  'linear transform',
  'bootstrap',
  'output',
  'digits',
] as const;

const READINGS = ['modulo', 'centred', 'integer', 'bit', 'look up', 'look up exactly', 'order'] as const;

const ASKED = ['sign', 'rank', 'argmax', 'argmin'] as const;

/** Added to a question's code if the program says how to compare. */
const BY = { gates: 16, digits: 32 } as const;

/** Version of the encoding for programs that read digits, compare, or say how to compare; all others have version 1. */
const VERSION = { digits: 2, orders: 3, ways: 4 };

/** The bytes of a program, as `circuits::program` of the core reads them. @internal */
export function encodeProgram(nodes: readonly ProgramNode[]): Uint8Array {
  const out = new Writer();
  out.text('rfprog');
  const readings = nodes.filter((node) => node.kind === 'digits').map((node) => node.reading);
  out.u16(Math.max(1, ...readings.map((reading) => (reading.read !== 'order' ? VERSION.digits : reading.by === undefined ? VERSION.orders : VERSION.ways))));
  out.u32(nodes.length);
  for (const node of nodes) {
    out.u8(KINDS.indexOf(node.kind));
    out.u8(node.name.length);
    out.text(node.name);
    if ('x' in node) out.u32(node.x);
    if ('y' in node) out.u32(node.y);
    if (node.kind === 'constant') out.numbers(node.numbers);
    if (node.kind === 'rotate') out.i32(node.steps);
    if (node.kind === 'polynomial') {
      if (node.basis === 'monomial') {
        out.u8(0);
      } else {
        out.u8(1);
        out.f64(node.basis.from);
        out.f64(node.basis.to);
      }
      out.numbers(node.coefficients);
    }
    if (node.kind === 'linear transform') {
      const { slots, diagonals } = node.matrix;
      out.u32(slots);
      out.u32(diagonals.size);
      for (const [k, numbers] of diagonals) {
        out.i32(k);
        out.numbers(numbers);
      }
    }
    if (node.kind === 'digits') writeReading(out, node.reading);
  }
  return out.bytes();
}

function writeReading(out: Writer, reading: Reading): void {
  out.u8(READINGS.indexOf(reading.read));
  switch (reading.read) {
    case 'modulo':
    case 'centred':
      out.f64(reading.modulus);
      out.u32(reading.bits);
      break;
    case 'integer':
      out.u64(reading.modulus);
      break;
    case 'bit':
      out.u32(reading.bits);
      out.u32(reading.index);
      break;
    case 'order':
      writeOrder(out, reading);
      break;
    default:
      out.numbers(reading.table);
  }
}

function writeOrder(out: Writer, { asked, count, bounds, by }: Extract<Reading, { read: 'order' }>): void {
  out.u8((typeof asked === 'string' ? ASKED.indexOf(asked) : ASKED.length) + (by === undefined ? 0 : BY[by]));
  out.u32(count);
  if (typeof asked !== 'string') out.u32(asked.top);
  out.u8(typeof bounds === 'string' ? ['signed', 'unit'].indexOf(bounds) : 2);
  if (typeof bounds !== 'string') out.u32(bounds.grid);
}

/** Real and imaginary parts; real numbers have no imaginary parts. @internal */
export function partsOf(numbers: Numbers): { re: ArrayLike<number>; im: ArrayLike<number> | undefined } {
  const list = (values: unknown) => listOf(values, 'a program', 'numbers, lists of numbers and its own values') as ArrayLike<number>;
  const given: unknown = numbers;
  if (given instanceof Encrypted) {
    const repair = "make it an input, const y = program.input('y'), and pass { y: ciphertext } to run()";
    throw new RefloatError('INVALID_ARGUMENT', `a program takes numbers, lists of numbers and its own values, and got ${named(given)}; ${repair}`);
  }
  const parts =
    typeof numbers === 'number'
      ? { re: [numbers], im: undefined }
      : typeof given === 'object' && given !== null && 're' in given
        ? { re: list(given.re), im: 'im' in given && given.im !== undefined ? list(given.im) : undefined }
        : { re: list(given), im: undefined };
  if (parts.im !== undefined && parts.im.length !== parts.re.length) {
    throw new RefloatError(
      'INVALID_ARGUMENT',
      `${parts.re.length} real parts do not go with ${parts.im.length} imaginary ones; pass arrays of equal length`,
    );
  }
  for (const list of [parts.re, parts.im ?? []]) {
    for (let i = 0; i < list.length; i++) {
      if (!Number.isFinite(list[i])) {
        throw new RefloatError('INVALID_ARGUMENT', `number ${i} of a program is ${String(list[i])}; pass finite numbers`);
      }
    }
  }
  return parts;
}

/** The same numbers, whatever the caller does with the arrays afterwards. @internal */
export function copyOf(numbers: Numbers): Numbers {
  const { re, im } = partsOf(numbers);
  return im ? { re: Float64Array.from(re), im: Float64Array.from(im) } : Float64Array.from(re);
}

class Writer {
  #bytes = new Uint8Array(1 << 10);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  u8(x: number): void {
    const at = this.#room(1);
    this.#view.setUint8(at, x);
  }

  u16(x: number): void {
    const at = this.#room(2);
    this.#view.setUint16(at, x, true);
  }

  u32(x: number): void {
    const at = this.#room(4);
    this.#view.setUint32(at, x, true);
  }

  u64(x: number): void {
    const at = this.#room(8);
    this.#view.setBigUint64(at, BigInt(x), true);
  }

  i32(x: number): void {
    const at = this.#room(4);
    this.#view.setInt32(at, x, true);
  }

  f64(x: number): void {
    const at = this.#room(8);
    this.#view.setFloat64(at, x, true);
  }

  text(text: string): void {
    for (let i = 0; i < text.length; i++) this.u8(text.charCodeAt(i));
  }

  /** Writes numbers; complex numbers that are all real are written as reals, as the core does. */
  numbers(numbers: Numbers): void {
    const { re, im } = partsOf(numbers);
    const complex = im !== undefined && Array.prototype.some.call(im, (x: number) => x !== 0);
    this.u32(re.length);
    this.u8(complex ? 2 : 1);
    for (let i = 0; i < re.length; i++) {
      this.f64(re[i] as number);
      if (complex) this.f64(im[i] as number);
    }
  }

  /** Makes room for `count` bytes and returns where they go; the view may be a new one afterwards. */
  #room(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(2 * this.#length);
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return at;
  }
}
