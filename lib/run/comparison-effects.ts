/**
 * Computes effects from documents by system and round: every system against the baseline, for every metric, with Holm's
 * adjustment over all.
 */
import type { Effect, MetricResult, RunDocument } from '../results/document.js';
import { unlikeConditions } from '../metrics/compared-at.js';
import type { MetricDefinition } from '../metrics/metric.js';
import { type Arm, type ArmRound, bootstrapCi95 } from '../stats/bootstrap.js';
import { effect, holmVerdicts, published, type Effect as RoundEffect } from '../stats/effect.js';

interface Pairing {
  metric: MetricDefinition;
  system: string;
  baseline: string;
  rounds: ArmRound[];
  /** Why this pair has no verdict although it was measured. */
  invalid: string | null;
}

/** A system's rounds; undefined if it was not measured in the same rounds as the others. */
type Arms = readonly (RunDocument | undefined)[];

const nameOf = (arms: Arms): string => arms.find((round) => round !== undefined)?.system.name ?? '';

const resultOf = (document: RunDocument | undefined, id: string): MetricResult | undefined =>
  document?.metrics.find((result) => result.id === id);

const armOf = (result: MetricResult | undefined): Arm | null =>
  result?.status === 'ok' && result.value !== null
    ? { value: result.value, ...(result.blocks && { blocks: result.blocks }) }
    : null;

/** A metric that is a difference to native is `unsupported` alone; its details hold the value of its arm. */
const vouchedFor = ({ status }: MetricResult): boolean => status === 'ok' || status === 'unsupported';

/** Both arms of a round, or null if one was not measured. */
function roundOf(
  metric: MetricDefinition,
  system: MetricResult | undefined,
  baseline: MetricResult | undefined,
  isNative: boolean,
): ArmRound | null {
  const { againstNative } = metric;
  if (againstNative === undefined) {
    const [measured, against] = [armOf(system), armOf(baseline)];
    return measured && against ? { system: measured, baseline: against } : null;
  }
  const [measured, against] = [system, baseline].map((result) =>
    result && vouchedFor(result) ? againstNative.arm(result.details) : null,
  );
  if (!isNative || typeof measured !== 'number' || typeof against !== 'number') return null;
  return { system: { value: againstNative.difference(measured, against) }, baseline: { value: 0 } };
}

/** A simulated GPU must not be compared with a real one. */
function mixedWorlds(...arms: Arms[]): string | null {
  const worlds = new Set(
    arms.flatMap((rounds) => rounds.flatMap((round) => round?.gpu.map(({ simulated }) => simulated) ?? [])),
  );
  return worlds.size > 1 ? 'measured partly on a simulated and partly on a real GPU' : null;
}

/** Pairs rounds by index: the n-th of one system ran beside the n-th of the other. */
function pair(metric: MetricDefinition, system: Arms, baseline: Arms): Pairing {
  const rounds: ArmRound[] = [];
  const mixed = mixedWorlds(system, baseline);
  let invalid = mixed;
  for (let round = 0; round < Math.min(system.length, baseline.length); round++) {
    const arms = [resultOf(system[round], metric.id), resultOf(baseline[round], metric.id)];
    const [a, b] = arms;
    const bad = arms.find((result) => result?.status === 'invalid');
    if (bad) invalid ??= bad.reason ?? 'invalid';
    const isNative = baseline[round]?.system.kind === 'native';
    const both = roundOf(metric, a, b, isNative);
    const implausible = isNative && a && b ? (metric.besideNative?.(a, b) ?? null) : null;
    const unlike = both && a && b ? (unlikeConditions(metric, [a.details, b.details]) ?? implausible) : null;
    invalid ??= unlike;
    if (both && mixed === null && unlike === null) rounds.push(both);
  }
  return {
    metric,
    system: nameOf(system),
    baseline: nameOf(baseline),
    rounds,
    invalid,
  };
}

type Judged = RoundEffect & Pick<Effect, 'bootstrapCi95'>;

function judge({ metric, rounds, invalid }: Pairing, seed: number): Judged {
  const { direction, delta } = metric;
  if (direction === 'none') throw new Error('unreachable: a metric without a direction has no verdict');
  const values = rounds.map(({ system, baseline }) => ({ system: system.value, baseline: baseline.value }));
  const found = { ...effect(values, direction, delta), bootstrapCi95: bootstrapCi95(rounds, direction, delta, seed) };
  return invalid === null ? found : { ...found, verdictRaw: 'invalid', pBeyondDelta: null };
}

/**
 * The first system is the baseline. A metric has no effect unless some round measured it in both arms. Every effect
 * restarts from the seed, so that it does not depend on which other metrics were measured.
 */
export function effects(metrics: readonly MetricDefinition[], systems: readonly Arms[], seed: number): Effect[] {
  const [baseline = [], ...others] = systems;
  const pairings = metrics
    .filter(({ direction }) => direction !== 'none')
    .flatMap((metric) => others.map((system) => pair(metric, system, baseline)))
    .filter(({ rounds, invalid }) => rounds.length > 0 || invalid !== null);
  const judged = pairings.map((pairing) => judge(pairing, seed));
  const verdicts = holmVerdicts(judged);
  return pairings.map(({ metric, system, baseline: against, rounds, invalid }, i) =>
    published(judged[i] as Judged, {
      metric: metric.id,
      system,
      baseline: against,
      rounds: rounds.length,
      verdict: verdicts[i] ?? 'inconclusive',
      ...(invalid !== null && { reason: invalid }),
    }),
  );
}
