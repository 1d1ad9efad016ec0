/** How verdicts were reached, and the additional tests. */
import { html, type Markup } from '../text/markup.js';
import { establishedText, relevanceText } from '../../results/text/effect-text.js';
import { paragraphs } from './prose.js';
import type { Page } from './page-content.js';
import { count, figure, metricRow, scaled, table, text, unbroken } from './table.js';
import { verdictBadge } from './verdict.js';

/** A p value, without a sort scale of its own: a tiny one says no more than that it is tiny. */
const p = (value: number | null): Markup =>
  value !== null && value < 0.0001 ? scaled(value, null, unbroken('< 0.0001')) : figure(value);

export function statistics({ view, words }: Page): Markup | null {
  const rows = view.categories
    .flatMap((category) => category.rows)
    .flatMap((row) =>
      row.cells.flatMap(({ effect }) => {
        if (!effect) return [];
        const { system, rounds, p: ofNone, pMannWhitney, verdict } = effect;
        const numbers = [count(rounds), p(ofNone), p(pMannWhitney)];
        return metricRow(row, [
          text(system),
          numbers,
          text(establishedText(effect)),
          text(relevanceText(effect)),
          text(verdictBadge(verdict)),
        ]);
      }),
    );
  if (words.statistics.length === 0 && rows.length === 0) return null;
  const headings = ['Rounds', 'p of no difference', 'Mann–Whitney, p'].map((title) => ({
    title,
    numeric: true,
  }));
  return html`${paragraphs(words.statistics)}${
    rows.length > 0 &&
    table({
      caption: 'Tests on rounds: whether there is a difference, whether it matters, and the verdict',
      headings: [
        { title: 'Metric' },
        { title: 'System' },
        ...headings,
        { title: 'Difference' },
        { title: 'Size' },
        { title: 'Verdict' },
      ],
      rows,
    })
  }`;
}
