/** Stretches of time: lists of them are sorted and disjoint. */

export interface Stretch {
  from: number;
  to: number;
}

/** Sorts, and merges those closer than `apart`. */
export function merged(stretches: readonly Stretch[], apart = 0): Stretch[] {
  const out: Stretch[] = [];
  for (const { from, to } of [...stretches].sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last && from <= last.to + apart) last.to = Math.max(last.to, to);
    else out.push({ from, to });
  }
  return out;
}

export const clipped = (stretches: readonly Stretch[], { from, to }: Stretch): Stretch[] =>
  stretches
    .map((stretch) => ({ from: Math.max(stretch.from, from), to: Math.min(stretch.to, to) }))
    .filter((stretch) => stretch.to > stretch.from);

export const total = (stretches: readonly Stretch[]): number =>
  stretches.reduce((sum, { from, to }) => sum + to - from, 0);

/** The total time during which both lasted; each list must be sorted and disjoint. */
export function common(a: readonly Stretch[], b: readonly Stretch[]): number {
  let sum = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [left, right] = [a[i] as Stretch, b[j] as Stretch];
    sum += Math.max(0, Math.min(left.to, right.to) - Math.max(left.from, right.from));
    if (left.to < right.to) i++;
    else j++;
  }
  return sum;
}
