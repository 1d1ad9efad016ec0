/** The part of a document that gates and the history use: what a stored baseline keeps. */
import { findMetric } from '../metrics/registry.js';
import type { MetricResult, RunDocument } from '../results/document.js';
import { isComparison, type ResultDocument } from '../results/kinds.js';

/** Still a valid document that `report` renders: it has values, but not how they were obtained. */
export function gatePart(document: ResultDocument): ResultDocument {
  if (!isComparison(document)) return roundPart(document);
  const { config: _, ...plan } = document.plan;
  return {
    ...document,
    plan,
    systems: document.systems.map((rounds) => rounds.map(roundPart)),
    // A gate computes its own effects between the sessions.
    effects: [],
    computeLimits: [],
  };
}

function roundPart({ sampler, ...round }: RunDocument): RunDocument {
  return {
    ...round,
    provenance: [],
    health: { before: [], after: [] },
    ...(sampler && { sampler: clockPart(sampler) }),
    metrics: round.metrics.map(resultPart),
  };
}

type Sampler = NonNullable<RunDocument['sampler']>;

/** Sampler columns that a gate reads: it warns if the clock under load differed. */
const kept = ['timeMs', 'gpuPercent', 'smClockMhz'];

function clockPart(sampler: Sampler): Sampler {
  const isLoaded = (_: unknown, i: number) => (sampler.gpuPercent[i] ?? 0) > 0;
  const entries = Object.entries(sampler).map(([name, column]) => {
    if (!Array.isArray(column)) return [name, column];
    const loaded = (column as unknown[]).filter(isLoaded);
    return [name, kept.includes(name) ? loaded : loaded.map(() => null)];
  });
  return Object.fromEntries(entries) as Sampler;
}

function resultPart({ samples: _samples, blocks: _blocks, details, ...result }: MetricResult): MetricResult {
  return { ...result, stats: null, checks: [], details: isReadLater(result.id) ? details : {} };
}

/** Whether the details hold conditions under which values are compared, or a difference to native. */
function isReadLater(id: string): boolean {
  const metric = findMetric(id);
  return !metric || metric.comparedAt !== undefined || metric.againstNative !== undefined;
}
