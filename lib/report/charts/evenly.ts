/** Selects at most `most` entries of a list, evenly spread over it. */
export function evenly<T>(list: readonly T[], most: number): T[] {
  if (list.length <= most) return [...list];
  const step = (list.length - 1) / Math.max(most - 1, 1);
  return Array.from({ length: most }, (_, i) => list[Math.round(i * step)] as T);
}
