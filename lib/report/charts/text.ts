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

const characterWidth = (character: string): number => WIDTHS.find(([of]) => of.test(character))?.[1] ?? USUAL;

export const widthOf = (text: string): number =>
  [...text].reduce((sum, character) => sum + characterWidth(character), 0);

export const widest = (texts: readonly string[]): number =>
  texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);

/**
 * Makes text safe for ECharts, which keeps text widths in a plain object: `__proto__` would be written to
 * Object.prototype, and `constructor` would find a function. An added mark, which `cleaned` removes from the drawing,
 * makes such a text a different key.
 */
export const asDrawn = (text: string): string => (text in Object.prototype ? `${text}\u200e` : text);

/** Cuts in the middle, because names differ at their ends as often as at their beginnings. */
export function fitted(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const characters = [...text];
  const cut = (kept: number) =>
    [
      ...characters.slice(0, Math.ceil(kept / 2)),
      '…',
      ...characters.slice(characters.length - Math.floor(kept / 2)),
    ].join('');
  let kept = characters.length - 1;
  while (kept > 0 && widthOf(cut(kept)) > width) kept--;
  return cut(kept);
}

/** Different names stay different: they are numbered if cutting makes two equal. */
export function fittedNames(names: readonly string[], width: number): string[] {
  const cut = names.map((name) => fitted(name, width));
  if (new Set(cut).size === new Set(names).size) return cut;
  return names.map((name, i) =>
    widthOf(name) <= width ? name : `${i + 1}: ${fitted(name, width - widthOf(`${i + 1}: `))}`,
  );
}
