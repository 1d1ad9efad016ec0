/** Effects judged against a gate's tolerance in place of δ, by the function that gives verdicts. */
import type { Effect } from '../results/document.js';
import { boundOf, type Delta } from '../stats/rule/effect.js';
import type { Interval } from '../stats/rule/estimate.js';
import { decide, type Decision, type Evidence } from '../stats/rule/verdict.js';

/** An effect of one system, and the change for the worse that is allowed. */
export interface Tolerated {
  effect: Effect;
  direction: 'lower' | 'higher';
  allowed: Delta;
}

export interface Judged extends Decision {
  /** Evidence on the scale of the tolerance, where 0 is no effect and more is worse. */
  evidence: Evidence;
  /** The tolerance on that scale. */
  bound: number;
}

/** Null for an effect that has no number on the scale of its tolerance. */
export function judgedAgainst(family: readonly Tolerated[]): (Judged | null)[] {
  const evidence = family.map(evidenceOf);
  const tested = family.flatMap(({ allowed }, i) => {
    const own = evidence[i];
    return own ? [{ evidence: own, delta: boundOf(allowed) }] : [];
  });
  const decisions = decide(tested);
  let place = 0;
  return evidence.map((own): Judged | null => {
    if (!own) return null;
    const index = place++;
    return { ...(decisions[index] as Decision), evidence: own, bound: tested[index]?.delta ?? 0 };
  });
}

function evidenceOf({ effect, direction, allowed }: Tolerated): Evidence | null {
  if (effect.verdict === 'invalid') return null;
  const { p, exact = false } = effect;
  if ('relative' in allowed) {
    const { ratio, ratioCi90, ratioCi95 } = effect;
    if (ratio === null) return null;
    return { centre: Math.log(ratio), p, ci90: logOf(ratioCi90), ci95: logOf(ratioCi95), isExact: exact };
  }
  const { difference, differenceCi90, differenceCi95 } = effect;
  if (difference === null) return null;
  const worse = (interval: Interval | null): Interval | null =>
    interval && direction === 'higher' ? [-interval[1], -interval[0]] : interval;
  return {
    centre: direction === 'higher' ? -difference : difference,
    p,
    ci90: worse(differenceCi90),
    ci95: worse(differenceCi95),
    isExact: exact,
  };
}

const logOf = (interval: Interval | null): Interval | null =>
  interval && [Math.log(interval[0]), Math.log(interval[1])];
