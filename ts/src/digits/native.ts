/** Sets for modular reduction that are linked to gates; only the command line and the library make their keys. @internal */
export const NATIVE_ONLY = ['msb16+fbs16-50', 'toy-msb-link'] as const;

/** Their names. @internal */
export type NativeOnly = (typeof NATIVE_ONLY)[number];
