/**
 * Merges several saved documents into one comparison. Effects are computed again, within each document's own rounds:
 * measurements of different sessions are shown side by side but never compared.
 */
import type { Source } from './source.js';
import { basename } from 'node:path';
import type { ComparisonDocument, Effect, GpuInfo, MetricResult, RunDocument } from '../results/document.js';
import { ranked } from '../costs/concluded.js';
import { mergedPrices, priceClash } from '../costs/merged-prices.js';
import { UsageError } from '../errors/usage-error.js';
import { conditionText } from '../metrics/core/compared-at.js';
import { sliceText } from '../environment/named-gpu.js';
import { findMetric } from '../metrics/registry.js';
import { isOfProgram } from '../metrics/core/stored-definitions.js';
import { cudaVersion } from '../results/text/cuda-version.js';
import { byMetricId } from '../results/metric-order.js';
import { hashText, isOfPrograms, programsOf } from '../results/recorded-programs.js';
import { bytes } from '../results/text/plain.js';
import { severalCardsText } from '../results/cards.js';
import { violationsOf } from '../results/violations.js';
import { placeOf } from '../results/rounds.js';
import { isComparison, type ResultDocument, roundsOf } from '../results/kinds.js';
import { judged } from '../run/effects/judged.js';
import { measuringOptions } from '../run/resume.js';
import { isOfOneRun } from '../systems/process/run-directory.js';
import { joinClash, plannedFor, unique } from './joined.js';
import { commonLabels, relabelled } from './relabelled.js';
import { unitClash } from './unit-clash.js';

/** Throws UsageError for documents that cannot be merged; returns a single one unchanged. */
export function merge(sources: readonly Source[]): ResultDocument {
  const labels = commonLabels(sources.map(({ document }) => document));
  return mergeLabelled(sources.map(({ file, document }) => ({ file, document: relabelled(document, labels) })));
}

function mergeLabelled(sources: readonly Source[]): ResultDocument {
  const [first, ...others] = sources;
  if (!first) throw new UsageError('Expected at least one result document but received none.');
  if (others.length === 0) return first.document;
  for (const fact of facts) checkFact(sources, fact);
  checkPrograms(sources);
  checkOnce(sources);
  const rounds = sources.flatMap(({ document }) => roundsOf(document));
  const clash = unitClash(rounds);
  if (clash !== null) throw apart(`with one unit a metric but received ${clash}`);
  checkAlike(rounds);
  const prices = priceClash(sources.map(({ document }) => document).filter(isComparison));
  if (prices !== null) throw apart(`with one set of prices but received ${prices}`);
  const unlike = joinClash(sources);
  if (unlike !== null)
    throw apart(unlike, 'measure both with the same --config and --device, or report them separately');
  return combined(toldApart(sources));
}

interface Fact {
  what: string;
  of: (rounds: readonly RunDocument[]) => string;
  /** The rounds that must agree; without it all of them. */
  isAbout?: (round: RunDocument) => boolean;
}

const options = (rounds: readonly RunDocument[]): string =>
  unique(rounds.map(({ plan }) => measuringOptions({ ...plan, tier: 'quick' })));

const facts: readonly Fact[] = [
  {
    what: 'GPU model',
    of: (rounds) =>
      unique(rounds.flatMap(({ gpu }) => gpu.map(({ name, simulated }) => (simulated ? `simulated ${name}` : name)))),
  },
  { what: 'GPU memory and MIG mode', of: (rounds) => unique(rounds.flatMap(({ gpu }) => gpu.map(memoryText))) },
  {
    what: 'driver',
    of: (rounds) =>
      unique(rounds.map(({ driver }) => `${driver.version ?? 'unknown'}, CUDA ${cudaVersion(driver.cudaVersion)}`)),
  },
  { what: 'set of measuring options', of: options, isAbout: (round) => !isOfPrograms(round) },
  { what: 'set of measuring options', of: options, isAbout: isOfPrograms },
];

const memoryText = (gpu: GpuInfo): string => `${bytes(gpu.memoryBytes)}, ${sliceText(gpu)}`;

/** Compares the first document that has such rounds with all others that have. */
function checkFact(sources: readonly Source[], { what, of, isAbout = () => true }: Fact): void {
  const [first, ...others] = sources
    .map(({ file, document }) => ({ file, rounds: roundsOf(document).filter(isAbout) }))
    .filter(({ rounds }) => rounds.length > 0);
  for (const { file, rounds } of others)
    if (first && of(first.rounds) !== of(rounds))
      throw apart(`of one ${what} but received ${of(first.rounds)} in ${first.file} and ${of(rounds)} in ${file}`);
}

const apart = (why: string, advice = 'report them separately'): UsageError =>
  new UsageError(`Expected documents ${why}: ${advice}.`);

