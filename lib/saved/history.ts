/** Earlier measurements: the runs in order, and the trend of each metric. */
import { basename, join } from 'node:path';
import { messageOf } from '../errors/message-of.js';
import { conditionText } from '../metrics/core/compared-at.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import { programMetricsIn } from '../metrics/core/stored-definitions.js';
import { isComparison, type ResultDocument, roundsOf } from '../results/kinds.js';
import { byMetricId } from '../results/metric-order.js';
import { type Row, viewOf } from '../results/view.js';
import { nameWithSlice } from '../environment/named-gpu.js';
import { nameOfLabel } from '../systems/system-name.js';
import { isUnattested } from './attested.js';
import { baselineNames, STORE } from './baseline-store.js';
import { RESULTS, resultDirectories } from './directories.js';
import { readDocument } from './read.js';

/** The part of a document that is kept: values without their samples. */
export interface HistoryEntry {
  source: 'results' | 'baseline';
  path: string;
  startedAt: string;
  simulated: boolean;
  gpu: string;
  driver: string;
  systems: string[];
  tier: string;
  rounds: number;
  completed: boolean;
  /** Why it is not complete, or null. */
  incomplete: string | null;
  /** Names of the baselines that are copies of it. */
  baselines: string[];
  values: HistoryValue[];
}

interface HistoryValue {
  metric: string;
  name: string;
  unit: string;
  system: string;
  value: number;
  /** The conditions of the measurement, for metrics that require them to match. */
  at: string | null;
}

interface Unreadable {
  path: string;
  reason: string;
}

export interface History {
  /** Oldest first. */
  entries: HistoryEntry[];
  unreadable: Unreadable[];
  /** How many older directories were not read. */
  leftOut: number;
  /** Metrics of programs, each as the newest document defines it. */
  programs: MetricDefinition[];
}

/** Reads one document at a time, so that no two are in memory at once. */
export async function readHistory(
  { results = RESULTS, store = STORE, limit }: { results?: string; store?: string; limit: number },
  metrics: readonly MetricDefinition[],
): Promise<History> {
  const directories = await resultDirectories(results);
  const baselines = await baselineNames(store);
  const sources = [
    ...directories.slice(0, limit).map(({ path }) => ({ source: 'results' as const, path })),
    ...baselines.map((name) => ({ source: 'baseline' as const, path: join(store, `${name}.json`) })),
  ];
  const entries: HistoryEntry[] = [];
  const programs = new Map<string, MetricDefinition>();
  const unreadable: Unreadable[] = [];
  for (const { source, path } of sources)
    try {
      const { document } = await readDocument(path);
      entries.push({ source, path, baselines: [], ...entryOf(document, metrics) });
      for (const metric of programMetricsIn(roundsOf(document)))
        if (!programs.has(metric.id)) programs.set(metric.id, metric);
    } catch (error) {
      unreadable.push({ path, reason: messageOf(error) });
    }
  entries.sort((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt) || (a.path < b.path ? -1 : 1));
  return {
    entries: withoutCopies(entries),
    unreadable,
    leftOut: Math.max(0, directories.length - limit),
    programs: [...programs.values()],
  };
}

/** A baseline whose run is still there is a copy of it. */
function withoutCopies(entries: readonly HistoryEntry[]): HistoryEntry[] {
  const keyOf = ({ startedAt, gpu, systems, rounds }: HistoryEntry) =>
    JSON.stringify([startedAt, gpu, systems.map(nameOfLabel), rounds]);
  const isCopy = (entry: HistoryEntry, of: HistoryEntry) =>
    entry.source === 'baseline' && of.source === 'results' && keyOf(entry) === keyOf(of);
  return entries
    .filter((entry) => !entries.some((other) => isCopy(entry, other)))
    .map((entry) => {
      const copies = entries.filter((other) => isCopy(other, entry));
      return { ...entry, baselines: copies.map(({ path }) => basename(path, '.json')) };
    });
}

