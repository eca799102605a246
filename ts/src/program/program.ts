import { listOf, named, shown } from '../api/arguments.js';
import { FLAG, NUMBER, checkOptions, oneOf, type Kind, type Kinds } from '../api/check-options.js';
import { RefloatError } from '../errors.js';
import type { Preset } from '../params.js';
import { uncloneable } from '../uncloneable.js';
import {
  copyOf,
  encodeProgram,
  partsOf,
  type Asked,
  type Bounds,
  type Matrix,
  type Numbers,
  type PolynomialBasis,
  type ProgramNode,
  type Reading,
  type Way,
} from './encode.js';

/**
 * A computation on ciphertexts of numbers or of exact integers, written with ordinary method calls and run in the page
 * (`BootstrapKeys.run()`, `ArithmeticKeys.run()`, `IntegerKeys.run()`, `IntegerArithmeticKeys.run()`) or on a server that has the keys
 * (`Server.run()`), with the same result. It says nothing about levels: they are planned where it runs, and bootstraps are inserted where
 * levels run out. A program that does not fit is refused, and the error names the node. On exact integers numbers are whole, rotations
 * move both rows, and `conjugate()` exchanges the rows.
 *
 * @example
 * ```ts
 * import { Program } from 'refloat';
 *
 * const p = new Program({ slots: 1024 }); // or `keys.params`
 * const x = p.input('x');
 * const y = x.mul([0.5, -0.25, 1]).rotateSum(4).polynomial([0.5, 0.25, 0, -0.02]);
 * p.output('score', y);
 * console.log(p.toBytes().length); // `await boot.run(p, { x })` runs it here, `await server.run(p, { x })` there
 * ```
 */
export class Program {
  /** Number of slots of a ciphertext of the set. */
  readonly slots: number;
  readonly #nodes: ProgramNode[] = [];

  /** A program for ciphertexts of a set. */
  constructor(params: Pick<Preset, 'slots'>) {
    if (!Number.isInteger(params?.slots)) {
      throw new RefloatError('INVALID_ARGUMENT', `a program needs to know the slots of a ciphertext, and got ${named(params)}; pass keys.params or { slots }`);
    }
    this.slots = params.slots;
    uncloneable(this, 'Program', 'build it there by the same calls');
  }

  /** A ciphertext that is given when the program is run. */
  input(name: string): Value {
    this.#mustBeNew(name, 'input');
    return this.#push({ kind: 'input', name: checked(name) });
  }

  /** Numbers known to everybody: one for every slot, or one per slot from the first on, followed by zeros. */
  constant(numbers: Numbers): Value {
    const count = partsOf(numbers).re.length;
    if (count === 0 || count > this.slots) {
      throw new RefloatError('INVALID_ARGUMENT', `${count} numbers for ${this.slots} slots; pass one, or at most one for each`);
    }
    return this.#push({ kind: 'constant', name: '', numbers: copyOf(numbers) });
  }

  /** Makes a value an output, under a name. */
  output(name: string, value: Value): void {
    this.#mustBeNew(name, 'output');
    this.#push({ kind: 'output', name: checked(name), x: this.indexOf(value) });
  }

  /** Names of the inputs, in order. */
  get inputs(): readonly string[] {
    return this.#nodes.filter((node) => node.kind === 'input').map((node) => node.name);
  }

  /** Names of the outputs, in order. */
  get outputs(): readonly string[] {
    return this.#nodes.filter((node) => node.kind === 'output').map((node) => node.name);
  }

  /** The encoding that the server takes and `refloat::circuits::program` reads. */
  toBytes(): Uint8Array {
    return encodeProgram(this.#nodes);
  }

  /** @internal */
  apply(node: ProgramNode): Value {
    return this.#push(node);
  }

  /** @internal */
  rename(index: number, name: string): void {
    const node = this.#nodes[index];
    if (!node || node.name === name) return;
    if (node.kind === 'input') this.#mustBeNew(name, 'input');
    node.name = checked(name);
  }

  /** Position of a value of this program. @internal */
  indexOf(value: Value): number {
    if (value?.program !== this) {
      const what = value instanceof Value ? 'a value of another program' : named(value);
      throw new RefloatError('INVALID_ARGUMENT', `a program takes values of its own, and got ${what}; make both with one program`);
    }
    return value.index;
  }

  #mustBeNew(name: string, kind: 'input' | 'output'): void {
    if ((kind === 'input' ? this.inputs : this.outputs).includes(name)) {
      throw new RefloatError('INVALID_ARGUMENT', `the program has an ${kind} "${name}" already; give this one another name`);
    }
  }

  #push(node: ProgramNode): Value {
    this.#nodes.push(node);
    return new Value(this, this.#nodes.length - 1);
  }
}

