/** What several metrics of a round read off the same processes: the first that asks makes it, the others get it. */
export class Once {
  readonly #made = new Map<string, Promise<unknown>>();

  /** What failed is tried anew for the next one that asks. */
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
