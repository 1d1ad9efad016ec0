/** Counts by kind what the client did not understand of an answer, and quotes the first of each kind. */

export interface UnknownPart {
  /** What was not understood, such as `delta.thinking` or `empty data`. */
  what: string;
  count: number;
  /** The first occurrence, shortened. */
  example: string;
}

/** Most kinds that are counted separately, because a server chooses the names of its fields. */
const MOST_KINDS = 20;
const OTHERS = 'others';
const SHOWN = 120;

/** Shortens a server's text to its beginning, on one line. */
export function short(text: string, most = SHOWN): string {
  const line = text
    .slice(0, 4 * most)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > most || text.length > 4 * most ? `${line.slice(0, most)}…` : line;
}

export class UnknownParts {
  readonly #byKind = new Map<string, UnknownPart>();

  get list(): UnknownPart[] {
    return [...this.#byKind.values()];
  }

  note(what: string, example: string): void {
    this.add({ what: short(what), count: 1, example: short(example) });
  }

  add({ what, count, example }: UnknownPart): void {
    const isFull = this.#byKind.size >= MOST_KINDS && !this.#byKind.has(what);
    const kind = isFull ? OTHERS : what;
    const known = this.#byKind.get(kind);
    if (known) known.count += count;
    else this.#byKind.set(kind, { what: kind, count, example });
  }
}

export const unknownText = ({ what, count, example }: UnknownPart): string =>
  `not understood in the answers: ${what}, ${count === 1 ? 'once' : `${count} times`}, first '${example}'`;
