/** From documents by system and round to effects: every system against the baseline, every metric, Holm over all. */
import type { Effect, MetricResult, RunDocument } from '../document.js';
import type { MetricDefinition } from '../metrics/metric.js';
import { effect, holmVerdicts, type Round, type Effect as RoundEffect } from '../stats/effect.js';

interface Pairing {
  metric: MetricDefinition;
  system: string;
  baseline: string;
  rounds: Round[];
  /** Why this pair has no verdict although it was measured. */
  invalid: string | null;
}

const resultOf = (document: RunDocument | undefined, id: string): MetricResult | undefined =>
  document?.metrics.find((result) => result.id === id);

/** Rounds count by their number: the n-th of one system ran beside the n-th of the other. */
function pair(metric: MetricDefinition, system: readonly RunDocument[], baseline: readonly RunDocument[]): Pairing {
  const rounds: Round[] = [];
  let invalid: string | null = null;
  for (let round = 0; round < Math.min(system.length, baseline.length); round++) {
    const arms = [resultOf(system[round], metric.id), resultOf(baseline[round], metric.id)];
    const [a, b] = arms;
    const bad = arms.find((result) => result?.status === 'invalid');
    if (bad) invalid ??= bad.reason ?? 'invalid';
    if (a?.status === 'ok' && b?.status === 'ok' && a.value !== null && b.value !== null)
      rounds.push({ system: a.value, baseline: b.value });
  }
  return {
    metric,
    system: system[0]?.system.name ?? '',
    baseline: baseline[0]?.system.name ?? '',
    rounds,
    invalid,
  };
}

function judge({ metric, rounds, invalid }: Pairing): RoundEffect {
  if (metric.direction === 'none') throw new Error('unreachable: a metric without a direction has no verdict');
  const found = effect(rounds, metric.direction, metric.delta);
  return invalid === null ? found : { ...found, verdictRaw: 'invalid', pBeyondDelta: null };
}

/** The first system is the baseline. A metric that was not measured in both arms of any round has no effect. */
export function effects(metrics: readonly MetricDefinition[], systems: readonly (readonly RunDocument[])[]): Effect[] {
  const [baseline = [], ...others] = systems;
  const pairings = metrics
    .filter(({ direction }) => direction !== 'none')
    .flatMap((metric) => others.map((system) => pair(metric, system, baseline)))
    .filter(({ rounds, invalid }) => rounds.length > 0 || invalid !== null);
  const judged = pairings.map(judge);
  const verdicts = holmVerdicts(judged);
  return pairings.map(({ metric, system, baseline: against, rounds, invalid }, i) => {
    const { ratio, ratioCi95, difference, differenceCi95, verdictRaw, pValues } = judged[i] as RoundEffect;
    return {
      metric: metric.id,
      system,
      baseline: against,
      rounds: rounds.length,
      ratio,
      ratioCi95,
      difference: Number.isFinite(difference) ? difference : null,
      differenceCi95,
      verdict: verdicts[i] ?? 'ambiguous',
      verdictRaw,
      pValues,
      ...(invalid !== null && { reason: invalid }),
    };
  });
}
