/** When a program made progress. If there are more marks than are kept, every second, fourth, … one stays. */

const MOST_MARKS = 65_536;

export class ProgressMarks {
  readonly #most: number;
  #kept: number[] = [];
  #seen = 0;
  #stride = 1;

  constructor(most = MOST_MARKS) {
    this.#most = most;
  }

  add(atNs: number): void {
    if (this.#seen++ % this.#stride !== 0) return;
    this.#kept.push(atNs);
    if (this.#kept.length <= this.#most) return;
    this.#kept = this.#kept.filter((_, i) => i % 2 === 0);
    this.#stride *= 2;
  }

  get marksNs(): readonly number[] {
    return this.#kept;
  }
}
