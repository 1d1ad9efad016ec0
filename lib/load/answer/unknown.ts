/** What of an answer the client did not understand: counted by kind, and the first of each kind quoted. */

export interface Unknown {
  /** Such as `delta.thinking` or `empty data`. */
  what: string;
  count: number;
  /** The first of them, shortened. */
  example: string;
}

/** A server chooses the names of its fields: more kinds than these are counted together. */
const MOST_KINDS = 20;
const OTHERS = 'others';
const SHOWN = 120;

/** The beginning of a text from a server, on one line. */
export function short(text: string, most = SHOWN): string {
  const line = text
    .slice(0, 4 * most)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > most || text.length > 4 * most ? `${line.slice(0, most)}…` : line;
}

export class UnknownParts {
  readonly #byKind = new Map<string, Unknown>();

  get list(): Unknown[] {
    return [...this.#byKind.values()];
  }

  note(what: string, example: string): void {
    this.add({ what: short(what), count: 1, example: short(example) });
  }

  add({ what, count, example }: Unknown): void {
    const isFull = this.#byKind.size >= MOST_KINDS && !this.#byKind.has(what);
    const kind = isFull ? OTHERS : what;
    const known = this.#byKind.get(kind);
    if (known) known.count += count;
    else this.#byKind.set(kind, { what: kind, count, example });
  }
}

export const unknownText = ({ what, count, example }: Unknown): string =>
  `not understood in the answers: ${what}, ${count === 1 ? 'once' : `${count} times`}, first '${example}'`;