/**
 * A value inside a {@link Program}: every method adds a node to the program and returns that node's value.
 *
 * @example
 * ```ts
 * import { Program, type Value } from 'refloat';
 *
 * // Values are combined by ordinary functions; nothing is computed before the program runs.
 * const squaredDistance = (a: Value, b: Value): Value => {
 *   const difference = a.sub(b);
 *   return difference.mul(difference).rotateSum(4);
 * };
 * const p = new Program({ slots: 1024 }); // or `keys.params`
 * p.output('distance', squaredDistance(p.input('x'), p.input('y')).named('squared distance'));
 * console.log(p.inputs, p.outputs); // [ 'x', 'y' ] [ 'distance' ]
 * ```
 */
export class Value {
  /** @internal */
  readonly program: Program;
  /** @internal */
  readonly index: number;

  /** @internal */
  constructor(program: Program, index: number) {
    this.program = program;
    this.index = index;
  }

  /** this + other. */
  add(other: Value | Numbers): Value {
    return this.#with('add', other);
  }

  /** this - other. */
  sub(other: Value | Numbers): Value {
    return this.#with('subtract', other);
  }

  /** this · other, slot by slot: one level, unless `other` is a small integer. */
  mul(other: Value | Numbers): Value {
    return this.#with('multiply', other);
  }

  /** -this. */
  neg(): Value {
    return this.program.apply({ kind: 'negate', name: '', x: this.index });
  }

  /** Slots moved left by `steps` places (right if negative), cyclically. */
  rotate(steps: number): Value {
    if (!Number.isInteger(steps) || Math.abs(steps) >= 2 ** 31) {
      throw new RefloatError('INVALID_ARGUMENT', `a rotation by ${shown(steps)} slots; pass an integer`);
    }
    return this.program.apply({ kind: 'rotate', name: '', x: this.index, steps });
  }

  /** In every slot j, the sum of `count` slots j, j + stride, ...; `count` is a power of two: log2(count) rotations. */
  rotateSum(count: number, stride = 1): Value {
    if (!Number.isInteger(Math.log2(count)) || count < 1) {
      throw new RefloatError('INVALID_ARGUMENT', `a sum of ${count} slots by rotations; pass a power of two`);
    }
    const { slots } = this.program;
    if (count > slots) {
      throw new RefloatError('INVALID_ARGUMENT', `a sum of ${count} slots, and there are ${slots}; pass a power of two up to ${slots}`);
    }
    let sum: Value = this;
    for (let step = 1; step < count; step *= 2) sum = sum.add(sum.rotate(step * stride));
    return sum;
  }

  /** The complex conjugate of every slot. */
  conjugate(): Value {
    return this.program.apply({ kind: 'conjugate', name: '', x: this.index });
  }

  /**
   * A polynomial of every slot, with the lowest coefficient first: in powers or, with `interval`, in Chebyshev polynomials over that
   * interval, in which the slots must lie.
   */
  polynomial(coefficients: Numbers, options: { readonly interval?: readonly [number, number] | undefined } = {}): Value {
    checkOptions(options, 'polynomial()', { interval: INTERVAL });
    const { interval } = options;
    const basis: PolynomialBasis = interval ? { from: interval[0], to: interval[1] } : 'monomial';
    if (interval && !(interval[0] < interval[1] && interval.every(Number.isFinite))) {
      throw new RefloatError('INVALID_ARGUMENT', `an interval from ${interval[0]} to ${interval[1]}; pass finite ends in order`);
    }
    if (partsOf(coefficients).re.length === 0) {
      throw new RefloatError('INVALID_ARGUMENT', 'a polynomial without coefficients; pass at least one');
    }
    return this.program.apply({ kind: 'polynomial', name: '', x: this.index, basis, coefficients: copyOf(coefficients) });
  }

  /** The product with a square matrix that has a power of two of rows; slots must repeat with that period. */
  linearTransform(matrix: Matrix | readonly ArrayLike<number>[]): Value {
    const given = typeof matrix === 'object' && 'diagonals' in matrix ? matrix : diagonalsOf(matrix);
    if (!Number.isInteger(Math.log2(given.slots)) || given.slots < 1 || given.slots > this.program.slots) {
      throw new RefloatError(
        'INVALID_ARGUMENT',
        `a matrix of ${given.slots} rows for ${this.program.slots} slots; pass a power of two up to that`,
      );
    }
    return this.program.apply({ kind: 'linear transform', name: '', x: this.index, matrix: centred(given) });
  }

  /** The same slots with all the levels that a bootstrap leaves. Bootstraps are inserted where they are needed anyway. */
  bootstrap(): Value {
    return this.program.apply({ kind: 'bootstrap', name: '', x: this.index });
  }

