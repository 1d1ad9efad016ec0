/** Whether limits hold: violations, and whether compute limits take effect. */
import { html, type Markup } from '../text/markup.js';
import { limitFinding } from '../text/limit-text.js';
import { shareFigures } from './figures/figures.js';
import type { Page } from './page-content.js';
import { count, figure, table, text } from './table.js';

export function violations({ view }: Page): Markup | null {
  if (view.violations.length === 0) return null;
  return table({
    caption: 'Limits that a metric showed not to hold',
    headings: [{ title: 'System' }, { title: 'Metric' }, { title: 'What was seen' }],
    rows: view.violations.map(
      ({ system, metric, detail }) =>
        html`<tr data-metric="${metric}">
          <th scope="row">${system}</th>
          ${text(metric)}
          <td class="long">${detail}</td>
        </tr>`,
    ),
  });
}

export function computeLimits({ view }: Page): Markup | null {
  if (view.computeLimits.length === 0) return null;
  const rows = view.computeLimits.map(
    (limit) =>
      html`<tr>
        <th scope="row">${limit.system}</th>
        ${count(limit.limitPercent)}${figure(limit.achievedPercent)}${text(limitFinding(limit))}
        <td class="long">${limit.detail}</td>
      </tr>`,
  );
  return html`${table({
    caption: 'Compute limits, in per cent of the card’s time',
    headings: [
      { title: 'System' },
      { title: 'Limit', numeric: true },
      { title: 'Achieved in the second half', numeric: true },
      { title: 'Finding' },
      { title: 'Load' },
    ],
    rows,
  })} ${shareFigures(view)}`;
}
