/** Tables and lines of prices and ranks, shared by all formats. */
import { CONFIDENCE } from '../../costs/ranking.js';
import type { RankedSystem, Ranking, SystemPrice } from '../../results/cost-schemas.js';
import { isComparison } from '../../results/kinds.js';
import { number, plain } from '../../results/text/plain.js';
import { type EstimateText, estimateText, inOneLine } from '../../results/text/quantity.js';
import type { View } from '../../results/view.js';
import { type DataTable, estimate, numeric } from './table-data.js';
import type { Fact } from '../text/fact.js';

export const RANKING_TITLE = 'Ranking';

export const RANKING_NOTE = `A rank is 1 + the number of systems that are shown to be better in the same rounds; systems without a verdict on each other share a rank. Values are means over rounds, geometric ones where the metric is compared by ratio, with ${100 * CONFIDENCE} % intervals. The baseline is the reference and has no rank.`;

const rankingsOf = ({ document }: View): readonly Ranking[] =>
  isComparison(document) ? (document.rankings ?? []) : [];

const rankedText = ({ value, interval }: RankedSystem, unit: string): EstimateText | null =>
  value === null ? null : estimateText({ value, ci95: interval }, unit);

const betterText = ({ direction }: Ranking): string => `${direction} is better`;

/** The table; null with fewer than two systems to rank. */
export function rankingTable(view: View): DataTable | null {
  const rankings = rankingsOf(view);
  if (rankings.length === 0) return null;
  return {
    title: RANKING_TITLE,
    columns: [
      { title: 'Metric' },
      numeric('Rank'),
      { title: 'System' },
      numeric('Value', 'Interval'),
      { title: 'Without rank because' },
    ],
    rows: rankings.flatMap((ranking) =>
      ranking.systems.map((one) => ({
        metric: ranking.metric,
        cells: [
          `${ranking.metric} (${betterText(ranking)})`,
          { text: one.rank === null ? '–' : String(one.rank), sort: one.rank },
          one.system,
          estimate(rankedText(one, ranking.unit), one.value, ranking.unit),
          one.reason ?? '',
        ],
      })),
    ),
  };
}

/** Lines for the terminal. */
export function rankingLines(view: View): string[] {
  const lines = rankingsOf(view).map((ranking) => {
    const entries = ranking.systems.map((one) => {
      const text = rankedText(one, ranking.unit);
      const place = one.rank === null ? `${one.reason ?? 'no rank'}:` : `${one.rank}.`;
      return text === null ? `${one.system}: ${one.reason ?? 'no rank'}` : `${place} ${one.system} ${inOneLine(text)}`;
    });
    return plain(`${ranking.metric} (${betterText(ranking)}): ${entries.join('; ')}`);
  });
  return lines.length === 0 ? [] : [RANKING_NOTE, ...lines];
}

/** States prices: `native: 3.5 USD an hour (100 % of the card: whole card)`. */
export function priceFacts({ document }: View): Fact[] {
  if (!isComparison(document) || document.prices === undefined) return [];
  const { currency, systems } = document.prices;
  return systems.map((price): Fact => ['Price', plain(`${price.system}: ${priceText(price, currency)}`)]);
}

function priceText({ perHour, sharePercent, from }: SystemPrice, currency: string): string {
  const price = `${number(perHour)} ${currency} an hour`;
  if (sharePercent === null) return `${price} for a tenant`;
  return `${price} for ${number(sharePercent)} % of the card (${from === 'prices' ? 'as given' : from})`;
}
