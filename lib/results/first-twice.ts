/** The first text that stood before in the list, or null. */
export function firstTwice(texts: readonly string[]): string | null {
  const seen = new Set<string>();
  return texts.find((text) => seen.size === seen.add(text).size) ?? null;
}
