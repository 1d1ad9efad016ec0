/** Texts made of others by seeded changes: the same in every run. */
import fc from 'fast-check';

/** Cuts, repeats and replaces parts of one of `texts`, and inserts some of `pieces`. */
export function changedText(texts: readonly string[], pieces: readonly string[]): fc.Arbitrary<string> {
  const part = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(40));
  const change = fc.oneof(
    fc.record({ by: fc.constant('insert' as const), part, piece: fc.constantFrom(...pieces), times: fc.nat(3) }),
    fc.record({ by: fc.constant('replace' as const), part, piece: fc.constantFrom(...pieces), times: fc.nat(3) }),
    fc.record({ by: fc.constant('repeat' as const), part, piece: fc.constant(''), times: fc.nat(50) }),
    fc.record({ by: fc.constant('end' as const), part, piece: fc.constant(''), times: fc.constant(0) }),
  );
  return fc
    .tuple(fc.constantFrom(...texts), fc.array(change, { minLength: 1, maxLength: 6 }))
    .map(([text, changes]) => changes.reduce(changed, text));
}

interface Change {
  by: 'insert' | 'replace' | 'repeat' | 'end';
  /** Where, as a share of the text, and how many characters. */
  part: [number, number];
  piece: string;
  times: number;
}

function changed(text: string, { by, part: [share, length], piece, times }: Change): string {
  const from = Math.floor(share * text.length);
  const to = from + length;
  if (by === 'end') return text.slice(0, from);
  const [before, middle, after] = [text.slice(0, from), text.slice(from, to), text.slice(to)];
  if (by === 'insert') return before + piece.repeat(times) + middle + after;
  return before + (by === 'repeat' ? middle.repeat(times) : piece.repeat(times)) + after;
}

/** The same cases in every run; a failure names its own. */
export const seeded = (numRuns: number) => ({ seed: 28, numRuns });
