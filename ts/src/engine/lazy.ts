/** Something that is loaded when it is first needed; a failed load can be tried again. */
export class Lazy<T> {
  readonly #open: () => Promise<T>;
  #loading: Promise<T> | undefined;
  #loaded: T | undefined;

  constructor(open: () => Promise<T>) {
    this.#open = open;
  }

  /** What has been loaded, if it has. */
  get loaded(): T | undefined {
    return this.#loaded;
  }

  async load(): Promise<T> {
    try {
      this.#loaded = await (this.#loading ??= this.#open());
      return this.#loaded;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }
}
