/** Documents without raw samples, which are most of their size and are not needed later. */
import type { MetricResult, RunDocument } from '../results/document.js';
import { isComparison, type ResultDocument } from '../results/kinds.js';

export function withoutSamples(document: ResultDocument): ResultDocument {
  const lean = ({ samples: _, ...result }: MetricResult): MetricResult => result;
  const round = (run: RunDocument): RunDocument => ({ ...run, metrics: run.metrics.map(lean) });
  if (!isComparison(document)) return round(document);
  return { ...document, systems: document.systems.map((rounds) => rounds.map(round)) };
}