/** A program of one name must be the same in all documents. */
function checkPrograms(sources: readonly Source[]): void {
  const seen = new Map<string, { hash: string; file: string }>();
  for (const { file, document } of sources)
    for (const program of roundsOf(document).flatMap(({ plan }) => programsOf(plan) ?? [])) {
      const hash = hashText(program);
      const before = seen.get(program.name) ?? { hash, file };
      if (before.hash !== hash)
        throw apart(
          `of one program ${program.name} but received ${before.hash} in ${before.file} and ${hash} in ${file}`,
        );
      seen.set(program.name, before);
    }
}

/** Counting the same rounds twice would overstate the certainty. */
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

/** All values of a metric must measure the same quantity, e.g. at one tier and with one number of processes. */
function checkAlike(rounds: readonly RunDocument[]): void {
  const seen = new Map<string, string>();
  const check = (key: string, what: string) => {
    const known = seen.get(key) ?? what;
    if (known !== what) throw apart(`in which ${key} is measured in the same way but received ${known} and ${what}`);
    seen.set(key, what);
  };
  for (const { system, plan, metrics } of rounds)
    for (const result of metrics.filter(({ status }) => status === 'ok')) {
      check(`${result.id} of ${system.name}`, `tier ${plan.tier}`);
      const condition = conditionOf(result);
      if (condition !== null) check(result.id, condition);
    }
}

function conditionOf({ id, details }: MetricResult): string | null {
  return conditionText(findMetric(id) ?? {}, [details]);
}

type Head = RunDocument['system'];

const settingsText = ({ settings }: Head): string =>
  JSON.stringify(
    Object.entries(settings)
      .filter(([, value]) => !isOfOneRun(value))
      .sort(),
  );

/** The same for settings in any order. */
const pairsOf = (spec: string): string =>
  spec
    .split(/(?<!\\)[:,]/)
    .sort()
    .join(',');

/** The two sides of the first difference; null if none is recorded: a round that failed as a whole saw no layer. */
function difference(a: Head, b: Head): [string, string] | null {
  if (a.kind !== b.kind) return [`kind ${a.kind}`, `kind ${b.kind}`];
  const [build, other] = [a.layer?.sha256 ?? null, b.layer?.sha256 ?? null];
  if (build !== null && other !== null && build !== other) return [`SHA-256 ${build}`, `SHA-256 ${other}`];
  if (a.spec !== undefined && b.spec !== undefined)
    return pairsOf(a.spec) === pairsOf(b.spec) ? null : [a.spec, b.spec];
  // Neither old documents nor systems with proofs have a spec.
  const [own, others] = [settingsText(a), settingsText(b)];
  return own === others ? null : [own, others];
}

/**
 * `run` calls every system `environment`: if two of them differ, their file names distinguish them. Systems of a
 * comparison have chosen names, so two different systems of the same name are refused.
 */
function toldApart(sources: readonly Source[]): Source[] {
  const rounds = sources.flatMap(({ file, document }) => roundsOf(document).map(({ system }) => ({ file, system })));
  const clashing = new Map<string, string>();
  for (const { file, system } of rounds)
    for (const other of rounds) {
      if (other.system.name !== system.name || clashing.has(system.name)) continue;
      const found = difference(system, other.system);
      if (found) clashing.set(system.name, `${found[0]} in ${file} and ${found[1]} in ${other.file}`);
    }
  for (const [name, text] of clashing)
    if (sources.some(({ document }) => isComparison(document) && document.plan.systems.includes(name)))
      throw apart(`in which ${name} is the same system but received different settings or layers, ${text}`);
  const label = labelled(sources.map(({ file }) => file));
  return sources.map(({ file, document }) => {
    if (isComparison(document) || !clashing.has(document.system.name)) return { file, document };
    const name = `${document.system.name} (${label(file)})`;
    return { file, document: { ...document, system: { ...document.system, name } } };
  });
}

/** Labels files by as much of the end of their paths as distinguishes them. */
function labelled(files: readonly string[]): (file: string) => string {
  const end = (file: string, length: number) => file.split('/').slice(-length).join('/');
  const longest = Math.max(...files.map((file) => file.split('/').length));
  let length = 1;
  while (length < longest && new Set(files.map((file) => end(file, length))).size < new Set(files).size) length++;
  return (file) => end(file, length);
}

const roundsBySystem = (document: ResultDocument): [name: string, rounds: RunDocument[]][] =>
  isComparison(document)
    ? document.plan.systems.map((name, index) => [name, document.systems[index] ?? []])
    : [[document.system.name, [document]]];

