/**
 * Computes effects from documents by system and round: every system against the baseline, and the other systems against
 * each other. The effects of one system against one other are a family; docs/method.md says what that means.
 */
import { areOnOneCard, cardsOfPairs } from '../../results/cards.js';
import { isNative } from '../../results/recorded-kind.js';
import type { Effect, MetricResult, RunDocument } from '../../results/document.js';
import { unlikeConditions } from '../../metrics/core/compared-at.js';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { type Directed, effectsOf, isDirected, type Measured } from './family.js';

/** A system's rounds; undefined if it was not measured in the same rounds as the others. */
type Arms = readonly (RunDocument | undefined)[];

interface Round {
  system: number;
  baseline: number;
}

const nameOf = (arms: Arms): string => arms.find((round) => round !== undefined)?.system.name ?? '';

const resultOf = (document: RunDocument | undefined, id: string): MetricResult | undefined =>
  document?.metrics.find((result) => result.id === id);

const valueOf = (result: MetricResult | undefined): number | null => (result?.status === 'ok' ? result.value : null);

/**
 * Whether a result's details may be used. A metric that is a difference to native is `unsupported` alone, but its
 * details hold the value of its arm.
 */
const vouchedFor = ({ status }: MetricResult): boolean => status === 'ok' || status === 'unsupported';

/** Pairs both arms of a round; null if one was not measured. */
function roundOf(
  metric: MetricDefinition,
  system: MetricResult | undefined,
  baseline: MetricResult | undefined,
  isAgainstNative: boolean,
): Round | null {
  const { againstNative } = metric;
  if (againstNative === undefined) {
    const [measured, against] = [valueOf(system), valueOf(baseline)];
    return measured === null || against === null ? null : { system: measured, baseline: against };
  }
  const [measured, against] = [system, baseline].map((result) =>
    result && vouchedFor(result) ? againstNative.arm(result.details) : null,
  );
  if (!isAgainstNative || typeof measured !== 'number' || typeof against !== 'number') return null;
  return { system: againstNative.difference(measured, against), baseline: 0 };
}

/** Why the arms cannot be compared: a simulated GPU must not be compared with a real one. Null: they can. */
function mixedWorlds(...arms: Arms[]): string | null {
  const worlds = new Set(
    arms.flatMap((rounds) => rounds.flatMap((round) => round?.gpu.map(({ simulated }) => simulated) ?? [])),
  );
  return worlds.size > 1 ? 'measured partly on a simulated and partly on a real GPU' : null;
}

/** Fewest pairs that are compared where others were left out. */
const FEWEST_PAIRS = 2;

/** Pairs rounds by index: the n-th of one system ran beside the n-th of the other. Only pairs on one card are compared. */
function measuredIn(metric: Directed, system: Arms, baseline: Arms): Measured {
  const rounds: Round[] = [];
  const measuredOn: RunDocument[] = [];
  let leftOut = 0;
  const mixed = mixedWorlds(system, baseline);
  let invalid = mixed;
  for (let round = 0; round < Math.min(system.length, baseline.length); round++) {
    const documents = [system[round], baseline[round]] as const;
    const arms = documents.map((document) => resultOf(document, metric.id));
    const [a, b] = arms;
    const bad = arms.find((result) => result?.status === 'invalid');
    if (bad) invalid ??= bad.reason ?? 'invalid';
    const isAgainstNative = isNative(baseline[round]);
    const both = roundOf(metric, a, b, isAgainstNative);
    const implausible = isAgainstNative && a && b ? (metric.besideNative?.(a, b) ?? null) : null;
    const unlike = both && a && b ? (unlikeConditions(metric, [a.details, b.details]) ?? implausible) : null;
    if (!both || mixed !== null) continue;
    const [own, other] = documents as [RunDocument, RunDocument];
    if (!areOnOneCard(own, other)) leftOut++;
    else if (unlike !== null) invalid ??= unlike;
    else {
      rounds.push(both);
      measuredOn.push(own);
    }
  }
  if (leftOut > 0 && rounds.length < FEWEST_PAIRS)
    invalid ??= `both ran on one card in ${rounds.length} of ${rounds.length + leftOut} rounds, ${FEWEST_PAIRS} are needed: measure more rounds, or bind the pods to a card`;
  return {
    metric,
    system: rounds.map((round) => round.system),
    baseline: rounds.map((round) => round.baseline),
    cards: cardsOfPairs(measuredOn),
    invalid,
  };
}

/** Computes the effects of one system against another. A metric has none unless some round measured it in both arms. */
function family(metrics: readonly Directed[], system: Arms, baseline: Arms): Effect[] {
  const measured = metrics
    .map((metric) => measuredIn(metric, system, baseline))
    .filter((each) => each.system.length > 0 || each.invalid !== null);
  return effectsOf(measured, nameOf(system), nameOf(baseline));
}

/** Effects of every system against the first, ordered by metric, then by system. */
export function effects(metrics: readonly MetricDefinition[], systems: readonly Arms[]): Effect[] {
  const [baseline = [], ...others] = systems;
  const directed = metrics.filter(isDirected);
  const families = others.map((system) => family(directed, system, baseline));
  return directed.flatMap(({ id }) => families.flatMap((each) => each.filter(({ metric }) => metric === id)));
}

/** Effects of every system against each one before it, without the baseline. */
export function pairEffects(metrics: readonly MetricDefinition[], systems: readonly Arms[]): Effect[] {
  const [, ...others] = systems;
  const directed = metrics.filter((metric): metric is Directed => isDirected(metric) && !metric.againstNative);
  return others.flatMap((system, index) => others.slice(0, index).flatMap((other) => family(directed, system, other)));
}
