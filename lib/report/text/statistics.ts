/** Sentences on how the verdicts were reached; they describe the actual rounds, not the planned ones. */
import type { ComparisonDocument } from '../../results/document.js';
import { FEWEST_FOR_INTERVAL } from '../../stats/median.js';
import { percentileFloors } from '../../stats/summary.js';
import { isComparison, roundsOf } from '../../results/kinds.js';
import { missingIntervals } from '../../results/intervals-missing.js';
import { counted } from '../../results/text/quantity.js';
import { partsOf } from '../../results/recorded-programs.js';
import type { View } from '../../results/view.js';
import { detectionText } from '../tables/detection.js';

const ALONE =
  'Each metric ran in one process, or in as many fresh ones as the table says. Intervals are within a process unless they say otherwise; the variance between processes is unknown.';

export function statisticsText({ document }: View): string[] {
  const tiers = mixedTiers(roundsOf(document).map(({ plan }) => plan.tier));
  if (!isComparison(document))
    return [
      ALONE,
      ...missingIntervals(document).map((line) => `No interval for ${line}.`),
      seedText(document.plan.seed),
      ...tiers,
    ];
  return [
    replication(document),
    ...detectionText(document),
    ...(document.plan.order.length === 0
      ? [
          'The systems were measured separately and not in interleaved rounds, so they are not compared with each other.',
        ]
      : effectText(document)),
    `Percentiles are of samples within a process (medians over rounds) and are shown only with enough samples: p95 ${percentileFloors.p95}, p99 ${percentileFloors.p99}.`,
    seedText(document.plan.seed),
    ...tiers,
  ];
}

/** Counts rounds: `5 rounds`, `2 to 6 rounds` if systems differ, or `5 rounds of metrics and 3 rounds of programs`. */
export function roundsText({ systems }: ComparisonDocument): string {
  const parts = partsOf(systems);
  if (parts.length < 2) return countsText(systems);
  return parts
    .map((part) => `${countsText(part.systems)} of ${part.ofPrograms ? 'programs' : 'metrics'}`)
    .join(' and ');
}

function countsText(systems: ComparisonDocument['systems']): string {
  const counts = systems.map((rounds) => rounds.length);
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  if (counts.length === 0 || most === 0) return 'no round';
  return fewest === most ? counted(most, 'round') : `${fewest} to ${most} rounds`;
}

function replication(document: ComparisonDocument): string {
  const most = Math.max(0, ...partsOf(document.systems).flatMap(({ systems }) => systems.map(({ length }) => length)));
  const begin = `The process is the unit of replication: ${roundsText(document)} per system, each in a fresh worker`;
  if (most < 2)
    return `${begin}. With one round, an interval covers only its process, the variance between processes is unknown, and every verdict is inconclusive.`;
  const interval =
    most < FEWEST_FOR_INTERVAL
      ? 'are t intervals over them'
      : `are those of the median, by order statistics (with fewer than ${FEWEST_FOR_INTERVAL} rounds, t intervals)`;
  return `${begin}; values are medians over rounds, 95 % intervals ${interval}.`;
}

function effectText(document: ComparisonDocument): string[] {
  return [
    'A ratio divides the geometric mean of a system over its rounds by that of the baseline, inverted if more is better, so that above 1 is worse. If values may be zero or negative, the verdict is on the difference.',
    'A verdict answers in this order: same if the effect is shown to be smaller than δ, the smallest difference that counts in the metric (its 90 % interval lies inside ±δ: two one-sided tests at 5 %); else slower or faster if a difference is shown; else inconclusive. All effects of one system are tested together: of the differences that are published, at most 5 % are expected to be false (Benjamini and Hochberg). Intervals cover one effect each and are not adjusted. Mann–Whitney’s p decides no verdict.',
    ...(document.rejudgedFrom === undefined
      ? []
      : [
          `The document was written with schema version ${document.rejudgedFrom}. Its verdicts are those of today's rules for the same rounds, and may differ from what was printed then.`,
        ]),
  ];
}

const seedText = (seed: number): string => `Seed ${seed}.`;

function mixedTiers(tiers: readonly string[]): string[] {
  const found = [...new Set(tiers)];
  return found.length > 1 ? [`Measured at different tiers (${found.join(', ')}): windows and samples differ.`] : [];
}
