/** A line of blocks as high as the values. */
const blocks = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** From the least to the greatest value, but over no less than `counts`: what differs by less looks level. */
export function sparkline(values: readonly number[], counts = 0): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const range = Math.max(high - low, counts);
  // Of the middle the fourth of eight, however little a value is off it.
  const height = (value: number) => (range > 0 ? Math.round(3 + (7 * (value - (low + high) / 2)) / range) : 3);
  return values.map((value) => blocks[height(value)]).join('');
}

/** From 0 up to `full`, so that lines are comparable; higher values are drawn at that height. */
export function barline(values: readonly number[], full: number): string {
  const height = (value: number) =>
    Math.min(blocks.length - 1, Math.max(0, Math.floor((blocks.length * value) / full)));
  return values.map((value) => blocks[height(value)]).join('');
}
