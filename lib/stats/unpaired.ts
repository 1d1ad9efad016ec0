/**
 * The effect of a system against values of another session. Their rounds are not paired, so drift between the sessions
 * is part of the effect: good enough to raise an alarm, not to compare systems.
 */
import { mean } from 'simple-statistics';
import { type Delta, type Effect, effectOf, hasRatio } from './effect.js';
import { welchEstimate } from './welch.js';

/** With one value on a side there is no interval, so the verdict is `inconclusive`. */
export function unpairedEffect(
  system: readonly number[],
  baseline: readonly number[],
  direction: 'lower' | 'higher',
  delta: Delta,
): Effect {
  const logs = hasRatio(delta, system, baseline) ? welchEstimate(system.map(Math.log), baseline.map(Math.log)) : null;
  const found = effectOf({ system, baseline, differences: welchEstimate(system, baseline), logs }, direction, delta);
  return found.differenceCi95 ? found : { ...found, difference: differenceOfMeans(system, baseline) };
}

const differenceOfMeans = (a: readonly number[], b: readonly number[]): number =>
  a.length > 0 && b.length > 0 ? mean([...a]) - mean([...b]) : Number.NaN;
