/** Reads the thresholds and the baseline that the options name. */
import { defaultThresholds, type Thresholds } from '../../gate/thresholds.js';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { type Baseline, readBaseline, STORE } from '../../saved/baseline-store.js';
import { warn } from '../terminal/talk.js';

/** `metrics`: those that thresholds may name. */
export async function thresholdsOf(
  file: string | undefined,
  option: string,
  metrics: readonly MetricDefinition[],
): Promise<Thresholds> {
  if (file === undefined) return defaultThresholds(metrics);
  const { readThresholds } = await import('../../gate/thresholds-file.js');
  return readThresholds(file, option, metrics);
}

export async function storedBaseline(name: string | undefined, store = STORE): Promise<Baseline | null> {
  if (name === undefined) return null;
  const { problems, ...baseline } = await readBaseline(store, name);
  problems.forEach(warn);
  return baseline;
}
