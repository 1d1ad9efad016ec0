/** Joins a system's round with its further workers of the same round: one document, one result per metric. */
import type { Check, MetricResult, ResultWithoutNumber, RunDocument } from '../../results/document.js';
import { unlikeConditions } from '../../metrics/core/compared-at.js';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { blockMedians } from '../../stats/blocks.js';
import { mean } from '../../stats/mean.js';
import { summarise } from '../../stats/summary.js';
import { healthWarnings, summariseJoined } from '../health-summary.js';
import { disowned } from './results.js';

/**
 * Joins documents: `whole` has all rows of all metrics; each of `further`, which ran before it, has the values of some.
 */
export function joinedDocument(
  whole: RunDocument,
  further: readonly RunDocument[],
  definitions: readonly MetricDefinition[],
  keepSamples: boolean,
): RunDocument {
  const all = [...further, whole];
  const notChecked = all.find(({ system }) => system.notCheckedAfter !== undefined)?.system.notCheckedAfter;
  const counts = all.flatMap(({ system }) => system.processes ?? []);
  const total = (of: (document: RunDocument) => number) => all.reduce((sum, document) => sum + of(document), 0);
  const durationMs = total((document) => document.durationMs);
  const metrics = whole.metrics.map((result) => {
    const definition = definitions.find(({ id }) => id === result.id);
    const others = further.flatMap((document) => document.metrics.find(({ id }) => id === result.id) ?? []);
    return definition && others.length > 0 ? joinedResult(definition, [...others, result]) : result;
  });
  const after = summariseJoined(
    metrics,
    all.map(({ health }) => health.after),
  );
  return {
    ...whole,
    durationMs,
    completed: all.every(({ completed }) => completed),
    system: {
      ...whole.system,
      ...(notChecked !== undefined && { notCheckedAfter: notChecked }),
      processes: {
        proven: counts.reduce((sum, { proven }) => sum + proven, 0),
        of: counts.reduce((sum, { of }) => sum + of, 0),
      },
    },
    metrics: metrics.map(({ samples, ...result }) => ({ ...result, ...(keepSamples && samples && { samples }) })),
    health: { ...whole.health, after },
    coordinatorCpuPercent: durationMs > 0 ? total((one) => one.coordinatorCpuPercent * one.durationMs) / durationMs : 0,
    warnings: [...new Set([...all.flatMap(withoutHealth), ...healthWarnings(after)])],
  };
}

/** The warnings of one process without those of its own health, which the joined ones replace. */
function withoutHealth({ warnings, health }: RunDocument): string[] {
  const own = healthWarnings(health.after);
  return warnings.filter((warning) => !own.includes(warning));
}

/**
 * Joins the results of one metric, in the order of measurement; the last has all rows. Processes that the machine
 * disturbed, by the metric's own check, are left out if more than half are left. If any other process has no value, the
 * joined result has none.
 */
export function joinedResult(definition: MetricDefinition, results: readonly MetricResult[]): MetricResult {
  const whole = results.at(-1) as MetricResult;
  const durationMs = results.reduce((sum, result) => sum + (result.durationMs ?? 0), 0);
  const violations = results.flatMap((result) => result.violations ?? []);
  const common = { ...whole, durationMs, ...(violations.length > 0 && { violations }) };
  const measured = results.filter(({ status }) => status === 'ok');
  const disturbed = results.find((result) => isDisturbed(definition, result));
  const bad = results.find(
    (result): result is ResultWithoutNumber => result.status !== 'ok' && !isDisturbed(definition, result),
  );
  const unlike = unlikeConditions(
    definition,
    measured.map(({ details }) => details),
  );
  if (bad) return withoutValue(common, bad.status, inProcess(bad, results));
  if (disturbed && measured.length <= results.length / 2)
    return withoutValue(
      common,
      'invalid',
      `${inProcess(disturbed, results)}; ${results.length - measured.length} of ${results.length} processes were disturbed`,
    );
  if (unlike !== null) return withoutValue(common, 'invalid', `${unlike} in the processes of a round`);
  const { reason: _, ...rest } = common;
  return {
    ...rest,
    ...valueOver(measured),
    status: 'ok',
    estimator: `mean over processes of the ${whole.estimator}`,
    checks: [
      ...joinedChecks(measured.map(({ checks }) => checks)),
      {
        name: 'every process gave a value',
        passed: !disturbed,
        detail: `${measured.length} of ${results.length}${disturbed ? `; ${inProcess(disturbed, results)}` : ''}`,
      },
    ],
  };
}

const isDisturbed = ({ furtherProcesses }: MetricDefinition, { status, reason = '' }: MetricResult): boolean =>
  status === 'invalid' && furtherProcesses?.disturbed?.test(reason) === true;

/** Whether a metric may have a value over processes, given those of these documents. */
export const hasStillAValue = (definition: MetricDefinition, documents: readonly RunDocument[]): boolean =>
  documents
    .flatMap(({ metrics }) => metrics.filter(({ id }) => id === definition.id))
    .every((result) => result.status === 'ok' || isDisturbed(definition, result));

function valueOver(measured: readonly MetricResult[]) {
  const values = measured.flatMap(({ value }) => value ?? []);
  const areLogs = values.every((value) => value > 0);
  const { value, ci95 } = mean(areLogs ? values.map(Math.log) : values);
  const back = (scaled: number) => (areLogs ? Math.exp(scaled) : scaled);
  const samples = measured.flatMap((result) => result.samples ?? []);
  const blocks = measured.flatMap((result) => result.blocks ?? []);
  return {
    value: back(value),
    ci95: ci95 && ([back(ci95[0]), back(ci95[1])] as [number, number]),
    ciScope: 'between-processes' as const,
    processes: values.length,
    processValues: values,
    ...(samples.length > 0 && { stats: summarise(samples), samples }),
    ...(blocks.length > 0 && { blocks: blockMedians(blocks) }),
  };
}

const withoutValue = (
  result: MetricResult,
  status: ResultWithoutNumber['status'],
  reason: string,
): ResultWithoutNumber => ({
  ...disowned(result, reason),
  status,
  details: result.details,
});

/** Adds the number of the process. The original reason comes first: documents are searched by their beginning. */
const inProcess = (result: MetricResult, all: readonly MetricResult[]): string =>
  `${result.reason ?? result.status} (process ${all.indexOf(result) + 1} of ${all.length})`;

/** Keeps one check per name: the first that failed, else the first. */
function joinedChecks(lists: readonly (readonly Check[])[]): Check[] {
  const all = lists.flat();
  return [...new Set(all.map(({ name }) => name))].flatMap((name) => {
    const named = all.filter((check) => check.name === name);
    return named.find(({ passed }) => passed === false) ?? named[0] ?? [];
  });
}
