/**
 * The effect of a system against values of another session. Nothing pairs their rounds, so what drifted between the
 * sessions is in the effect: good enough to raise an alarm, not to compare systems.
 */
import { mean } from 'simple-statistics';
import { type Delta, type Effect, effectOf, hasRatio } from './effect.js';
import { welchEstimate } from './welch.js';

/** With one value on a side there is no interval, hence no verdict but `inconclusive`. */
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
