/**
 * Estimates text widths and shortens names to fit. Nothing can be measured: a page is written without a browser and
 * read with unknown fonts. The estimates are for DejaVu Sans at 12 pixels, the widest common font.
 */
const WIDTHS: [RegExp, number][] = [
  [/[fijlrtI .,:;'"|!()[\]/\\-]/, 5],
  [/[A-HJ-LN-VX-Z&]/, 9.5],
  // Many characters outside ASCII are wide.
  [/[^\x20-\x7e]|[mwMW@%+=<>~#^]/, 12],
];
const USUAL = 8;
const BOLD = 1.1;

const characterWidth = (character: string): number => WIDTHS.find(([of]) => of.test(character))?.[1] ?? USUAL;

export function widthOf(text: string, bold = false): number {
  const width = [...text].reduce((sum, character) => sum + characterWidth(character), 0);
  return bold ? width * BOLD : width;
}

export const widest = (texts: readonly string[], bold = false): number =>
  texts.reduce((most, text) => Math.max(most, widthOf(text, bold)), 0);

interface Fit {
  bold?: boolean;
  /** Fraction of the kept characters that comes before the cut. */
  head?: number;
}

/**
 * Makes text safe for ECharts, which keeps text widths in a plain object: `__proto__` would be written to
 * Object.prototype, and `constructor` would find a function. An added mark, which `cleaned` removes from the drawing,
 * makes such a text a different key.
 */
export const asDrawn = (text: string): string => (text in Object.prototype ? `${text}\u200e` : text);

/** Cuts in the middle, because names differ at their ends as often as at their beginnings. */
export function fitted(text: string, width: number, { bold = false, head = 0.5 }: Fit = {}): string {
  if (widthOf(text, bold) <= width) return text;
  const characters = [...text];
  const middle = Math.ceil(head * characters.length);
  let [end, start] = [middle, middle];
  let used = widthOf(`${text}…`, bold);
  while (used > width && (end > 0 || start < characters.length)) {
    const isHead = end > head * (end + characters.length - start);
    used -= widthOf(characters[isHead ? --end : start++] as string, bold);
  }
  return [...characters.slice(0, end), '…', ...characters.slice(start)].join('');
}

const HEADS = [1 / 2, 1 / 3, 2 / 3, 1 / 6, 5 / 6];

/** Different names stay different: tries several places for the cut, and numbers the names if none helps. */
export function fittedNames(names: readonly string[], width: number): string[] {
  const different = new Set(names).size;
  for (const head of HEADS) {
    const cut = names.map((name) => fitted(name, width, { head }));
    if (new Set(cut).size === different) return cut;
  }
  return names.map((name, i) => {
    const place = `${i + 1}: `;
    return widthOf(name) <= width ? name : `${place}${fitted(name, width - widthOf(place))}`;
  });
}
