/// <reference lib="esnext.disposable" preserve="true" />
/*
 * Names of the platform in the package's types. Where a program's libraries have them (DOM, @types/node), these declarations add
 * nothing; where they have not, the types of the package are whole all the same, without bringing a library along.
 */
declare global {
  interface AbortSignal {}
  interface Headers {}
  // Parameters of a generic interface are the same in each of its declarations.
  interface ReadableStream<R = any> {}
  interface RequestInit {}
  interface Response {}
  interface URL {}
  interface Worker {}
  namespace WebAssembly {
    interface Memory {}
    interface Module {}
    interface Table {}
  }
}

/** Bytes that a wasm module is made from. */
export type WasmBytes = ArrayBuffer | ArrayBufferView;

/** `fetch`, as far as this package uses it. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;
