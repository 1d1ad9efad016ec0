/** The cost of each call: bars and a table per system. */
import { costBars } from '../charts/cost-bars.js';
import { svg } from '../charts/svg.js';
import { callCosts, COSTS_NOTE, costTable, MOST_CALLS, restText, type SystemCosts } from '../tables/costs.js';
import { html, type Markup } from '../text/markup.js';
import { dataTable } from './data-table.js';
import type { Page } from './page-content.js';

function systemMarkup(costs: SystemCosts): Markup {
  const { system, calls } = costs;
  const drawing = costBars(calls, `What each call costs under ${system}.`);
  const content = costTable(costs);
  const rest = restText(costs, calls.length);
  return html`${
    drawing &&
    html`<figure class="card">
      <figcaption><strong>What each call costs: ${system}</strong><span class="unit">ns</span></figcaption>
      ${svg(drawing)}
      ${calls.length > MOST_CALLS && html`<p class="note">The ${MOST_CALLS} most expensive; all are in the table.</p>`}
    </figure>`
  }
  ${content && dataTable(content)}
  ${rest !== null && html`<p>${rest}</p> `}`;
}

/** Costs of calls; null if no system intercepts a call. */
export function costs({ view }: Page): Markup | null {
  const systems = callCosts(view);
  return systems.length === 0
    ? null
    : html`<p class="note">${COSTS_NOTE}</p>
    ${systems.map(systemMarkup)}`;
}
