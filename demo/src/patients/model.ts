/** A row of the data. */
export interface Patient {
  /** Thirty measurements in [-1, 1]. */
  readonly measurements: readonly number[];
  readonly malignant: boolean;
}

/** sigmoid(R (w x + v x² + b)), with w x + v x² + b in [-1, 1]. */
export interface Model {
  readonly linear: readonly number[];
  readonly quadratic: readonly number[];
  readonly bias: number;
  readonly range: number;
  /** sigmoid(R t) in Chebyshev polynomials of t. */
  readonly sigmoid: readonly number[];
}

const STEPS = 400;
const RATE = 2;
const PENALTY = 2e-3;
/** How much further the model's margin may go than on any training row. */
const MARGIN = 1.25;
const DEGREE = 31;

/**
 * Patients of the data set, given as text: of three rows two for training and one for testing; measurements in units of four standard
 * deviations from the mean, clipped to [-1, 1].
 */
export function patients(csv: string): { train: Patient[]; test: Patient[] } {
  const rows = csv.trim().split('\n').slice(1).map((line) => line.split(','));
  const all = rows.map(([diagnosis, ...numbers]) => ({ malignant: diagnosis === 'M', measurements: numbers.map(Number) }));
  const isTest = (_: unknown, i: number): boolean => i % 3 === 2;
  const train = all.filter((patient, i) => !isTest(patient, i));
  const moments = (train[0]?.measurements ?? []).map((_, j) => {
    const values = train.map((patient) => patient.measurements[j] ?? 0);
    const mean = sum(values) / values.length;
    return [mean, Math.sqrt(sum(values.map((x) => (x - mean) ** 2)) / values.length)] as const;
  });
  for (const patient of all) {
    patient.measurements = patient.measurements.map((x, j) => {
      const [mean, deviation] = moments[j] ?? [0, 1];
      return Math.min(1, Math.max(-1, (x - mean) / (4 * deviation)));
    });
  }
  return { train, test: all.filter(isTest) };
}

/** Gradient descent on the logistic loss with a penalty on large weights, from zero. */
export function trained(rows: readonly Patient[]): Model {
  const width = rows[0]?.measurements.length ?? 0;
  const [w, v] = [new Float64Array(width), new Float64Array(width)];
  let b = 0;
  const value = (x: readonly number[]): number => b + sum(x.map((x, j) => x * (w[j] as number) + x * x * (v[j] as number)));
  for (let step = 0; step < STEPS; step++) {
    const [dw, dv] = [new Float64Array(width), new Float64Array(width)];
    let db = 0;
    for (const { measurements: x, malignant } of rows) {
      const off = exact(value(x)) - Number(malignant);
      x.forEach((x, j) => {
        dw[j] = (dw[j] as number) + off * x;
        dv[j] = (dv[j] as number) + off * x * x;
      });
      db += off;
    }
    for (let j = 0; j < width; j++) {
      w[j] = (w[j] as number) * (1 - RATE * PENALTY) - (RATE / rows.length) * (dw[j] as number);
      v[j] = (v[j] as number) * (1 - RATE * PENALTY) - (RATE / rows.length) * (dv[j] as number);
    }
    b -= (RATE / rows.length) * db;
  }
  const range = MARGIN * Math.max(...rows.map(({ measurements }) => Math.abs(value(measurements))));
  const over = (weights: Float64Array): number[] => Array.from(weights, (x) => x / range);
  return { linear: over(w), quadratic: over(v), bias: b / range, range, sigmoid: interpolated((t) => exact(range * t)) };
}

/** w x + v x² + b of a patient in the clear, in [-1, 1]. */
export function marginOf(model: Model, x: readonly number[]): number {
  return model.bias + sum(x.map((x, j) => x * (model.linear[j] ?? 0) + x * x * (model.quadratic[j] ?? 0)));
}

/** The score of a patient in the clear, by the polynomial or by the exact sigmoid. */
export function score(model: Model, x: readonly number[], how: 'polynomial' | 'exact'): number {
  const t = marginOf(model, x);
  if (how === 'exact') return exact(model.range * t);
  // Clenshaw's recurrence.
  let [next, after] = [0, 0];
  for (const c of model.sigmoid.slice(1).reverse()) [next, after] = [c + 2 * t * next - after, next];
  return (model.sigmoid[0] ?? 0) + t * next - after;
}

/** Interpolation at the Chebyshev nodes; even coefficients except the first are zero, as sigmoid - 1/2 is odd. */
function interpolated(f: (t: number) => number): number[] {
  const count = DEGREE + 1;
  const angles = Array.from({ length: count }, (_, i) => ((i + 0.5) * Math.PI) / count);
  return angles.map((_, k) => {
    if (k % 2 === 0) return k === 0 ? 0.5 : 0;
    return (2 / count) * sum(angles.map((angle) => f(Math.cos(angle)) * Math.cos(k * angle)));
  });
}

function exact(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

function sum(values: readonly number[]): number {
  return values.reduce((sum, x) => sum + x, 0);
}
