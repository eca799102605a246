import type { Plugin } from 'vite';

/**
 * Makes the worker load the glue of a wasm module together with the module, when it is first needed. The package's workers import the glue
 * of all modules at once, since not every bundler splits a worker. Vite does, and a page needs only one or two modules.
 */
export function glueOnDemand(): Plugin {
  return {
    name: 'refloat-glue-on-demand',
    enforce: 'pre',
    resolveId(source, importer, options) {
      if (!source.endsWith('/worker-modules.js')) return null;
      return this.resolve(source.replace('worker-modules', 'direct-modules'), importer, { ...options, skipSelf: true });
    },
  };
}
