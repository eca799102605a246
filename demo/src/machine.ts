import { decimal } from './format.js';

/** The machine that a command ran on, as `refloat` prints it. */
export interface Machine {
  readonly cpu: string;
  readonly threads: number;
  readonly system: string;
  readonly backend: string;
  /** Of the last minute; above 1 a thread, the machine did other things too. */
  readonly load: number | null;
}

/** A machine in words, and whether it did other things too. */
export function machineWords({ cpu, threads, backend, load }: Machine): string {
  const busy = load !== null && load > threads ? `; it was busy with other things, load ${decimal(load, 1)}, so times are longer than they need be` : '';
  return `${cpu}, backend ${backend}${busy}`;
}
