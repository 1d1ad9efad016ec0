/** Block characters of increasing height. */
const blocks = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** Scales from the smallest to the largest value, over a range of at least `counts`; smaller differences look level. */
export function sparkline(values: readonly number[], counts = 0): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const range = Math.max(high - low, counts);
  // A value in the middle always gets the fourth of eight blocks.
  const height = (value: number) => (range > 0 ? Math.round(3 + (7 * (value - (low + high) / 2)) / range) : 3);
  return values.map((value) => blocks[height(value)]).join('');
}

/** Scales from 0 to `full`, so that lines are comparable; higher values are clipped. */
export function barline(values: readonly number[], full: number): string {
  const height = (value: number) =>
    Math.min(blocks.length - 1, Math.max(0, Math.floor((blocks.length * value) / full)));
  return values.map((value) => blocks[height(value)]).join('');
}
