/** Results that several metrics of a round share: computed for the first metric that asks, then reused. */
export class Once {
  readonly #made = new Map<string, Promise<unknown>>();

  /** A failed computation is tried again for the next metric that asks. */
  async get<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#made.get(key) as Promise<T> | undefined;
    if (known) return known;
    const made = make();
    this.#made.set(key, made);
    try {
      return await made;
    } catch (error) {
      this.#made.delete(key);
      throw error;
    }
  }
}
