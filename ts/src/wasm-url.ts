/**
 * What `import url from 'refloat/refloat_full.wasm'` gives where a bundler is told to emit the file and to give its URL: the types of
 * the package's wasm files, and no code.
 *
 * @packageDocumentation
 */
declare const url: string;
export default url;
