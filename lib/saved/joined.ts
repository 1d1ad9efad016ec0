/**
 * Documents of this tool's metrics (`compare`) merged with documents of programs (`exec`): one answer rests on both, so
 * they must be of the same systems on the same card.
 */
import type { ComparisonDocument } from '../results/document.js';
import { type ResultDocument, roundsOf } from '../results/kinds.js';
import { isOfPrograms } from '../results/recorded-programs.js';
import type { Source } from './source.js';
import { labelsOf } from './relabelled.js';

const hasPrograms = (document: ResultDocument): boolean => roundsOf(document).some(isOfPrograms);

/** Also of a document without rounds. */
const hasMetrics = (document: ResultDocument): boolean =>
  !hasPrograms(document) || !roundsOf(document).every(isOfPrograms);

/** Sorted, each once; `none` without values. */
export const unique = (values: readonly string[]): string => [...new Set(values)].sort().join(', ') || 'none';

const facts: readonly (readonly [what: string, of: (document: ResultDocument) => string[]])[] = [
  ['the same systems', labelsOf],
  ['one card', (document) => roundsOf(document).flatMap(({ gpu }) => gpu.map(({ uuid }) => uuid))],
];

/** The first fact in which metrics and programs differ; null if they may be joined, or there is only one of them. */
export function joinClash(sources: readonly Source[]): string | null {
  const metrics = sources.filter(({ document }) => hasMetrics(document));
  const programs = sources.filter(({ document }) => hasPrograms(document));
  if (metrics.length === 0 || programs.length === 0) return null;
  for (const [what, of] of facts) {
    const [ofMetrics, ofPrograms] = [metrics, programs].map((some) =>
      unique(some.flatMap(({ document }) => of(document))),
    );
    if (ofMetrics === ofPrograms) continue;
    const [own, theirs] = [metrics, programs].map((some) => some.map(({ file }) => file).join(', '));
    return `of ${what} for metrics and programs but received ${ofMetrics} in ${own} and ${ofPrograms} in ${theirs}`;
  }
  return null;
}

type Planned = Pick<ComparisonDocument['plan'], 'tier' | 'purpose' | 'config'>;

/** Tier and purpose are of metrics. Documents for different purposes together have none. */
export function plannedFor(documents: readonly ResultDocument[]): Planned {
  const metrics = documents.filter(hasMetrics);
  const [first] = metrics.length > 0 ? metrics : documents;
  const [purpose, ...others] = new Set(metrics.map(({ plan }) => plan.purpose));
  const config = metrics.length > 0 ? configOfPrograms(documents) : null;
  return {
    tier: first?.plan.tier ?? 'standard',
    ...(purpose !== undefined && others.length === 0 && { purpose }),
    ...(config !== null && { config }),
  };
}

/** The file of `exec` names the systems of the metrics too. */
function configOfPrograms(documents: readonly ResultDocument[]): string | null {
  const [config, ...others] = new Set(
    documents.filter(hasPrograms).map(({ plan }) => ('config' in plan ? plan.config : undefined)),
  );
  return config === undefined || others.length > 0 ? null : config;
}
