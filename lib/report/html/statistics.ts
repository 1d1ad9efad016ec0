/** How verdicts were reached, and the additional tests. */
import { html, type Markup } from '../markup.js';
import { bootstrapOf, type Scaled, scaledText } from '../../results/effect-text.js';
import { paragraphs } from './prose.js';
import type { Page } from './page-content.js';
import { count, figure, metricRow, scaled, table, text, unbroken } from './table.js';
import { verdictBadge } from './verdict.js';

/** Has no sort scale of its own: a tiny p value says no more than that it is tiny. */
const p = (value: number | null): Markup =>
  value !== null && value < 0.0001 ? scaled(value, null, unbroken('< 0.0001')) : figure(value);

const bootstrap = ({ unit, ci95 }: Scaled): Markup =>
  scaled(ci95 && (ci95[0] + ci95[1]) / 2, unit, unbroken(scaledText({ unit, ci95 })));

export function statistics({ view, words }: Page): Markup | null {
  const rows = view.categories
    .flatMap((category) => category.rows)
    .flatMap((row) =>
      row.cells.flatMap(({ effect }) => {
        if (!effect) return [];
        const { system, rounds, pValues, verdictRaw, verdict } = effect;
        const numbers = [count(rounds), p(pValues.welch), p(pValues.mannWhitney), bootstrap(bootstrapOf(effect, row))];
        return metricRow(row, [text(system), numbers, text(verdictBadge(verdictRaw)), text(verdictBadge(verdict))]);
      }),
    );
  if (words.statistics.length === 0 && rows.length === 0) return null;
  const headings = ['Rounds', 'Welch, p', 'Mann–Whitney, p', 'Bootstrap interval'].map((title) => ({
    title,
    numeric: true,
  }));
  return html`${paragraphs(words.statistics)}${
    rows.length > 0 &&
    table({
      caption:
        'Tests on rounds (for information; the intervals decide), and verdicts before and after Holm’s adjustment',
      headings: [{ title: 'Metric' }, { title: 'System' }, ...headings, { title: 'Before' }, { title: 'After' }],
      rows,
    })
  }`;
}