/** Null for a result that later ones can be compared with. */
function whyIncomplete(document: ResultDocument): string | null {
  const unproven = roundsOf(document).find(isUnattested);
  if (unproven) return `${unproven.system.name} not shown to be active`;
  if (document.completed) return null;
  return isComparison(document) && document.stopped !== undefined ? 'stopped' : 'interrupted';
}

function entryOf(
  document: ResultDocument,
  metrics: readonly MetricDefinition[],
): Omit<HistoryEntry, 'source' | 'path' | 'baselines'> {
  const { simulated, systems, categories } = viewOf(document);
  const incomplete = whyIncomplete(document);
  const rounds = roundsOf(document);
  const each = (texts: readonly string[]) => [...new Set(texts)].join('; ') || 'unknown';
  return {
    startedAt: document.startedAt,
    simulated,
    gpu: each(rounds.flatMap(({ gpu }) => gpu.map(nameWithSlice))),
    driver: each(rounds.map(({ driver }) => driver.version ?? 'unknown')),
    systems: systems.map(({ name }) => name),
    tier: document.plan.tier,
    rounds: isComparison(document) ? document.plan.rounds : 1,
    completed: incomplete === null,
    incomplete,
    values: categories.flatMap(({ rows }) => rows.flatMap((row) => valuesOf(row, metrics))),
  };
}

function valuesOf({ id, name, unit, cells }: Row, metrics: readonly MetricDefinition[]): HistoryValue[] {
  const metric = metrics.find((each) => each.id === id) ?? {};
  return cells.flatMap(({ system, value, results }) => {
    if (value === null) return [];
    const measured = results.filter((result) => result.value !== null);
    const at = conditionText(
      metric,
      measured.map(({ details }) => details),
    );
    return [{ metric: id, name, unit, system, value, at }];
  });
}

export interface Trend extends Omit<HistoryValue, 'value'> {
  simulated: boolean;
  gpu: string;
  driver: string;
  /** Oldest first. */
  points: { startedAt: string; value: number }[];
  first: number;
  last: number;
  /** Last against first value; null for metrics whose values may be zero or negative. */
  changePercent: number | null;
}

/**
 * Uses complete runs only; another GPU or driver, or simulated instead of real, starts another line. A system gets its
 * latest label.
 */
export function trendsOf(entries: readonly HistoryEntry[], metrics: readonly MetricDefinition[]): Trend[] {
  const lines = new Map<string, Omit<Trend, 'first' | 'last' | 'changePercent'>>();
  for (const { startedAt, simulated, gpu, driver, completed, values } of entries)
    for (const { value, ...what } of completed ? values : []) {
      if (!metrics.some(({ id }) => id === what.metric)) continue;
      const key = JSON.stringify([simulated, gpu, driver, what.metric, nameOfLabel(what.system), what.at]);
      const line = lines.get(key) ?? { ...what, simulated, gpu, driver, points: [] };
      // A copied directory is one measurement.
      if (!line.points.some((point) => point.startedAt === startedAt)) line.points.push({ startedAt, value });
      lines.set(key, { ...line, system: what.system });
    }
  return [...lines.values()].map((line) => finished(line, metrics)).sort(byCardThenMetric);
}

function finished(line: Omit<Trend, 'first' | 'last' | 'changePercent'>, metrics: readonly MetricDefinition[]): Trend {
  const values = line.points.map(({ value }) => value);
  const [first, last] = [values[0] as number, values.at(-1) as number];
  const delta = metrics.find(({ id }) => id === line.metric)?.delta ?? { absolute: 0 };
  const hasPercent = 'relative' in delta && first > 0 && last > 0;
  return { ...line, first, last, changePercent: hasPercent ? 100 * (last / first - 1) : null };
}

const cardOf = ({ simulated, gpu, driver }: Trend): string => JSON.stringify([simulated, gpu, driver]);

const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

function byCardThenMetric(a: Trend, b: Trend): number {
  return (
    byText(cardOf(a), cardOf(b)) ||
    byMetricId(a.metric, b.metric) ||
    byText(a.system, b.system) ||
    byText(a.at ?? '', b.at ?? '')
  );
}
