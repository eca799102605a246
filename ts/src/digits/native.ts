/** Sets for modular reduction that are linked to gates: their keys are made by the command line and the library. @internal */
export type NativeOnly = 'msb16+fbs16-50' | 'toy-msb-link';
