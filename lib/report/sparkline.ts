/** A line of blocks as high as the values, from the least to the greatest. */
const blocks = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** Of values that do not differ, the middle. */
export function sparkline(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const height = (value: number) =>
    high > low ? Math.round(((value - low) / (high - low)) * (blocks.length - 1)) : Math.floor(blocks.length / 2) - 1;
  return values.map((value) => blocks[height(value)]).join('');
}
