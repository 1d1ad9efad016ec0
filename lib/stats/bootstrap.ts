/**
 * A hierarchical bootstrap of the effect over rounds: draws rounds with replacement, then in each arm of a drawn round
 * its process's blocks with replacement. Davison & Hinkley, Bootstrap Methods and their Application (1997), section
 * 3.8; percentile interval.
 *
 * Its coverage was measured on 4 000 seeded comparisons with 1 % (standard deviation) between processes and 20 blocks:
 * with ten rounds 90 % if blocks do not vary, 92 % if they vary by 1 %, 97 % by 3 %, 99 % by 10 %; with twelve rounds
 * 91, 93, 97 and 99 %. A percentile interval of so few rounds is narrow, and redrawing blocks counts their noise twice.
 * The t interval covered 95 % throughout: it decides, and this one is shown in addition.
 */
import { quantileSorted } from 'simple-statistics';
import type { Delta, Interval } from './effect.js';
import { seededRandom } from './random.js';

/** One process: its value, and the medians of its blocks; without blocks the value is used unchanged. */
export interface Arm {
  value: number;
  blocks?: readonly number[];
}

export interface ArmRound {
  system: Arm;
  baseline: Arm;
}

export const REPLICATES = 1_000;
/** With fewer rounds there is no interval: it would be narrower still. */
export const FEWEST_ROUNDS = 10;

const blocksOf = ({ value, blocks }: Arm): readonly number[] => (blocks && blocks.length > 0 ? blocks : [value]);

/** The median of as many draws as there are samples. Counts how often each is drawn instead of sorting the draws. */
export function redrawnMedian(samples: ArrayLike<number>, random: () => number): () => number {
  const sorted = Float64Array.from(samples).sort();
  const n = sorted.length;
  const draws = new Uint32Array(n);
  const ranked = (rank: number): number => {
    let at = 0;
    for (let upTo = draws[0] as number; upTo <= rank; upTo += draws[at] as number) at++;
    return sorted[at] as number;
  };
  return () => {
    draws.fill(0);
    for (let i = 0; i < n; i++) (draws[Math.floor(random() * n)] as number) += 1;
    return (ranked((n - 1) >> 1) + ranked(n >> 1)) / 2;
  };
}

function replicates(
  rounds: readonly ArmRound[],
  effectOf: (system: number, baseline: number) => number,
  seed: number,
): Float64Array {
  const random = seededRandom(seed);
  const arms = rounds.map(({ system, baseline }) => {
    const [drawSystem, drawBaseline] = [
      redrawnMedian(blocksOf(system), random),
      redrawnMedian(blocksOf(baseline), random),
    ];
    return () => effectOf(drawSystem(), drawBaseline());
  });
  const draw = () => (arms[Math.floor(random() * arms.length)] as () => number)();
  const once = () => arms.reduce((sum) => sum + draw(), 0) / arms.length;
  return Float64Array.from({ length: REPLICATES }, once).sort();
}

/**
 * 95 % interval from 1 000 replicates; null below 10 rounds. On the scale of `ratio`, oriented so that above 1 is
 * worse, if `delta` is relative and everything measured is positive; else on that of `difference`, signed and not
 * oriented.
 */
export function bootstrapCi95(
  rounds: readonly ArmRound[],
  direction: 'lower' | 'higher',
  delta: Delta,
  seed: number,
): Interval | null {
  if (rounds.length < FEWEST_ROUNDS) return null;
  const positive = rounds.every((round) =>
    [round.system, round.baseline].every((arm) => blocksOf(arm).every((x) => x > 0)),
  );
  const asRatio = 'relative' in delta && positive;
  const worse = direction === 'lower' ? 1 : -1;
  const effectOf = asRatio ? (s: number, b: number) => worse * Math.log(s / b) : (s: number, b: number) => s - b;
  const sorted = replicates(rounds, effectOf, seed) as unknown as number[];
  const [low, high] = [quantileSorted(sorted, 0.025), quantileSorted(sorted, 0.975)];
  return asRatio ? [Math.exp(low), Math.exp(high)] : [low, high];
}
