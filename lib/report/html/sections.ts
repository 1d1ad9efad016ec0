/** The sections of the page, in the order of every report. */
import { VERDICTS } from '../../results/effect-text.js';
import { html, type Markup } from '../markup.js';
import { PROGRAM_NOTE, PROGRAM_TITLE, programCostTable } from '../program-costs.js';
import { FRONTS_TITLE } from '../fronts.js';
import { RANKING_NOTE, RANKING_TITLE, rankingTable } from '../ranking.js';
import { TIMELINE_TITLE } from '../program-timelines.js';
import { costs } from './costs.js';
import { fronts } from './fronts.js';
import { health } from './health.js';
import { isolation } from './isolation.js';
import { computeLimits, violations } from './limits.js';
import { pairs, paragraphs } from './prose.js';
import { results } from './results.js';
import type { Page, Section } from './page-content.js';
import { programTimelineCharts } from './program-timelines.js';
import { SCENE_NOTE, SCENE_TITLE, sceneData } from '../slowdowns.js';
import { spreadTable, tailTable } from '../spread.js';
import type { DataTable } from '../table-data.js';
import { dataTable, noted } from './data-table.js';
import { statistics } from './statistics.js';
import { scaled, table, text } from './table.js';
import { verdictBadge } from './verdict.js';

/** The number of metrics by verdict and system. */
function tally({ view }: Page): Markup | null {
  const compared = view.systems.filter(({ isCompared }) => isCompared);
  if (view.effects.length === 0) return null;
  const rows = compared.map(({ name }) => {
    const counts = VERDICTS.map((verdict) => {
      const count = view.effects.filter((effect) => effect.system === name && effect.verdict === verdict).length;
      return count === 0 ? null : html`<li>${verdictBadge(verdict)} ${count}</li>`;
    });
    return html`<div>
      <dt>${name}</dt>
      <dd>
        <ul class="tally">
          ${counts}
        </ul>
      </dd>
    </div>`;
  });
  return html`<dl class="tallies">${rows}</dl> `;
}

const summary = (page: Page): Markup | null =>
  page.words.summary.length === 0 && page.view.effects.length === 0
    ? null
    : html`${paragraphs(page.words.summary)}${tally(page)}`;

function recommendations({ words }: Page): Markup | null {
  if (words.recommendations.length === 0) return null;
  const entries = words.recommendations.map(
    (one) =>
      html`<div>
        <dt>${one.useCase}</dt>
        <dd>${one.text}</dd>
      </div> `,
  );
  return html`<dl class="advice">${entries}</dl> `;
}

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
  words.environment.length === 0 ? null : pairs(words.environment);

const tabled = (content: DataTable | null): Markup | null => content && dataTable(content);

export const sections: readonly Section[] = [
  { id: 'violations', title: 'Violations', body: violations },
  { id: 'summary', title: 'Summary', body: summary },
  { id: 'costs', title: 'What each call costs', body: costs },
  { id: 'program-costs', title: PROGRAM_TITLE, body: ({ view }) => noted(PROGRAM_NOTE, programCostTable(view)) },
  { id: 'scenes', title: SCENE_TITLE, body: ({ view }) => noted(SCENE_NOTE, sceneData(view)) },
  { id: 'ranking', title: RANKING_TITLE, body: ({ view }) => noted(RANKING_NOTE, rankingTable(view)) },
  { id: 'fronts', title: FRONTS_TITLE, body: fronts },
  { id: 'results', title: 'Results', body: results },
  { id: 'program-timelines', title: TIMELINE_TITLE, body: programTimelineCharts },
  { id: 'isolation', title: 'Isolation in detail', body: isolation },
  { id: 'tails', title: 'Tail latencies', body: ({ view }) => tabled(tailTable(view)) },
  { id: 'consistency', title: 'Consistency', body: ({ view }) => tabled(spreadTable(view)) },
  { id: 'compute-limits', title: 'Compute limits', body: computeLimits },
  { id: 'statistics', title: 'Statistics', body: statistics },
  { id: 'recommendations', title: 'Recommendations', body: recommendations },
  { id: 'not-measured', title: 'Not measured', body: notMeasured },
  { id: 'health', title: 'Warnings and health', body: health },
  { id: 'reproduction', title: 'Reproduction', body: reproduction },
  { id: 'environment', title: 'Environment', body: environment },
];
