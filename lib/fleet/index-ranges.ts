/** Lists of indices as schedulers write them: `0-3,7`. */

export function rangesText(indices: readonly number[]): string {
  const found: [number, number][] = [];
  for (const index of [...indices].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last?.[1] === index - 1) last[1] = index;
    else found.push([index, index]);
  }
  return found.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(',');
}

const MOST = 1_000_000;
const range = /^(\d{1,9})(?:-(\d{1,9}))?$/;

/** Null for a text that is no such list. */
export function indicesIn(text: string): number[] | null {
  const indices: number[] = [];
  for (const part of text === '' ? [] : text.split(',')) {
    const [, first, last = first] = range.exec(part) ?? [];
    if (first === undefined || Number(last) < Number(first) || indices.length + Number(last) - Number(first) >= MOST)
      return null;
    for (let index = Number(first); index <= Number(last); index++) indices.push(index);
  }
  return indices;
}
