/** The rules in words, and how each outlier is put. */
import { quantity, digits } from '../../results/text/quantity.js';
import { number } from '../../results/text/plain.js';
import { FEWEST_VALUES } from './card-row.js';
import type { FleetReport } from './document.js';
import { FEWEST_FOR_MEDIAN } from './limits.js';
import type { Outlier } from './outliers.js';
import { FEWEST_CARDS } from './robust-score.js';
import type { Series } from './series.js';

export const percent = (part: number): string => `${number(100 * part)} %`;

export const valueText = (value: number, unit: string | null): string =>
  unit === null ? `× ${digits(value)}` : quantity(value, unit);

export function rulesOf(limits: readonly string[], least: number): FleetReport['rules'] {
  const given = limits.length === 0 ? 'none was given' : limits.join(', ');
  return [
    {
      rule: 'limit',
      words: `A card is an outlier if its value is worse than a limit of --limit (${given}). A limit from the median needs ${FEWEST_FOR_MEDIAN} cards, a value needs one.`,
      needs: 1,
    },
    {
      rule: 'mad',
      words: `A card is an outlier if its value is at least ${percent(least)} from the median of its group (--least), and further than cards vary by chance: its distance in median absolute deviations, against Student's t with 0.4 · (cards − 1) degrees of freedom.`,
      needs: FEWEST_CARDS,
    },
    {
      rule: 'distribution',
      words: `A card is an outlier if the distribution of its own values (${FEWEST_VALUES} or more: processes, rounds or blocks of samples) is at least ${percent(least)} unlike that of its group (--least), and further from it than those of other cards are by chance.`,
      needs: FEWEST_CARDS,
    },
  ];
}

/** What the error rate of all tests together means. */
export const familyText = (tests: number): string =>
  tests === 0
    ? 'No card was tested by MAD or distribution.'
    : `${tests} tests, of metrics × cards × rules, share one error rate: of the outliers by MAD and distribution at most 5 % are expected to be false, and among equal cards a report names any in at most 5 % of cases.`;

function distance({ deviation, median, value }: Outlier, { unit }: Series): string {
  if (deviation !== null) return `${percent(Math.abs(deviation))} ${deviation < 0 ? 'below' : 'above'}`;
  const difference = value - (median ?? value);
  return `${valueText(Math.abs(difference), unit)} ${difference < 0 ? 'below' : 'above'}`;
}

export function outlierWords(outlier: Outlier, of: Series): string {
  const { rule, value, median, score, similarity, values, limit, column } = outlier;
  const shown = valueText(value, of.unit);
  const cards = `${column.rows.length} cards`;
  const middle = median === null ? '' : ` (${valueText(median, of.unit)})`;
  if (rule === 'limit')
    return median === null
      ? `${shown} is worse than the limit ${limit?.text ?? ''}`
      : `${shown} is ${distance(outlier, of)} the median of ${cards}${middle}, and the limit is ${limit?.text ?? ''}`;
  const far = `${number(score ?? 0)} robust standard deviations away`;
  if (rule === 'mad') return `${shown} is ${distance(outlier, of)} the median of ${cards}${middle}, ${far} (MAD)`;
  return `the distribution of its ${values ?? 0} values is ${percent(similarity ?? 0)} like that of ${cards}, ${far} (distribution); its value ${shown}, their median${middle}`;
}
