/** The cost of each call: bars and a table per system. */
import { costBars } from '../charts/cost-bars.js';
import { svg } from '../charts/svg.js';
import { callCosts, COSTS_NOTE, costText, MOST_CALLS, restText, someWays, type SystemCosts } from '../costs.js';
import { html, type Markup } from '../markup.js';
import type { Page } from './page-content.js';
import { count, scaled, spanned, table, text } from './table.js';
import { quantity } from '../../results/quantity.js';

function systemMarkup(costs: SystemCosts): Markup {
  const { system, calls } = costs;
  const drawing = costBars(calls, `What each call costs under ${system}.`);
  const rest = restText(costs, calls.length);
  return html`${
    drawing &&
    html`<figure class="card">
      <figcaption><strong>What each call costs: ${system}</strong><span class="unit">ns</span></figcaption>
      ${svg(drawing)}
      ${calls.length > MOST_CALLS && html`<p class="note">The ${MOST_CALLS} most expensive; all are in the table.</p>`}
    </figure>`
  }
  ${
    calls.length > 0 &&
    table({
      caption: `What each call costs: ${system}`,
      headings: [
        { title: 'Call' },
        { title: 'Added per call', numeric: true },
        { title: 'Without the layer', numeric: true },
        { title: 'Measured by' },
        { title: 'Intercepted on' },
        { title: 'Owner' },
        { title: 'Rounds', numeric: true },
      ],
      rows: calls.map((cost) => {
        const { value, interval } = costText(cost);
        return html`<tr data-metric="${cost.metric}">
            <th scope="row">${cost.call}</th>
            ${scaled(cost.overheadNs, 'ns', [value, spanned(interval)])}
            ${scaled(cost.bareNs, 'ns', quantity(cost.bareNs, 'ns'))}${text(cost.metric)}${text(someWays(cost) ?? 'every path')}
            <td class="long">${cost.owner ?? '–'}</td>
            ${count(cost.rounds)}
          </tr>`;
      }),
    })
  }
  ${rest !== null && html`<p>${rest}</p> `}`;
}

/** Null if no system intercepts a call. */
export function costs({ view }: Page): Markup | null {
  const systems = callCosts(view);
  return systems.length === 0
    ? null
    : html`<p class="note">${COSTS_NOTE}</p>
    ${systems.map(systemMarkup)}`;
}
