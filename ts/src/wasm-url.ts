/**
 * The value of `import url from 'refloat/refloat_full.wasm'` if a bundler is told to emit the file and to give its URL. Only types for the
 * package's wasm files, no code.
 *
 * @packageDocumentation
 */
declare const url: string;
export default url;