  /**
   * The real part modulo `modulus`, in [0, modulus), or around 0 if `centred`, right to `bits` bits. Sets for modular reduction have this
   * and the methods below, and what they read is refreshed. A slot near one end of the range may come back at the other end.
   */
  mod(modulus: number, options: { readonly bits?: number | undefined; readonly centred?: boolean | undefined } = {}): Value {
    checkOptions(options, 'mod()', MOD);
    const { bits = 15, centred = false } = options;
    if (!(Number.isFinite(modulus) && modulus > 0)) {
      throw new RefloatError('INVALID_ARGUMENT', `numbers modulo ${shown(modulus)}; pass a number above 0`);
    }
    return this.#digits({ read: centred ? 'centred' : 'modulo', modulus, bits: whole(bits, 1, MAX_BITS, 'bits of a number') });
  }

  /** Integers modulo an integer, in [0, modulus). */
  intMod(modulus: number): Value {
    return this.#digits({ read: 'integer', modulus: whole(modulus, 2, Number.MAX_SAFE_INTEGER, 'as a modulus of integers') });
  }

  /** A bit of floor(2^bits x) for x modulo 1, 0 being the lowest; close to the end of a step, it may be that of the neighbouring step. */
  bit(bits: number, index: number): Value {
    const count = whole(bits, 1, MAX_BITS, 'bits of a number');
    return this.#digits({ read: 'bit', bits: count, index: whole(index, 0, count - 1, 'as a bit of a number') });
  }

  /** All bits of floor(2^count x) for x modulo 1, the lowest first. It is one reading, whichever bits are used. */
  bits(count: number): Value[] {
    return Array.from({ length: whole(count, 1, MAX_BITS, 'bits of a number') }, (_, index) => this.bit(count, index));
  }

  /**
   * The entry floor(t x) of a table of length t, for x modulo 1; close to the end of a step, the neighbouring entry may be returned. With
   * `exact` the slots are multiples of 1/t, and fewer digits have to be read.
   */
  lookUp(table: Numbers, options: { readonly exact?: boolean | undefined } = {}): Value {
    checkOptions(options, 'lookUp()', LOOK_UP);
    const count = partsOf(table).re.length;
    if (count < 2) throw new RefloatError('INVALID_ARGUMENT', `a table of ${count} values; pass 2 or more`);
    return this.#digits({ read: options.exact ? 'look up exactly' : 'look up', table: copyOf(table) });
  }

  /** The largest multiple of 1/`steps` that is not above x modulo 1, or the nearest one. */
  quantise(steps: number, options: { readonly nearest?: boolean | undefined } = {}): Value {
    checkOptions(options, 'quantise()', QUANTISE);
    const count = whole(steps, 2, 1 << 20, 'steps');
    const x = options.nearest ? this.add(0.5 / count) : this;
    return x.lookUp(Float64Array.from({ length: count }, (_, j) => j / count));
  }

  /**
   * 1 in the slot of the largest of the first `count` slots, and 0 in all others. Sets that link numbers to gates have this and the methods
   * below. Slots lie in [-1, 1], unless `bounds` says otherwise. Values that are close may be mistaken for each other, except on a grid,
   * where the first of several equal ones counts as the largest.
   */
  argmax(count: number, options: OrderOptions = {}): Value {
    checkOptions(options, 'argmax()', ORDER);
    return this.#order('argmax', count, options);
  }

  /** 1 in the slot of the smallest of the first `count` slots, and 0 in all others. */
  argmin(count: number, options: OrderOptions = {}): Value {
    checkOptions(options, 'argmin()', ORDER);
    return this.#order('argmin', count, options);
  }

  /** In each of the first `count` slots, the number of the others that are smaller; 0 in all remaining slots. */
  rank(count: number, options: OrderOptions = {}): Value {
    checkOptions(options, 'rank()', ORDER);
    return this.#order('rank', count, options);
  }

  /** 1 in the slots of the `most` largest of the first `count` slots, and 0 in all others. */
  top(count: number, most: number, options: OrderOptions = {}): Value {
    checkOptions(options, 'top()', ORDER);
    return this.#order({ top: whole(most, 1, slotsToCompare(count, 'top()'), 'of the largest') }, count, options);
  }

  /** 1 in each of the first `count` slots, which lie in [-1, 1], that is at least 0; 0 in all other slots. */
  sign(count: number, options: Pick<OrderOptions, 'by'> = {}): Value {
    checkOptions(options, 'sign()', SIGN);
    return this.#order('sign', count, options);
  }

  /** Gives the node a name, for messages. */
  named(name: string): this {
    this.program.rename(this.index, name);
    return this;
  }

