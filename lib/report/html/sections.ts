/** The bodies of the page's sections that are more than a table. */
import { html, type Markup } from '../text/markup.js';
import { costs } from './costs.js';
import { fronts } from './fronts.js';
import { health } from './health.js';
import { isolation } from './isolation.js';
import { answer, recommendations, unknown, violations } from './answer.js';
import { computeLimits } from './limits.js';
import type { Bodies } from '../sections.js';
import { pairs, paragraphs } from './prose.js';
import { results } from './results.js';
import type { Body, Page } from './page-content.js';
import { programTimelineCharts } from './figures/program-timelines.js';
import { statistics } from './statistics.js';
import { scaled, table, text } from './table.js';

function notMeasured({ view }: Page): Markup | null {
  if (view.notMeasured.length === 0) return null;
  return table({
    caption: 'What has no value, and why',
    headings: [
      { title: 'Metrics' },
      { title: 'System' },
      { title: 'State' },
      { title: 'Reason' },
      { title: 'Rounds', numeric: true },
    ],
    rows: view.notMeasured.map(
      ({ metrics, system, status, reason, rounds, of }) =>
        html`<tr${metrics.length === 1 && html` data-metric="${metrics.join()}"`}>
          <th scope="row">${metrics.join(', ')}</th>
          ${text(system)}${text(status)}
          <td class="long">${reason}</td>
          ${scaled(rounds, null, `${rounds} of ${of}`)}
        </tr>`,
    ),
  });
}

const reproduction = ({ words }: Page): Markup | null =>
  words.reproduction === '' && words.toFillIn.length === 0
    ? null
    : html`${paragraphs(words.toFillIn)}${words.reproduction !== '' && html`<pre><code>${words.reproduction}</code></pre> `}`;

const environment = ({ words }: Page): Markup | null =>
  words.environment.length + words.facts.length === 0 ? null : pairs([...words.facts, ...words.environment]);

export const bodies: Bodies<Body> = {
  answer,
  violations,
  recommendations,
  unknown,
  costs,
  fronts,
  results,
  'program-timelines': programTimelineCharts,
  isolation,
  'compute-limits': computeLimits,
  'not-measured': notMeasured,
  statistics,
  health,
  reproduction,
  environment,
};
