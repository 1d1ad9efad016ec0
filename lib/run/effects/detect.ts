/**
 * Plans the number of rounds from a pilot. The pilot measures how much rounds differ and is not part of the result: the
 * number of rounds is fixed before the first one that counts, so that intervals keep their coverage.
 */
import type { ComparisonDocument, Effect, RunDocument } from '../../results/document.js';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { UsageError } from '../../errors/usage-error.js';
import { detectable, roundsToDetect, upperVariances } from '../../stats/rule/rounds-needed.js';
import { compareSystems } from '../compare.js';
import type { CompareHooks, CompareRequest } from '../compare-request.js';

export const PILOT_ROUNDS = 5;
export const FEWEST_ROUNDS = 3;
export const MOST_ROUNDS = 50;
/**
 * Confidence of the upper limit of the pilot's variance, which is planned for: five rounds often vary too little by
 * chance.
 */
const CONFIDENCE = 0.8;
/**
 * Probability of detection with that variance. Over all pilots the verdict then comes in 75 to 90 % of comparisons
 * (bench/power.js).
 */
const POWER = 0.7;

export type Detection = NonNullable<ComparisonDocument['plan']['detect']>;
type Need = Detection['needs'][number];

export interface Aim {
  /** The effect to detect: 0.05 is 5 %. */
  effect: number;
  mostRounds: number;
}

export type Stage = 'pilot' | 'round';

export interface Staged {
  /** Rounds of an earlier run, as in CompareRequest. */
  finished: (stage: Stage, rounds: number) => Promise<readonly (readonly (RunDocument | undefined)[])[]>;
  hooks: (stage: Stage) => CompareHooks;
  onPlanned: (detection: Detection, rounds: number) => void;
}

/** Throws UsageError if no metric has a ratio to which a percentage could apply. */
export function checkDetectable(metrics: readonly MetricDefinition[]): void {
  if (metrics.some(({ direction, delta }) => direction !== 'none' && 'relative' in delta)) return;
  const ids = metrics.map(({ id }) => id).sort();
  throw new UsageError(
    `Expected a metric that is compared by ratio beside --detect but received ${ids.join(', ')}: name others, or the number of rounds with --rounds.`,
  );
}

/** Measures a pilot, plans the rounds from it and measures them. Returns the pilot unchanged if it was interrupted. */
export async function compareToDetect(
  request: Omit<CompareRequest, 'rounds' | 'finished'>,
  aim: Aim,
  { finished, hooks, onPlanned }: Staged,
): Promise<ComparisonDocument> {
  const measure = async (stage: Stage, rounds: number) =>
    compareSystems({ ...request, rounds, finished: await finished(stage, rounds) }, hooks(stage));
  const pilot = await measure('pilot', PILOT_ROUNDS);
  const detection = detectionOf(pilot.effects, request.plan.metrics, aim);
  if (!pilot.completed) return withDetection(pilot, { ...detection, needs: [], isPilot: true });
  const rounds = plannedRounds(detection);
  onPlanned(detection, rounds);
  return withDetection(await measure('round', rounds), detection);
}

const withDetection = (document: ComparisonDocument, detect: Detection): ComparisonDocument => ({
  ...document,
  plan: { ...document.plan, detect },
});

/**
 * Covers every ratio of the pilot that has a spread. An effect is planned for as the only real one of its system; one
 * below the metric's δ would be called `same`, so δ is planned for instead.
 */
export function detectionOf(
  effects: readonly Effect[],
  metrics: readonly MetricDefinition[],
  { effect, mostRounds }: Aim,
): Detection {
  const byId = new Map(metrics.map((metric) => [metric.id, metric]));
  const testedIn = (name: string) => effects.filter(({ system, p }) => system === name && p !== null).length;
  const needs = effects.flatMap(({ metric, system, rounds, ratio, betweenRounds, verdict }): Need[] => {
    const delta = byId.get(metric)?.delta;
    if (!delta || !('relative' in delta) || ratio === null || betweenRounds === null || verdict === 'invalid')
      return [];
    const family = { tested: testedIn(system), established: 0 };
    const [own, other] = betweenRounds;
    const variances = upperVariances([own ** 2, other ** 2], rounds, CONFIDENCE);
    const size = Math.log1p(Math.max(effect, delta.relative));
    const needed = roundsToDetect(size, variances, { fewest: FEWEST_ROUNDS, most: mostRounds, power: POWER, family });
    const detects = Math.expm1(detectable(variances, needed ?? mostRounds, family, POWER));
    return [{ metric, system, rounds: needed, detects }];
  });
  return { effect, pilotRounds: PILOT_ROUNDS, mostRounds, needs };
}

/**
 * The largest number of rounds among the metrics for which `mostRounds` suffice; `mostRounds` if any metric needs more.
 */
export const plannedRounds = ({ needs, mostRounds }: Detection): number =>
  Math.max(FEWEST_ROUNDS, ...needs.map(({ rounds }) => rounds ?? mostRounds));
