/** How the verdicts were reached, in sentences: of the rounds that there are, not of those that were planned. */
import type { ComparisonDocument } from '../document.js';
import { FEWEST_FOR_INTERVAL } from '../stats/median.js';
import { percentileFloors } from '../stats/summary.js';
import { isComparison, roundsOf, type View } from './view.js';

const ALONE =
  'One process a metric, or as many fresh ones as the table says: intervals are within that process unless they say otherwise, and between-process variance is unknown.';

export function statisticsText({ document }: View): string[] {
  const tiers = mixedTiers(roundsOf(document).map(({ plan }) => plan.tier));
  if (!isComparison(document)) return [ALONE, seedText(document.plan.seed), ...tiers];
  return [
    replication(document),
    ...(document.plan.order.length === 0
      ? ['The systems were measured apart and not in interleaved rounds: nothing is held against anything.']
      : effectText(document)),
    `Percentiles are of samples within a process (medians over rounds) and appear only with enough samples: p95 ${percentileFloors.p95}, p99 ${percentileFloors.p99}.`,
    seedText(document.plan.seed),
    ...tiers,
  ];
}

/** `5 rounds`, or `2 to 6 rounds` where systems differ. */
export function roundsText({ systems }: ComparisonDocument): string {
  const counts = systems.map((rounds) => rounds.length);
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  if (counts.length === 0 || most === 0) return 'no round';
  return fewest === most ? `${most} round${most === 1 ? '' : 's'}` : `${fewest} to ${most} rounds`;
}

function replication(document: ComparisonDocument): string {
  const most = Math.max(0, ...document.systems.map((rounds) => rounds.length));
  const begin = `The process is the unit of replication: ${roundsText(document)} a system, each a fresh worker`;
  if (most < 2)
    return `${begin}. With one round an interval is within its process, between-process variance is unknown, and every verdict is ambiguous.`;
  const interval =
    most < FEWEST_FOR_INTERVAL
      ? 'are t intervals over them'
      : `are the median's, by order statistics (below ${FEWEST_FOR_INTERVAL} rounds t intervals)`;
  return `${begin}; values are medians over rounds, 95 % intervals ${interval}.`;
}

function effectText({ effects }: ComparisonDocument): string[] {
  return [
    'A ratio is the geometric mean over rounds of one value against the other of the same round, turned so that above 1 is worse; where values may be zero or negative the difference is judged instead.',
    `A verdict compares the whole interval with the metric's own δ: slower or faster when it lies beyond, same when it lies within, else ambiguous. Holm's method adjusts over all ${effects.length} effects; Welch and Mann–Whitney p values are beside the interval and decide nothing.`,
  ];
}

const seedText = (seed: number): string => `Seed ${seed}.`;

function mixedTiers(tiers: readonly string[]): string[] {
  const found = [...new Set(tiers)];
  return found.length > 1 ? [`Measured at different tiers (${found.join(', ')}): windows and samples differ.`] : [];
}
