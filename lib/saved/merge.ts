/**
 * Several saved documents as one comparison. Effects are computed anew, within each document's own rounds: what was
 * measured in different sessions stands side by side but is never set against each other.
 */
import { basename } from 'node:path';
import type { ComparisonDocument, Effect, RunDocument } from '../document.js';
import { UsageError } from '../errors/usage-error.js';
import { findMetric } from '../metrics/registry.js';
import { isComparison, type ResultDocument, roundsOf } from '../report/view.js';
import { effects } from '../run/effects.js';
import { unitClash } from './unit-clash.js';

export interface Source {
  /** What the caller named it. */
  file: string;
  document: ResultDocument;
}

/** Throws UsageError for documents that do not belong together; a single one comes back as it is. */
export function merge(sources: readonly Source[]): ResultDocument {
  const [first, ...others] = sources;
  if (!first) throw new UsageError('Expected at least one result document but received none.');
  if (others.length === 0) return first.document;
  for (const other of others) checkBelongs(first, other);
  checkOnce(sources);
  const clash = unitClash(sources.flatMap(({ document }) => roundsOf(document)));
  if (clash !== null) throw apart(`with one unit a metric but received ${clash}`);
  return combined(toldApart(sources));
}

const unique = (values: readonly string[]): string => [...new Set(values)].sort().join(', ') || 'none';

const facts: readonly [what: string, of: (rounds: readonly RunDocument[]) => string][] = [
  [
    'GPU model',
    (rounds) =>
      unique(rounds.flatMap(({ gpu }) => gpu.map(({ name, simulated }) => (simulated ? `simulated ${name}` : name)))),
  ],
  [
    'driver',
    (rounds) =>
      unique(rounds.map(({ driver }) => `${driver.version ?? 'unknown'}, CUDA ${driver.cudaVersion ?? 'unknown'}`)),
  ],
];

function checkBelongs(first: Source, other: Source): void {
  const [a, b] = [roundsOf(first.document), roundsOf(other.document)];
  for (const [what, of] of a.length > 0 && b.length > 0 ? facts : [])
    if (of(a) !== of(b))
      throw apart(`of one ${what} but received ${of(a)} in ${first.file} and ${of(b)} in ${other.file}`);
}

const apart = (why: string): UsageError => new UsageError(`Expected documents ${why}: report them apart.`);

/** The same rounds twice would look like twice the certainty. */
function checkOnce(sources: readonly Source[]): void {
  const seen = new Map<string, Source>();
  for (const source of sources)
    for (const { startedAt, durationMs, system, plan } of roundsOf(source.document)) {
      const key = JSON.stringify([startedAt, durationMs, system.name, plan.seed]);
      const before = seen.get(key);
      if (before !== undefined && before !== source)
        throw apart(`of different rounds but received the same ones in ${before.file} and ${source.file}`);
      seen.set(key, source);
    }
}

/** Paths in the directory of one run say nothing of the system. */
const ofOneRun = /\/gvb-\w+/;

function identityOf({ system }: RunDocument): string {
  const { kind, spec, layer, settings } = system;
  const lasting = Object.entries(settings).filter(([, value]) => !ofOneRun.test(value));
  return JSON.stringify([kind, spec ?? lasting.sort(), layer?.sha256 ?? null]);
}

/**
 * `run` calls every system `environment`: where two of them differ, their files' names tell them apart. Systems of a
 * comparison have names of their own, so that two different ones of a name do not belong together.
 */
function toldApart(sources: readonly Source[]): Source[] {
  const identities = new Map<string, Map<string, string>>();
  for (const { file, document } of sources)
    for (const round of roundsOf(document)) {
      const known = identities.get(round.system.name) ?? new Map<string, string>();
      identities.set(round.system.name, known.set(identityOf(round), file));
    }
  const clashes = [...identities].filter(([, known]) => known.size > 1);
  for (const [name, known] of clashes)
    if (sources.some(({ document }) => isComparison(document) && document.plan.systems.includes(name)))
      throw apart(
        `in which ${name} is one system but received different settings or layers in ${[...known.values()].join(' and ')}`,
      );
  const clashing = new Set(clashes.map(([name]) => name));
  return sources.map(({ file, document }) => {
    if (isComparison(document) || !clashing.has(document.system.name)) return { file, document };
    const name = `${document.system.name} (${basename(file)})`;
    return { file, document: { ...document, system: { ...document.system, name } } };
  });
}

