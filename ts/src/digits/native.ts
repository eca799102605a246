/** Sets for modular reduction that are linked to gates: their keys are made by the command line and the library. @internal */
export const NATIVE_ONLY = ['msb16+fbs16-50', 'toy-msb-link'] as const;

/** Their names. @internal */
export type NativeOnly = (typeof NATIVE_ONLY)[number];
