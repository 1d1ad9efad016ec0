/** How much the durations of steps of equal batch size differ: variation that batching does not explain. */
import { mean } from 'simple-statistics';
import type { Interval } from '../../stats/rule/estimate.js';
import { median } from '../../stats/median.js';
import { serialMean } from '../../stats/serial.js';

export interface Steps {
  /** Duration and number of sequences of each step, in order. */
  stepNs: readonly number[];
  stepBatch: readonly number[];
}

interface SizeOfSteps {
  batch: number;
  steps: number;
  medianNs: number;
}

export interface StepVariation {
  /** Standard deviation of the steps from the median of their batch size, relative to that median, over all sizes. */
  cv: number;
  /** Null with fewer than ten effective steps. */
  ci95: Interval | null;
  sizes: SizeOfSteps[];
}

/** Null without a step. */
export const meanBatch = (stepBatch: readonly number[]): number | null =>
  stepBatch.length === 0 ? null : mean([...stepBatch]);

/** Null if no batch size has `fewest` steps; sizes with fewer are left out. */
export function stepVariation({ stepNs, stepBatch }: Steps, fewest: number): StepVariation | null {
  const bySize = new Map<number, number[]>();
  stepBatch.forEach((batch, i) => {
    const times = bySize.get(batch) ?? [];
    times.push(stepNs[i] as number);
    bySize.set(batch, times);
  });
  const sizes = [...bySize]
    .filter(([, times]) => times.length >= fewest)
    .map(([batch, times]): SizeOfSteps => ({ batch, steps: times.length, medianNs: median(times).value }))
    .sort((a, b) => a.batch - b.batch);
  if (sizes.length === 0) return null;
  const medians = new Map(sizes.map(({ batch, medianNs }) => [batch, medianNs]));
  const squares = stepBatch.flatMap((batch, i) => {
    const middle = medians.get(batch);
    return middle === undefined ? [] : [((stepNs[i] as number) / middle - 1) ** 2];
  });
  return { cv: Math.sqrt(mean(squares)), ci95: rootInterval(squares), sizes };
}

/** Interval of the root mean square. A disturbance outlasts a step. */
function rootInterval(squares: readonly number[]): Interval | null {
  const { ci95 } = serialMean(squares);
  return ci95 && [Math.sqrt(Math.max(0, ci95[0])), Math.sqrt(ci95[1])];
}
