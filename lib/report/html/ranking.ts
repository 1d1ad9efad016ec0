/** The rank of each system in each metric, as a table. */
import { html, type Markup } from '../markup.js';
import { betterText, RANKING_NOTE, RANKING_TITLE, rankedText, rankingsOf } from '../ranking.js';
import { name, sentence } from './bounds.js';
import type { Page } from './page-content.js';
import { count, scaled, spanned, table, text } from './table.js';

/** Null with fewer than two systems to rank. */
export function ranking({ view }: Page): Markup | null {
  const rankings = rankingsOf(view);
  if (rankings.length === 0) return null;
  const rows = rankings.flatMap((one) =>
    one.systems.map((entry) => {
      const shown = rankedText(entry, name(one.unit));
      return html`<tr data-metric="${name(one.metric)}">
        <th scope="row"><span class="id">${name(one.metric)}</span> ${betterText(one)}</th>
        ${count(entry.rank)}${text(name(entry.system))}
        ${scaled(entry.value, name(one.unit), shown ? [shown.value, spanned(shown.interval)] : '–')}
        <td class="long">${sentence(entry.reason ?? '')}</td>
      </tr>`;
    }),
  );
  return html`<p class="note">${RANKING_NOTE}</p>
    ${table({
      caption: RANKING_TITLE,
      headings: [
        { title: 'Metric' },
        { title: 'Rank', numeric: true },
        { title: 'System' },
        { title: 'Value', numeric: true },
        { title: 'Without rank because' },
      ],
      rows,
    })}`;
}
