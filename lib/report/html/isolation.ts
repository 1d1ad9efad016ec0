/** Isolation in detail: what was tested, the outcomes, and each tenant's cost to the others. */
import { interferenceDrawing } from '../charts/interference-map.js';
import { linesDrawing, shownOf } from '../charts/lines.js';
import { pathBars } from '../charts/path-bars.js';
import { svg } from '../charts/svg.js';
import { LEVEL_DASH, TEXT } from '../charts/theme.js';
import { interferenceMaps, interferenceTable, type InterferenceMap } from '../isolation/interference.js';
import { leftOutDetails } from '../isolation/left-out.js';
import { memoryPathsOf, type MemoryPaths } from '../isolation/memory-paths.js';
import type { Outcome } from '../isolation/outcome-kinds.js';
import { type OutcomeTable, outcomeTables } from '../isolation/outcome-tables.js';
import { recoveryMatrix } from '../isolation/recovery.js';
import { remarksOf } from '../isolation/remarks.js';
import { sharePanels, shareTables, type SharePanel } from '../isolation/tenant-shares.js';
import { html, type Markup } from '../text/markup.js';
import { grouped } from '../../results/text/grouped.js';
import { number } from '../../results/text/plain.js';
import type { View } from '../../results/view.js';
import { dataTable } from './data-table.js';
import { heatLegend, linePoints, seriesLegend } from './figures/figures.js';
import { figures, key, legend, stroke, swatch, without } from './figures/legend.js';
import { outcomeBadge } from './outcome-badge.js';
import type { Page } from './page-content.js';
import { items } from './prose.js';
import { recoveryTables } from './recovery.js';
import { table, text } from './table.js';

/** Most systems that fit side by side, on paper too. */
const MOST_BESIDE = 3;
const MOST_CHARTS = 96;

const heading = (metric: string, title: string): Markup =>
  html`<figcaption>
    <strong><span class="id">${metric}</span> ${title}</strong>
  </figcaption>`;

const outcomeCell = (outcome: Outcome | null): Markup =>
  outcome === null
    ? html`<td class="none">–</td>`
    : html`<td>
        ${outcomeBadge(outcome)}${outcome.note !== '' && html`<span class="outcome-note">${outcome.note}</span>`}
      </td>`;

function outcomeMarkup({ metric, title, keys, systems, rows, leftOut }: OutcomeTable): Markup[] {
  const cut = leftOut > 0 ? ` (${leftOut} more rows are in the document)` : '';
  const count = Math.ceil(systems.length / MOST_BESIDE);
  return Array.from({ length: count }, (_, part) => {
    const [from, to] = [part * MOST_BESIDE, (part + 1) * MOST_BESIDE];
    const shown = systems.slice(from, to);
    return table({
      caption: `${metric} ${title}${count > 1 ? `: ${shown.join(', ')}` : ''}${cut}`,
      headings: [...keys, ...shown].map((one) => ({ title: one })),
      rows: rows.map(({ keys: [first = '', ...others], outcomes }) => {
        const cells = outcomes.slice(from, to).map(outcomeCell);
        return html`<tr data-metric="${metric}">
          <th scope="row">${first}</th>
          ${others.map((one) => text(one))}${cells}
        </tr>`;
      }),
    });
  });
}

function shareFigure({ metric, system, part, tenants, round, of, reason }: SharePanel): Markup {
  const title = `Share of the card over time: ${system}${part === '' ? '' : `, ${part}`}`;
  const limits = [...new Set(tenants.flatMap(({ limitPercent }) => limitPercent ?? []))];
  const lines = {
    title,
    x: 's',
    y: '% of the card',
    series: tenants.map(({ name, stretches }, look) => ({
      name,
      look,
      points: stretches.map(({ at, percent }): [number, number] => [at, percent]),
    })),
    upTo: 100,
    levels: limits.map((y) => ({ name: `limit, ${number(y)} %`, y })),
  };
  const drawing = linesDrawing(lines);
  const limitKeys = limits.map((limit) => html`${key(TEXT, stroke(LEVEL_DASH))}limit, ${number(limit)} %`);
  const stretch = Math.max(...tenants.map((tenant) => tenant.stretch));
  return html`<figure class="card" data-metric="${metric}">
    ${heading(metric, title)}
    ${drawing && [seriesLegend(shownOf(lines), limitKeys), svg(drawing)]}
    <p class="note">
      Means over ${number(stretch)} s, relative to the card’s throughput without a
      limit.${of > 1 && ` Round ${round} of ${of}.`}${reason !== '' && ` State of the metric: ${reason}`}
    </p>
    ${linePoints(lines)}
  </figure> `;
}

