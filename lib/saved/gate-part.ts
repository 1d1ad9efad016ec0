/** The part of a document that gates and the history read: what a stored baseline keeps. */
import { findMetric } from '../metrics/registry.js';
import type { MetricResult, RunDocument } from '../results/document.js';
import { isComparison, type ResultDocument } from '../results/kinds.js';

/** Still a document of the schema, which `report` renders: with values, and without how they came about. */
export function gatePart(document: ResultDocument): ResultDocument {
  if (!isComparison(document)) return roundPart(document);
  const { config: _, ...plan } = document.plan;
  return {
    ...document,
    plan,
    systems: document.systems.map((rounds) => rounds.map(roundPart)),
    // A gate computes its own, between the sessions.
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

/** Columns of a sampler that a gate reads: the clock under load, by which it warns where the card ran at another one. */
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

/** Whether values are compared under conditions, or as a difference to native, that the details hold. */
function isReadLater(id: string): boolean {
  const metric = findMetric(id);
  return !metric || metric.comparedAt !== undefined || metric.againstNative !== undefined;
}
