/** How evenly something is divided. */
import { resampledVarianceCi95 } from './resampled.js';

/** Jain, Chiu and Hawe: 1 where all are equal, 1/n where one tenant has everything; null where every share is 0. */
export function jain(parts: readonly number[]): number | null {
  const sum = parts.reduce((all, part) => all + part, 0);
  return sum > 0 ? (sum * sum) / (parts.length * parts.reduce((all, part) => all + part * part, 0)) : null;
}

/** 95 % interval of the index, for the parts in drawn windows. What is missing to 1 is resampled: it is a variance. */
export function jainCi95(
  windows: number,
  partsIn: (draw: readonly number[]) => readonly number[],
  seed: number,
): [number, number] | null {
  const missing = resampledVarianceCi95(windows, ([draw]) => 1 - (jain(partsIn(draw as number[])) ?? 0), seed);
  return missing && [1 - missing[1], 1 - missing[0]];
}