const barKeys = legend([
  html`${swatch('var(--same)', 8)}enforced, or limited per process`,
  html`${swatch('var(--slower)', 8)}leaks`,
  html`${swatch('var(--invalid)', 8)}wrong error`,
  html`${key(TEXT, stroke(LEVEL_DASH))}limit`,
]);

function pathFigure({ metric, system, paths }: MemoryPaths): Markup | null {
  const title = `Memory granted per path, in per cent of the limit: ${system}`;
  const bars = pathBars(paths, `${metric} ${title}.`);
  if (!bars) return null;
  return html`<figure class="card" data-metric="${metric}">
    ${heading(metric, title)} ${barKeys}${svg(bars.drawing)}${without(bars.leftOut)}
  </figure> `;
}

function interferenceFigure(map: InterferenceMap): Markup {
  const { metric, system, leftOut } = map;
  const title = `Interference: what each victim loses beside each aggressor, ${system}`;
  const drawing = interferenceDrawing(map);
  const inFigures = dataTable(interferenceTable(map));
  return html`<figure class="wide" data-metric="${metric}">
    ${heading(metric, title)}
    ${
      drawing &&
      html`${heatLegend('no value')}
        <div class="scroll map" role="region" tabindex="0" aria-label="${title}, drawn">${svg(drawing)}</div>`
    }
    ${drawing ? figures(inFigures) : inFigures}${without(leftOut)}
  </figure> `;
}

interface Part {
  metric: string;
  markup: Markup;
  isCard: boolean;
}

/** Draws one metric: its tables, then its drawings. */
function metricPart(id: string, name: string, parts: readonly Part[]): Markup | null {
  const own = parts.filter(({ metric }) => metric === id);
  if (own.length === 0) return null;
  const cards = own.filter(({ isCard }) => isCard).map(({ markup }) => markup);
  return html`<div class="category">
    <h3><span class="id">${id}</span> ${name}</h3>
    ${own.filter(({ isCard }) => !isCard).map(({ markup }) => markup)}
    ${cards.length > 0 && html`<div class="cards">${cards}</div>`}
  </div> `;
}

/** Makes one list per metric. */
const remarkLists = (view: View) =>
  [...grouped(remarksOf(view), ({ metric }) => metric)].map(([metric, own]) => ({
    metric,
    isCard: false,
    markup: items(own.map(({ system, text }) => (view.systems.length > 1 ? `${system}: ${text}` : text))),
  }));

export function isolation({ view }: Page): Markup | null {
  const tables = outcomeTables(view).flatMap((one) =>
    outcomeMarkup(one).map((markup) => ({ metric: one.metric, markup, isCard: false })),
  );
  const maps = interferenceMaps(view).map((map) => ({
    metric: map.metric,
    isCard: false,
    markup: interferenceFigure(map),
  }));
  const [paths, panels] = [memoryPathsOf(view), sharePanels(view)];
  const shares = shareTables(panels).map((one) => ({ metric: one.metric, markup: dataTable(one), isCard: false }));
  const cards = [
    ...paths.map((one) => ({ metric: one.metric, markup: pathFigure(one), isCard: true })),
    ...panels.slice(0, MOST_CHARTS).map((one) => ({ metric: one.metric, markup: shareFigure(one), isCard: true })),
  ].flatMap(({ markup, ...rest }) => (markup ? [{ markup, ...rest }] : []));
  const leftOut = leftOutDetails(view);
  const parts = [...remarkLists(view), ...tables, ...maps, ...shares, ...cards];
  const recovery = recoveryMatrix(view);
  if (parts.length === 0 && leftOut.length === 0 && !recovery) return null;
  const metrics = view.categories.flatMap(({ rows }) => rows);
  return html`${parts.length > 0 && legendOfOutcomes}
  ${metrics.map(({ id, name }) => metricPart(id, name, parts))} ${recovery && recoveryTables(recovery)}
  ${without(panels.slice(MOST_CHARTS).map(({ metric, system, part }) => [metric, system, part].filter(Boolean).join(' ')))}
  ${
    leftOut.length > 0 &&
    html`<p class="note">Details in an unknown form, shown unchanged:</p>
      ${items(leftOut)}`
  }`;
}

const legendOfOutcomes = html`<p class="note">
  If rounds differ, a table shows the most severe outcome and the number of rounds that had it. A dash means not tested.
</p> `;