const roundsBySystem = (document: ResultDocument): [name: string, rounds: RunDocument[]][] =>
  isComparison(document)
    ? document.plan.systems.map((name, index) => [name, document.systems[index] ?? []])
    : [[document.system.name, [document]]];

function combined(sources: readonly Source[]): ComparisonDocument {
  const documents = sources.map(({ document }) => document);
  const comparisons = documents.filter(isComparison);
  const names = systemNames(comparisons, documents);
  const aligned = alignedRounds(documents, names);
  const systems = aligned.map((rounds) => rounds.filter((round) => round !== undefined));
  const first = documents[0] as ResultDocument;
  const seed = (comparisons[0] ?? first).plan.seed;
  return {
    schemaVersion: first.schemaVersion,
    kind: 'comparison',
    tool: first.tool,
    startedAt: documents.map(({ startedAt }) => startedAt).sort()[0] as string,
    durationMs: documents.reduce((sum, { durationMs }) => sum + durationMs, 0),
    completed: documents.every(({ completed }) => completed),
    plan: {
      tier: first.plan.tier,
      metrics: [...new Set(documents.flatMap(({ plan }) => plan.metrics))].sort(),
      systems: names,
      rounds: Math.max(...systems.map((rounds) => rounds.length)),
      seed,
      order: comparisons.flatMap(({ plan }) => plan.order),
    },
    systems,
    effects: [...recomputed(aligned, seed), ...carriedOver(comparisons)],
    computeLimits: comparisons.flatMap(({ computeLimits }) => computeLimits),
    violations: comparisons.flatMap(({ violations }) => violations),
    warnings: [...new Set([...documents.flatMap(({ warnings }) => warnings), ...apartWarnings(sources)])],
  };
}

/** The baseline of the comparisons first. */
function systemNames(comparisons: readonly ComparisonDocument[], documents: readonly ResultDocument[]): string[] {
  const baselines = [...new Set(comparisons.flatMap(({ plan }) => plan.systems.slice(0, 1)))];
  if (baselines.length > 1) throw apart(`of one baseline but received ${baselines.join(' and ')}`);
  return [
    ...new Set([...baselines, ...documents.flatMap((document) => roundsBySystem(document).map(([name]) => name))]),
  ];
}

/** By system; rounds of one document keep their places beside each other, and where a system has none is a gap. */
function alignedRounds(documents: readonly ResultDocument[], names: readonly string[]): (RunDocument | undefined)[][] {
  const aligned: (RunDocument | undefined)[][] = names.map(() => []);
  for (const document of documents) {
    const own = new Map(roundsBySystem(document));
    const most = Math.max(0, ...[...own.values()].map((rounds) => rounds.length));
    for (const [index, name] of names.entries())
      aligned[index]?.push(...Array.from({ length: most }, (_, round) => own.get(name)?.[round]));
  }
  return aligned;
}

function recomputed(aligned: readonly (readonly (RunDocument | undefined)[])[], seed: number): Effect[] {
  const ids = aligned.flatMap((rounds) => rounds.flatMap((round) => round?.metrics.map(({ id }) => id) ?? []));
  const known = [...new Set(ids)].sort().flatMap((id) => findMetric(id) ?? []);
  return effects(known, aligned, seed);
}

/** Of metrics that this version does not know, where only one document speaks of them. */
function carriedOver(comparisons: readonly ComparisonDocument[]): Effect[] {
  const unknown = comparisons.flatMap((document) => document.effects.filter(({ metric }) => !findMetric(metric)));
  const same = (a: Effect, b: Effect) => a.metric === b.metric && a.system === b.system;
  return unknown.filter((effect) => unknown.filter((other) => same(effect, other)).length === 1);
}

function apartWarnings(sources: readonly Source[]): string[] {
  const single = sources.filter(({ document }) => !isComparison(document)).map(({ file }) => basename(file));
  const versions = [...new Set(sources.map(({ document }) => document.tool.version))];
  return [
    ...(single.length > 0 ? [`${single.join(', ')}: measured apart, so that there is no verdict on them.`] : []),
    ...(versions.length > 1 ? [`Measured by different versions of gpu-virt-bench: ${versions.join(', ')}.`] : []),
  ];
}
