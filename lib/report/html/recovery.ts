/** The table of faults: what was told, how soon, and whether and when the tenant recovered. */
import { quantity } from '../../results/text/quantity.js';
import type { RecoveryCell, RecoveryMatrix } from '../isolation/recovery.js';
import { html, type Markup } from '../text/markup.js';
import { outcomeBadge } from './outcome-badge.js';
import { scaled, table, text } from './table.js';

/** Most systems that fit side by side, with three columns each. */
const MOST_BESIDE = 2;
const NONE = html`<td class="none">–</td>`;
const COLUMNS = [{ title: 'Told' }, { title: 'How soon', numeric: true }, { title: 'Recovered' }];

function cells(cell: RecoveryCell | null): Markup {
  if (cell === null) return html`${NONE}${NONE}${NONE}`;
  const { told, soonUs, recovered } = cell;
  return html`${told === '' ? NONE : text(told)}${scaled(soonUs, 'us', soonUs === null ? '–' : quantity(soonUs, 'us'))}${
    recovered === null
      ? NONE
      : html`<td>
          ${outcomeBadge(recovered)}${recovered.note !== '' && html`<span class="outcome-note">${recovered.note}</span>`}
        </td>`
  }`;
}

export function recoveryTables({ metrics, systems, rows, leftOut }: RecoveryMatrix): Markup {
  const cut = leftOut > 0 ? ` (${leftOut} more rows are in the document)` : '';
  const parts = Array.from({ length: Math.ceil(systems.length / MOST_BESIDE) }, (_, part) => {
    const [from, to] = [part * MOST_BESIDE, (part + 1) * MOST_BESIDE];
    const shown = systems.slice(from, to);
    const named = systems.length > MOST_BESIDE ? `: ${shown.join(', ')}` : '';
    return table({
      caption: `${metrics.join(', ')} Faults, and recovery from them${named}${cut}`,
      ...(systems.length > 1 && {
        groups: [{ title: '' }, ...shown.map((title) => ({ title, span: COLUMNS.length }))],
      }),
      headings: [{ title: 'Fault' }, ...shown.flatMap(() => COLUMNS)],
      rows: rows.map(
        (row) =>
          html`<tr>
            <th scope="row">${row.fault}</th>
            ${row.cells.slice(from, to).map(cells)}
          </tr>`,
      ),
    });
  });
  return html`<div class="category">
    <h3>Faults, and recovery from them</h3>
    ${parts}
  </div> `;
}
