/** Charts with their captions and legends. */
import { barsPanel } from '../charts/bars.js';
import { boxesPanel, boxKinds } from '../charts/boxes.js';
import { forestOf } from '../charts/forest.js';
import { heatOf, LEVELS } from '../charts/heat.js';
import { type Lines, linesDrawing, shownSeries } from '../charts/lines.js';
import { lineCharts } from '../charts/line-charts.js';
import { stacked } from '../charts/panel.js';
import { svg } from '../charts/svg.js';
import { lookOf } from '../charts/theme.js';
import { VERDICTS } from '../effect-text.js';
import { html, type Markup } from '../markup.js';
import { number } from '../plain.js';
import type { Row, View } from '../view.js';
import { figure, table } from './table.js';
import { meanings, verdictBadge } from './verdict.js';

const boxesOf = { rounds: 'of the rounds’ values', blocks: 'of blocks of samples within one round' } as const;

/** Once, above the charts of a category. */
export const howToRead = html`<p class="note">
  Bars: values with 95 % intervals, and in figures. Boxes: quartiles and median, whiskers to the smallest and the
  largest. The process is the unit of replication: a box of several rounds is of their values, each a point, the first
  on top; of a single round it is of consecutive blocks of its samples.
</p> `;

/** Bars and boxes of one metric. Null where nothing was measured. */
export function metricFigure(row: Row): Markup | null {
  const [bars, boxes] = [barsPanel(row), boxesPanel(row)];
  if (!bars) return null;
  const kinds = [...boxKinds(row)];
  return html`<figure class="card" data-metric="${row.id}">
    <figcaption>
      <strong><span class="id">${row.id}</span> ${row.name}</strong>
      <span class="unit">${row.unit}</span>
    </figcaption>
    ${svg(stacked(boxes ? [bars, boxes] : [bars], `${row.id} ${row.name}.`))}
    ${kinds.length > 0 && html`<p class="note">Boxes: ${kinds.map((kind) => boxesOf[kind]).join(', or ')}.</p>`}
  </figure> `;
}

const keys: Record<ReturnType<typeof lookOf>['symbol'], Markup> = {
  circle: html`<circle cx="14" cy="6" r="4" />`,
  rect: html`<rect x="10.5" y="2.5" width="7" height="7" />`,
  triangle: html`<path d="M14 2l4 8h-8z" />`,
  diamond: html`<path d="M14 1l5 5-5 5-5-5z" />`,
};

function legend(lines: Lines): Markup {
  const entries = shownSeries(lines).map(({ name, look, isReference }) => {
    const { colour, symbol, dash } = lookOf(look, isReference);
    const dashes = dash === 'solid' ? null : html` stroke-dasharray="${dash.join(' ')}"`;
    const key = html`<svg class="key" viewBox="0 0 28 12" aria-hidden="true">
      <path d="M0 6h28" stroke="${colour}" ${dashes} />
      ${!isReference && html`<g fill="${colour}">${keys[symbol]}</g>`}
    </svg>`;
    return html`<li>${key}${name}</li>`;
  });
  return html`<ul class="legend">
    ${entries}
  </ul>`;
}

/** What the drawing shows, for whom it is no drawing: at every x a row, of every line but the references a column. */
function points(lines: Lines): Markup {
  const series = shownSeries(lines)
    .filter(({ isReference }) => !isReference)
    .map(({ name, points: own }) => ({ name, at: new Map(own) }));
  const xs = [...new Set(series.flatMap(({ at }) => [...at.keys()]))].sort((a, b) => a - b);
  return html`<details>
    <summary>In figures</summary>
    ${table({
      caption: `${lines.title}: ${lines.y}`,
      headings: [lines.x, ...series.map(({ name }) => name)].map((title) => ({ title, numeric: true })),
      rows: xs.map(
        (x) =>
          html`<tr>
            <th scope="row" class="num" data-sort="${x}">${number(x)}</th>
            ${series.map(({ at }) => figure(at.get(x) ?? null))}
          </tr>`,
      ),
    })}
  </details> `;
}

/** Of the metrics of a category, or of none. */
export function lineFigures(view: View, metrics: readonly (string | null)[]): Markup[] {
  return lineCharts
    .filter(({ metric }) => metrics.includes(metric))
    .flatMap(({ metric, series, ...chart }) => {
      const lines = { ...chart, series: series(view) };
      const drawing = linesDrawing(lines);
      if (!drawing) return [];
      const id = metric !== null && html`<span class="id">${metric}</span> `;
      return html`<figure class="card" ${metric !== null && html` data-metric="${metric}"`}>
        <figcaption><strong>${id}${chart.title}</strong></figcaption>
        ${legend(lines)}${svg(drawing)}${points(lines)}
      </figure> `;
    });
}

const verdictLegend = (view: View): Markup => {
  const used = VERDICTS.filter((verdict) => view.effects.some((effect) => effect.verdict === verdict));
  return html`<ul class="legend">
    ${used.map((verdict) => html`<li>${verdictBadge(verdict)} ${meanings[verdict]}</li>`)}
  </ul>`;
};

/** Null where there is no ratio. */
export function forestFigure(view: View): Markup | null {
  const { drawings, leftOut } = forestOf(view);
  if (drawings.length === 0) return null;
  const rest = leftOut > 0 && ` The ${leftOut} ratios nearest to 1 are left out here and stand in the tables.`;
  return html`<figure class="wide" id="ratios">
    <figcaption>
      <strong>All ratios against the baseline</strong>, with 95 % intervals, on a logarithmic axis. To the right of 1 is
      worse, whichever way the metric counts.${rest}
    </figcaption>
    ${verdictLegend(view)}
    ${drawings.map(({ category, drawing }, i) => {
      const isFirst = drawings[i - 1]?.category !== category;
      return html`${isFirst && html`<p class="part">${category}</p>`}
        <div class="scroll" role="region" tabindex="0" aria-label="Ratios of ${category}">${svg(drawing)}</div> `;
    })}
  </figure> `;
}

function heatLegend(): Markup {
  const name = (level: number, i: number) => (i === 0 ? '0' : `to ${level}`);
  const entries = LEVELS.map(
    (level, i) =>
      html`<li>
        <svg class="key" viewBox="0 0 28 12" aria-hidden="true">
          <rect width="28" height="12" fill="var(--heat-${i})" />
        </svg>${name(level, i)} %
      </li>`,
  );
  return html`<ul class="legend">
    ${entries}
  </ul>`;
}

export function heatFigure(view: View): Markup | null {
  const heat = heatOf(view);
  if (!heat) return null;
  const { rows, drawing, leftOut } = heat;
  return html`<figure class="wide">
      <figcaption>
        <strong>GPU utilisation over time</strong>, as NVML sampled it while each round ran: share of its sampling
        period in which a kernel ran. Rounds last as long as their metrics
        take.${leftOut > 0 && ` ${leftOut} more rounds are not shown.`}
      </figcaption>
      ${heatLegend()}
      <div class="scroll" role="region" tabindex="0" aria-label="GPU utilisation over time, drawn">${svg(drawing)}</div>
    </figure>
    ${table({
      caption: 'GPU utilisation in per cent of the time',
      headings: [{ title: 'Round' }, ...['Mean', 'Median', 'Most'].map((title) => ({ title, numeric: true }))],
      rows: rows.map(
        ({ name, mean, median, most }) =>
          html`<tr>
            <th scope="row">${name}</th>
            ${[mean, median, most].map((value) => figure(value))}
          </tr>`,
      ),
    })}`;
}
