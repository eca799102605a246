/// <reference lib="esnext.disposable" preserve="true" />
/*
 * Names of the platform in the package's types. If a program's libraries have them (DOM, @types/node), these declarations add nothing. If
 * not, the package's types are still complete, without bringing a library along.
 */
declare global {
  interface AbortSignal {}
  interface Headers {}
  // Every declaration of a generic interface must have the same parameters.
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
