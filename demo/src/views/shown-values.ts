import { JOURNEY } from '../stages.js';
import { specimenAt, viewAt, type Moment, type Voyage } from '../voyage.js';

/** Real numbers to look at, with the slot each belongs to. */
export interface Seen {
  readonly values: Float64Array;
  readonly indices?: Uint32Array;
  /** Are they bits, between zero and one, rather than between minus one and one? */
  readonly bits?: boolean;
}

/** A complex plane to look at. */
export interface Plane {
  /** Interleaved re, im. */
  readonly points: Float64Array;
  readonly indices?: Uint32Array;
  /** Radius of the circle that is drawn: the one that the points lie on, or 1 for real numbers. */
  readonly radius: number;
  /** Are the points angles on the circle rather than numbers on the real axis? */
  readonly angles: boolean;
}

/** How far from the origin, in radii, a point may lie without leaving the drawing. */
const ROOM = 1.12;

/** Length of the circle's radius in a square drawing of side 1: smaller where points lie far outside the circle. */
export function unitOf(plane: Plane): number {
  let most = ROOM;
  for (let i = 0; i < plane.points.length; i += 2) {
    const distance = Math.hypot(plane.points[i] ?? 0, plane.points[i + 1] ?? 0) / plane.radius;
    if (Number.isFinite(distance)) most = Math.max(most, distance);
  }
  return (0.41 * ROOM) / most;
}

/** What the lens shows at a moment: one real number per slot, in units of the message. */
export function seenAt(voyage: Voyage, moment: Moment): Seen | undefined {
  const specimen = specimenAt(voyage, JOURNEY[moment.station]);
  const bits = voyage.preset.mode === 'bits';
  if (specimen) return { values: specimen.slots, bits };
  const view = viewAt(voyage, moment);
  if (!view) return undefined;
  if (view.view !== 'slots') {
    // Real pictures fill the first half of the coefficients; the second half belongs to imaginary
    // parts. Phases are the message divided by the gap between it and the modulus, in turns.
    const count = view.indices.findIndex((i) => i >= voyage.input.length);
    const unit = view.view === 'phases' ? 2 ** (view.bitsMax + Math.log2(view.maxError)) : 1;
    const end = count < 0 ? view.data.length : count;
    return { values: view.data.slice(0, end).map((x) => x / unit), indices: view.indices.slice(0, end), bits };
  }
  const plane = circleOf(view.data, view.indices);
  // Where the angles still hide the message, the real part on the unit circle; at the root, the
  // public factor -i has put the sine of the angle on the real axis, at half its height.
  const station = JOURNEY[moment.station];
  const root = station === 'product_tree' && moment.part === voyage.preset.treeLevels;
  const factor = station === 'conjugate' ? 1 : root ? 2 : 1 / plane.radius;
  // The root of a tree of bits lacks the constant one half.
  const offset = bits && root ? 0.5 : 0;
  const values = Float64Array.from(view.indices, (_, i) => (plane.points[2 * i] ?? 0) * factor + offset);
  return { values, indices: view.indices, bits: bits && (root || station === 'conjugate') };
}

/** The complex slots at a moment, where there are any. */
export function planeAt(voyage: Voyage, moment: Moment): Plane | undefined {
  const view = viewAt(voyage, moment);
  if (view?.view === 'slots') {
    // Conjugates have cancelled the height: what is left is the message, on the real axis.
    if (JOURNEY[moment.station] === 'conjugate') return { points: view.data, indices: view.indices, radius: 1, angles: false };
    return circleOf(view.data, view.indices);
  }
  if (view) {
    const seen = seenAt(voyage, moment);
    if (!seen) return undefined;
    const points = new Float64Array(2 * seen.values.length);
    seen.values.forEach((value, i) => {
      const turn = view.view === 'phases' ? (view.data[i] ?? 0) : undefined;
      points[2 * i] = turn === undefined ? value : Math.cos(2 * Math.PI * turn);
      points[2 * i + 1] = turn === undefined ? 0 : Math.sin(2 * Math.PI * turn);
    });
    return { points, radius: 1, angles: view.view === 'phases', ...(seen.indices ? { indices: seen.indices } : {}) };
  }
  const specimen = specimenAt(voyage, JOURNEY[moment.station]);
  if (!specimen) return undefined;
  const stride = Math.max(1, Math.ceil(specimen.slots.length / 1024));
  const count = Math.floor(specimen.slots.length / stride);
  const points = new Float64Array(2 * count);
  const indices = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    points[2 * i] = specimen.slots[i * stride] ?? 0;
    indices[i] = i * stride;
  }
  return { points, indices, radius: 1, angles: false };
}

function circleOf(points: Float64Array, indices: Uint32Array): Plane {
  // The median distance from the origin: the circle the slots lie on.
  const distances = new Float64Array(points.length / 2);
  for (let i = 0; i < distances.length; i++) distances[i] = Math.hypot(points[2 * i] ?? 0, points[2 * i + 1] ?? 0);
  distances.sort();
  return { points, indices, radius: distances[distances.length >> 1] || 1, angles: true };
}

/** Direction and width, in radians, of the arc that holds all points; a full turn if they are spread. */
export function gathered(points: Float64Array): { middle: number; spread: number } {
  const angles = new Float64Array(points.length / 2);
  for (let i = 0; i < angles.length; i++) angles[i] = Math.atan2(points[2 * i + 1] ?? 0, points[2 * i] ?? 0);
  angles.sort();
  let gap = 2 * Math.PI - ((angles[angles.length - 1] ?? 0) - (angles[0] ?? 0));
  let start = angles[0] ?? 0;
  for (let i = 1; i < angles.length; i++) {
    const between = (angles[i] ?? 0) - (angles[i - 1] ?? 0);
    if (between > gap) {
      gap = between;
      start = angles[i] ?? 0;
    }
  }
  const spread = 2 * Math.PI - gap;
  return { middle: start + spread / 2, spread };
}
