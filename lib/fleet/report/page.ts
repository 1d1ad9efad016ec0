/** A fleet's report as one self-contained page, with the fleet as a picture: a cell for each card. */
import { name, sentence } from '../../report/html/bounds.js';
import { dataTable } from '../../report/html/data-table.js';
import { simulatedNotice } from '../../report/html/notices.js';
import { framedPage } from '../../report/html/page-frame.js';
import { html, type Markup } from '../../report/text/markup.js';
import { type FleetReport, type NodeVerdictName, verdicts } from './document.js';
import { coverageText, type FleetSection, sectionsOf, tallyText } from './fleet-sections.js';
import { titleOf } from './text.js';

/** Read without colours, too. */
const SIGNS: Readonly<Record<NodeVerdictName, string>> = {
  PASS: '✓',
  INFO: 'i',
  WARNING: '!',
  CRITICAL: '✗',
  UNKNOWN: '?',
};

const MEANINGS: Readonly<Record<NodeVerdictName, string>> = {
  PASS: 'nothing found',
  INFO: 'nothing to do',
  WARNING: 'measure again',
  CRITICAL: 'do not use',
  UNKNOWN: 'no result',
};

const cell = (verdict: NodeVerdictName, about: string): Markup =>
  html`<li class="${verdict.toLowerCase()}" title="${about}"><span aria-hidden="true">${SIGNS[verdict]}</span><span class="unseen">${about}</span></li>`;

/** The cells of a node: one for each of its cards, or one if it has delivered none. */
function cellsOf({ node, tasks, gpus, verdict, findings }: FleetReport['nodes'][number]): Markup[] {
  const first = findings[0] === undefined ? '' : `: ${findings[0].reason}`;
  const at = name(node ?? `task ${tasks.join(', ')}`);
  const about = (card: string) => `${at}${card === '' ? '' : `, ${name(card)}`}, ${verdict}${sentence(first)}`;
  return (gpus.length === 0 ? [''] : gpus).map((card) => cell(verdict, about(card)));
}

const legend = html`<ul class="fleet legend">
  ${verdicts.map((verdict) => html`<li class="${verdict.toLowerCase()}"><span aria-hidden="true">${SIGNS[verdict]}</span> ${verdict}: ${MEANINGS[verdict]}</li>`)}
</ul>`;

const picture = (report: FleetReport): Markup =>
  html`<p>${coverageText(report)} ${tallyText(report)}</p>
    ${legend}
    <ul class="fleet" aria-label="A cell for each card, in the order of the nodes' names">
      ${report.nodes.flatMap(cellsOf)}
    </ul>
    ${report.warnings.map((warning) => html`<p class="note">${sentence(warning)}</p>`)}`;

const content = ({ notes, table }: FleetSection): Markup =>
  html`${notes.map((note) => html`<p class="note">${sentence(note)}</p>`)}${table && dataTable(table)}`;

export const fleetPage = (report: FleetReport): string =>
  framedPage({
    title: sentence(titleOf(report)),
    notices: report.simulated && simulatedNotice,
    sections: [
      { id: 'fleet', title: 'The fleet', content: picture(report) },
      ...sectionsOf(report).map((section) => ({ id: section.id, title: section.title, content: content(section) })),
    ],
    isSimulated: report.simulated,
    styles: ['fleet.css'],
  });
