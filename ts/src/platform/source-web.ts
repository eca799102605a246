/** In browsers the generated glue finds its own file through `import.meta.url`. */
export function defaultSource(_artefact: 'full' | 'client' | 'gates'): Promise<BufferSource | undefined> {
  return Promise.resolve(undefined);
}
