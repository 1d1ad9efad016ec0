/**
 * Plans the number of rounds from a pilot. The pilot measures how much rounds differ and is not part of the result: the
 * number of rounds is fixed before the first one that counts, so that intervals keep their coverage.
 */
import type { ComparisonDocument, Effect, RunDocument } from '../results/document.js';
import type { MetricDefinition } from '../metrics/metric.js';
import { UsageError } from '../errors/usage-error.js';
import { deviationOf, detectable, roundsToDetect } from '../stats/rounds-needed.js';
import { type CompareHooks, type CompareRequest, compareSystems } from './compare.js';

export const PILOT_ROUNDS = 5;
export const FEWEST_ROUNDS = 3;
export const MOST_ROUNDS = 50;
/**
 * A pilot of five rounds often varies too little by chance: of plans for 90 % about 80 % detect the effect (simulated
 * with standard deviations from 1 to 9 % between rounds).
 */
const POWER = 0.9;

export type Detection = NonNullable<ComparisonDocument['plan']['detect']>;
export type Need = Detection['needs'][number];

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

/** If the pilot is interrupted, returns it unchanged. */
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

/** Covers every ratio of the pilot that has an interval. */
export function detectionOf(
  effects: readonly Effect[],
  metrics: readonly MetricDefinition[],
  { effect, mostRounds }: Aim,
): Detection {
  const plan = { fewest: FEWEST_ROUNDS, most: mostRounds, power: POWER };
  const byRatio = new Set(metrics.filter(({ delta }) => 'relative' in delta).map(({ id }) => id));
  const needs = effects.flatMap(({ metric, system, rounds, ratioCi95, verdictRaw }): Need[] => {
    if (ratioCi95 === null || verdictRaw === 'invalid' || !byRatio.has(metric)) return [];
    const [low, high] = ratioCi95;
    const sd = deviationOf([Math.log(low), Math.log(high)], rounds);
    const needed = roundsToDetect(Math.log1p(effect), sd, plan);
    return [{ metric, system, rounds: needed, detects: Math.expm1(detectable(sd, needed ?? mostRounds, POWER)) }];
  });
  return { effect, pilotRounds: PILOT_ROUNDS, mostRounds, needs };
}

/** The largest number among the metrics that `mostRounds` suffice for; `mostRounds` if any metric needs more. */
export const plannedRounds = ({ needs, mostRounds }: Detection): number =>
  Math.max(FEWEST_ROUNDS, ...needs.map(({ rounds }) => rounds ?? mostRounds));
