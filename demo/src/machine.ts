import { decimal } from './format.js';

/** The machine that a command ran on, as `refloat` prints it. */
export interface Machine {
  readonly cpu: string;
  readonly threads: number;
  readonly system: string;
  readonly backend: string;
  /** Load average of the last minute; above one per thread, the machine was doing other things too. */
  readonly load: number | null;
}

/** A machine in words, and whether it was doing other things too. */
export function machineWords({ cpu, threads, backend, load }: Machine): string {
  const busy = load !== null && load > threads ? `; it was busy with other things, load ${decimal(load, 1)}, so times are longer than they need be` : '';
  return `${cpu}, backend ${backend}${busy}`;
}
