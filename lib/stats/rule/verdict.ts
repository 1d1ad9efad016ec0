/**
 * From evidence to a verdict, in three statements: is there a difference (false-discoveries.ts), how large is it (the
 * 95 % interval), does it matter (two one-sided tests against δ). Verdicts, gates, plans and recommendations all ask this
 * function. docs/method.md explains it, bench/power.js measures its error rates.
 */
import { intervalOf, type Estimate, type Interval, pAt } from './estimate.js';
import { established } from './false-discoveries.js';

type Verdict = 'faster' | 'slower' | 'same' | 'inconclusive' | 'invalid';

/**
 * How the size relates to δ. `within`: the 90 % interval lies inside ±δ, which is two one-sided tests at 5 %. `beyond`:
 * the 95 % interval lies wholly outside. `straddles`: neither was shown.
 */
type Relevance = 'within' | 'beyond' | 'straddles';

/** Evidence on a scale where 0 is no effect and more is worse. */
export interface Evidence {
  centre: number;
  /** Two-sided p of no difference. */
  p: number | null;
  ci90: Interval | null;
  ci95: Interval | null;
  /** Exact values, such as counts, are compared as values and belong to no family. */
  isExact?: boolean;
}

export interface Decision {
  /** Whether there is a difference, of whatever size. */
  established: boolean;
  /** Null without an interval. */
  relevance: Relevance | null;
  verdict: Exclude<Verdict, 'invalid'>;
}

export const evidenceOf = (estimate: Estimate): Evidence => ({
  centre: estimate.centre,
  p: pAt(estimate),
  ci90: intervalOf(estimate, 0.1),
  ci95: intervalOf(estimate, 0.05),
});

/**
 * Values that do not vary: shown to differ if every round of an arm agrees and the arms do not. Arms of which one
 * contradicts itself have no interval. Expects two rounds or more in each arm.
 */
export function exactEvidence(centre: number, ...arms: (readonly number[])[]): Evidence {
  const agree = arms.every((values) => values.length > 1 && values.every((value) => value === values[0]));
  const at: Interval | null = agree ? [centre, centre] : null;
  return { centre, p: null, ci90: at, ci95: at, isExact: true };
}

function relevanceOf({ ci90, ci95 }: Evidence, delta: number): Relevance | null {
  if (!ci90 || !ci95) return null;
  if (ci90[0] >= -delta && ci90[1] <= delta) return 'within';
  return ci95[0] > delta || ci95[1] < -delta ? 'beyond' : 'straddles';
}

/** One decision for each member of a family, each with its own δ on the scale of its evidence. */
export function decide(family: readonly { evidence: Evidence; delta: number }[]): Decision[] {
  const relevance = family.map(({ evidence, delta }) => relevanceOf(evidence, delta));
  const found = established(
    family.map(({ evidence }, i) => ({ p: evidence.isExact ? null : evidence.p, counts: relevance[i] !== 'within' })),
  );
  return family.map(({ evidence }, i): Decision => {
    const { centre, ci95, isExact } = evidence;
    const isFound = isExact ? ci95 !== null && centre !== 0 : (found[i] as boolean);
    return {
      established: isFound,
      relevance: relevance[i] as Relevance | null,
      verdict: verdictOf(relevance[i], isFound, centre),
    };
  });
}

function verdictOf(relevance: Relevance | null | undefined, isFound: boolean, centre: number): Decision['verdict'] {
  if (relevance === 'within') return 'same';
  if (!isFound) return 'inconclusive';
  return centre > 0 ? 'slower' : 'faster';
}