  #order(asked: Asked, count: number, { bounds = 'signed', by }: OrderOptions): Value {
    const least = asked === 'sign' ? 1 : 2;
    slotsToCompare(count, typeof asked === 'string' ? `${asked}()` : 'top()');
    if (typeof bounds !== 'string') whole(bounds.grid, 1, MAX_BITS, 'bits of a grid');
    return this.#digits({ read: 'order', asked, count: whole(count, least, this.program.slots, 'slots to compare'), bounds, by });
  }

  #digits(reading: Reading): Value {
    return this.program.apply({ kind: 'digits', name: '', x: this.index, reading });
  }

  #with(kind: 'add' | 'subtract' | 'multiply', other: Value | Numbers): Value {
    const y = other instanceof Value ? other : this.program.constant(other);
    return this.program.apply({ kind, name: '', x: this.index, y: this.program.indexOf(y) });
  }
}

/** How slots are compared, and where they lie. */
export interface OrderOptions {
  /** Where compared slots lie; [-1, 1] by default. */
  readonly bounds?: Bounds | undefined;
  /** How to compare, on sets that have both ways; the cheaper one by default. */
  readonly by?: Way | undefined;
}

/** Options of a look-up. @internal */
export const LOOK_UP = { exact: FLAG };

/** Options of a rounding to steps. @internal */
export const QUANTISE = { nearest: FLAG };

/** Options of a reduction modulo a number. @internal */
export const MOD = { bits: NUMBER, centred: FLAG };

/** Options of a question about signs. @internal */
export const SIGN: Kinds<Pick<OrderOptions, 'by'>> = { by: oneOf('gates', 'digits') };

/** @internal */
export const ORDER: Kinds<OrderOptions> = {
  bounds: [
    (value) => value === 'signed' || value === 'unit' || (typeof value === 'object' && value !== null && 'grid' in value),
    "'signed', 'unit' or { grid: bits }",
  ],
  ...SIGN,
};

const INTERVAL: Kind = [
  (value) => (Array.isArray(value) || value instanceof Float64Array) && value.length === 2 && value.every((end) => typeof end === 'number'),
  'two numbers, such as [-1, 1]',
];

/** Most bits of a number that a program can ask for. */
const MAX_BITS = 52;

function slotsToCompare(count: number, where: string): number {
  if (typeof count === 'number') return count;
  throw new RefloatError('INVALID_ARGUMENT', `${where} takes the number of slots to compare, and got ${named(count)}; pass an integer, such as 4`);
}

function whole(x: number, least: number, most: number, what: string): number {
  if (Number.isInteger(x) && x >= least && x <= most) return x;
  throw new RefloatError('INVALID_ARGUMENT', `${shown(x)} ${what}; pass an integer from ${least} to ${most}`);
}

/** The same matrix with its diagonals as they are written: in ascending order, above -slots/2 and up to slots/2. */
function centred({ slots, diagonals }: Matrix): Matrix {
  const found = new Map<number, Numbers>();
  for (const [k, diagonal] of diagonals) {
    const around = ((k % slots) + slots) % slots;
    const at = around > slots / 2 ? around - slots : around;
    if (!Number.isInteger(k) || found.has(at)) {
      const other = Number.isInteger(k) ? `, which is another one counted modulo ${slots}` : '';
      throw new RefloatError('INVALID_ARGUMENT', `diagonal ${k} of a matrix of ${slots} rows${other}; number each by an integer of its own`);
    }
    if (partsOf(diagonal).re.length !== slots) {
      throw new RefloatError('INVALID_ARGUMENT', `diagonal ${k} of a matrix of ${slots} rows; pass one number for each`);
    }
    found.set(at, copyOf(diagonal));
  }
  return { slots, diagonals: new Map([...found].sort(([j], [k]) => j - k)) };
}

/** A matrix that is given by its rows, as its nonzero diagonals. */
function diagonalsOf(rows: readonly ArrayLike<number>[]): Matrix {
  const slots = listOf(rows, 'linearTransform()', 'a list of rows, or { slots, diagonals }').length;
  const bad = rows.findIndex((row) => row.length !== slots);
  if (bad >= 0) {
    throw new RefloatError('INVALID_ARGUMENT', `row ${bad} of a matrix of ${slots} rows has another length; pass a square matrix`);
  }
  const diagonals = new Map<number, Numbers>();
  for (let k = 0; k < slots; k++) {
    const diagonal = rows.map((row, i) => row[(i + k) % slots] as number);
    if (diagonal.some((x) => x !== 0)) diagonals.set(k, diagonal);
  }
  return { slots, diagonals };
}

function checked(name: string): string {
  if (typeof name !== 'string') throw new RefloatError('INVALID_ARGUMENT', `a node of a program has a name, and got ${named(name)}; pass a string`);
  if (!/^[ !#-[\]-~]{1,64}$/.test(name)) {
    throw new RefloatError('INVALID_ARGUMENT', `"${name}" cannot be the name of a node; use 1 to 64 printable ASCII characters but " and \\`);
  }
  return name;
}