function combined(sources: readonly Source[]): ComparisonDocument {
  const documents = sources.map(({ document }) => document);
  const comparisons = documents.filter(isComparison);
  const names = systemNames(comparisons, documents);
  const systems = placedRounds(documents, names);
  const first = documents[0] as ResultDocument;
  const seed = (comparisons[0] ?? first).plan.seed;
  const merged = {
    schemaVersion: first.schemaVersion,
    kind: 'comparison',
    tool: first.tool,
    startedAt: documents.map(({ startedAt }) => startedAt).sort()[0] as string,
    durationMs: documents.reduce((sum, { durationMs }) => sum + durationMs, 0),
    completed: documents.every(({ completed }) => completed),
    plan: {
      ...plannedFor(documents),
      metrics: [...new Set(documents.flatMap(({ plan }) => plan.metrics))].sort(byMetricId),
      systems: names,
      rounds: Math.max(...systems.map((rounds) => rounds.length)),
      seed,
      order: comparisons.flatMap(({ plan }) => plan.order),
    },
    systems,
    effects: carriedOver(comparisons, ({ effects }) => effects),
    pairs: carriedOver(comparisons, ({ pairs }) => pairs),
    ...rejudgedFrom(comparisons),
    ...mergedPrices(comparisons),
    computeLimits: comparisons.flatMap(({ computeLimits }) => computeLimits),
    violations: documents.flatMap(violationsOf),
    warnings: [...new Set([...documents.flatMap(({ warnings }) => warnings), ...apartWarnings(sources)])],
  } satisfies ComparisonDocument;
  return ranked(withCardsOf(comparisons, judged(merged)));
}

/** Rounds have other numbers now. */
function withCardsOf(comparisons: readonly ComparisonDocument[], merged: ComparisonDocument): ComparisonDocument {
  const texts = ({ cards }: ComparisonDocument) => (cards ?? []).map(severalCardsText);
  const before = comparisons.flatMap(texts);
  return { ...merged, warnings: [...merged.warnings.filter((each) => !before.includes(each)), ...texts(merged)] };
}

/** The earliest schema version. */
function rejudgedFrom(comparisons: readonly ComparisonDocument[]): Pick<ComparisonDocument, 'rejudgedFrom'> {
  const versions = comparisons.flatMap((document) => document.rejudgedFrom ?? []);
  return versions.length > 0 ? { rejudgedFrom: Math.min(...versions) } : {};
}

/** The comparisons' baseline comes first. */
function systemNames(comparisons: readonly ComparisonDocument[], documents: readonly ResultDocument[]): string[] {
  const baselines = [...new Set(comparisons.flatMap(({ plan }) => plan.systems.slice(0, 1)))];
  if (baselines.length > 1) throw apart(`of one baseline but received ${baselines.join(' and ')}`);
  return [
    ...new Set([...baselines, ...documents.flatMap((document) => roundsBySystem(document).map(([name]) => name))]),
  ];
}

/**
 * Rounds by system. Every round records its document and its place there, so that it is paired with rounds of the same
 * session.
 */
function placedRounds(documents: readonly ResultDocument[], names: readonly string[]): RunDocument[][] {
  const systems: RunDocument[][] = names.map(() => []);
  const numbers = new Map<string, number>();
  for (const [source, document] of documents.entries())
    for (const [name, rounds] of roundsBySystem(document))
      for (const [index, round] of rounds.entries()) {
        const [own = '', at = ''] = placeOf(round, index).split('.');
        const key = `${source}.${own}`;
        const number = numbers.get(key) ?? numbers.size;
        numbers.set(key, number);
        systems[names.indexOf(name)]?.push({ ...round, session: { document: number, round: Number(at) } });
      }
  return systems;
}

/** Keeps the effects of metrics that this version does not know, if only one document has them. */
function carriedOver(
  comparisons: readonly ComparisonDocument[],
  of: (document: ComparisonDocument) => readonly Effect[],
): Effect[] {
  const unknown = comparisons.flatMap((document) =>
    of(document).filter(({ metric }) => !isOfProgram(metric) && !findMetric(metric)),
  );
  const same = (a: Effect, b: Effect) => a.metric === b.metric && a.system === b.system && a.baseline === b.baseline;
  return unknown.filter((effect) => unknown.filter((other) => same(effect, other)).length === 1);
}

function apartWarnings(sources: readonly Source[]): string[] {
  const single = sources.filter(({ document }) => !isComparison(document)).map(({ file }) => basename(file));
  const versions = [...new Set(sources.map(({ document }) => document.tool.version))];
  return [
    ...(single.length > 0 ? [`${single.join(', ')}: measured separately, so there is no verdict on them.`] : []),
    ...(versions.length > 1 ? [`Measured by different versions of gpu-virt-bench: ${versions.join(', ')}.`] : []),
  ];
}
