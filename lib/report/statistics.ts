/** How the verdicts were reached, in sentences. */
import { isComparison, type View } from './view.js';

export function statisticsText({ document, effects }: View): string[] {
  if (!isComparison(document))
    return [
      'One process a metric, or as many fresh ones as the table says: intervals are within that process unless they say otherwise, and between-process variance is unknown.',
      seedText([document.plan.seed]),
    ];
  const { plan } = document;
  return [
    `The process is the unit of replication: ${plan.rounds} rounds, each a fresh worker a system; values are medians over rounds, intervals 95 % t intervals over rounds.`,
    'A ratio is the geometric mean over rounds of one value against the other of the same round, turned so that above 1 is worse; where values may be zero or negative the difference is judged instead.',
    `A verdict compares the whole interval with the metric's own δ: slower or faster when it lies beyond, same when it lies within, else ambiguous. Holm's method adjusts over all ${effects.length} effects; Welch and Mann–Whitney p values are beside the interval and decide nothing.`,
    ...(plan.rounds < 2 ? ['With one round no effect has an interval: every verdict is ambiguous.'] : []),
    'Percentiles are of samples within a process (medians over rounds) and appear only with enough samples: p95 59, p99 299.',
    seedText([plan.seed]),
    ...orderText(plan.order),
    ...mixedTiers(document.systems.flat().map(({ plan: { tier } }) => tier)),
  ];
}

const seedText = (seeds: readonly number[]): string => `Seed ${seeds.join(', ')}.`;

function orderText(order: readonly (readonly string[])[]): string[] {
  return order.length === 0 ? ['The systems were not measured in interleaved rounds.'] : [];
}

function mixedTiers(tiers: readonly string[]): string[] {
  const found = [...new Set(tiers)];
  return found.length > 1 ? [`Measured at different tiers (${found.join(', ')}): windows and samples differ.`] : [];
}
