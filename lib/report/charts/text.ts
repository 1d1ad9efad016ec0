/**
 * Estimates text widths and wraps names to fit. Nothing can be measured: a page is written without a browser and
 * read with unknown fonts. The estimates are for DejaVu Sans at 12 pixels, the widest common font.
 */
const WIDTHS: [RegExp, number][] = [
  [/[fijlrtI .,:;'"|!()[\]/\\-]/, 5],
  [/[A-HJ-LN-VX-Z&]/, 9.5],
  // Many characters outside ASCII are wide.
  [/[^\x20-\x7e]|[mwMW@%+=<>~#^]/, 12],
];
const USUAL = 8;

const characterWidth = (character: string): number => WIDTHS.find(([of]) => of.test(character))?.[1] ?? USUAL;

export const widthOf = (text: string): number =>
  [...text].reduce((sum, character) => sum + characterWidth(character), 0);

export const widest = (texts: readonly string[]): number =>
  texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);

/**
 * Makes text safe for ECharts, which keeps text widths in a plain object: `__proto__` would be written to
 * Object.prototype, and `constructor` would find a function. An added mark, which `cleaned` removes from the drawing,
 * makes such a text a different key. Every line is a text of its own.
 */
export const asDrawn = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line in Object.prototype ? `${line}\u200e` : line))
    .join('\n');

/** Pixels between the lines of a name. */
export const LINE = 14;

/** Matches characters after which a line may end. */
const BREAKS = /[\s\-/=,:@.+_]/;

/** Number of characters that fit on a line, up to the last place for a break if there is one. */
function fitting(characters: readonly string[], width: number): number {
  let [used, count, after] = [0, 0, 0];
  for (const character of characters) {
    used += characterWidth(character);
    if (used > width && count > 0) return after > 0 ? after : count;
    count += 1;
    if (BREAKS.test(character)) after = count;
  }
  return count;
}

/** Breaks a text into lines of at most this width. Nothing is left out: names may differ at any place. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (let rest = [...text.replace(/\s+/g, ' ')]; rest.length > 0;) {
    const count = fitting(rest, width);
    lines.push(rest.slice(0, count).join('').trimEnd());
    rest = rest.slice(count);
  }
  return lines.length > 0 ? lines : [''];
}

interface WrappedNames {
  /** Names, each with its lines. */
  texts: string[];
  /** Number of lines of the longest name. */
  most: number;
  /** Width of the widest line. */
  width: number;
}

/** Names beside or above a drawing. */
export function wrappedNames(names: readonly string[], width: number): WrappedNames {
  const all = names.map((name) => wrapped(name, width));
  return {
    texts: all.map((lines) => lines.join('\n')),
    most: all.reduce((most, { length }) => Math.max(most, length), 1),
    width: widest(all.flat()),
  };
}
