/**
 * Compares a document with a stored one of another session, for gates only. The sessions share neither rounds nor,
 * often, the state of the machine, so both environments are printed and differences are warnings.
 */
import { isNative } from '../results/recorded-kind.js';
import type { Effect, MetricResult, RunDocument } from '../results/document.js';
import { UsageError } from '../errors/usage-error.js';
import { unlikeConditions } from '../metrics/core/compared-at.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import { besides } from '../results/rounds.js';
import { isSimulated, type ResultDocument } from '../results/kinds.js';
import { viewOf } from '../results/view.js';
import { type Directed, effectsOf, isDirected, type Measured } from '../run/effects/family.js';
import type { Baseline } from '../saved/baseline-store.js';
import type { Environment } from './document.js';
import { environmentDifferences, environmentOf } from './environment.js';
import { settingDifferences } from './settings.js';

interface AgainstBaseline {
  environments: { now: Environment; baseline: Environment };
  warnings: string[];
  /** The `baseline` of each is the name of the stored one. */
  effects: Effect[];
}

/** Rounds of each system, by name. */
type Systems = ReadonlyMap<string, readonly RunDocument[]>;

const systemsOf = (document: ResultDocument): Systems =>
  new Map(viewOf(document).systems.map(({ name, rounds }) => [name, rounds]));

/** Throws UsageError for documents that cannot be compared: simulated with real, other systems, another kind. */
export function againstBaseline(
  document: ResultDocument,
  { name, document: stored }: Baseline,
  metrics: readonly MetricDefinition[],
): AgainstBaseline {
  checkSameWorld(isSimulated(document), { name, document: stored });
  const [now, then] = [systemsOf(document), systemsOf(stored)];
  checkShared([...now.keys()], { name, document: stored });
  checkKinds(
    [...now]
      .map(([system, rounds]) => ({ name: system, kind: rounds[0]?.system.kind ?? '' }))
      .filter(({ kind }) => kind),
    { name, document: stored },
  );
  const [environment, storedEnvironment] = [environmentOf(document), environmentOf(stored)];
  return {
    environments: { now: environment, baseline: storedEnvironment },
    warnings: [
      ...environmentDifferences(environment, storedEnvironment),
      ...[...now].flatMap(([system, rounds]) => settingDifferences(system, rounds, then.get(system))),
    ],
    effects: effectsAgainst(now, then, name, metrics),
  };
}

/** Also called before anything is measured. */
export function checkSameWorld(simulated: boolean, { name, document }: Baseline): void {
  const [now, then] = [simulated, isSimulated(document)].map((is) => (is ? 'simulated' : 'real'));
  if (now !== then)
    throw new UsageError(
      `Expected baseline ${name} to be of a ${now} GPU but received one of a ${then} GPU: the two cannot be compared.`,
    );
}

export function checkShared(systems: readonly string[], { name, document }: Baseline): void {
  const stored = viewOf(document).systems.map((system) => system.name);
  if (systems.some((system) => stored.includes(system))) return;
  throw new UsageError(
    `Expected a system of baseline ${name} (${stored.join(', ')}) but received ${systems.join(', ')}: give the systems the same names.`,
  );
}

/** Systems of different kinds under one name must not be compared. */
export function checkKinds(systems: readonly { name: string; kind: string }[], { name, document }: Baseline): void {
  const stored = viewOf(document).systems;
  for (const { name: system, kind } of systems) {
    const other = stored.find((each) => each.name === system)?.rounds[0]?.system.kind;
    if (other === undefined || other === kind) continue;
    throw new UsageError(
      `Expected ${system} to be of kind ${other}, as in baseline ${name}, but received ${kind}: give it another name.`,
    );
  }
}

/** The rounds of two sessions are not beside each other, so drift between the sessions is part of the effect. */
function effectsAgainst(now: Systems, then: Systems, baseline: string, metrics: readonly MetricDefinition[]): Effect[] {
  const directed = metrics.filter(isDirected);
  return [...now.keys()].flatMap((system) => {
    const measured = directed
      .map((metric) => measuredIn(metric, system, now, then))
      .filter((each) => each.system.length > 0 && each.baseline.length > 0);
    return effectsOf(measured, system, baseline);
  });
}

function measuredIn(metric: Directed, system: string, now: Systems, then: Systems): Measured {
  const [a, b] = [now, then].map((systems) => valuesOf(metric, system, systems)) as [Values, Values];
  return { metric, system: a.values, baseline: b.values, invalid: notComparable(metric, [...a.at, ...b.at]) };
}

interface Values {
  values: number[];
  /** Details of the compared results. */
  at: MetricResult['details'][];
}

const resultOf = (round: RunDocument, id: string): MetricResult | undefined =>
  round.metrics.find((result) => result.id === id);

/** One per round. For a metric that is a difference to native: the difference to the native round beside it. */
function valuesOf(metric: MetricDefinition, system: string, systems: Systems): Values {
  const { againstNative, id } = metric;
  const rounds = systems.get(system) ?? [];
  if (againstNative) {
    const native = [...systems.values()].find((each) => isNative(each[0])) ?? [];
    const arm = (round: RunDocument) => againstNative.arm(resultOf(round, id)?.details ?? {});
    const differences = besides(rounds, native === rounds ? [] : native).flatMap((pair) => {
      const [own, other] = pair.map(arm) as [number | null, number | null];
      return own === null || other === null ? [] : [againstNative.difference(own, other)];
    });
    return { values: differences, at: [] };
  }
  const measured = rounds.flatMap((round) => resultOf(round, id) ?? []).filter(({ value }) => value !== null);
  return {
    values: measured.map(({ value }) => value as number),
    at: measured.map(({ details }) => details),
  };
}

function notComparable(metric: MetricDefinition, at: Values['at']): string | null {
  const why = unlikeConditions(metric, at);
  return why === null ? null : `not comparable: ${why}`;
}
