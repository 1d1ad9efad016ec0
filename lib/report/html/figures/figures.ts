/** Charts with their captions and legends. */
import { barsPanel } from '../../charts/bars.js';
import { boxesPanel } from '../../charts/boxes.js';
import { forestOf } from '../../charts/forest.js';
import { heatOf, LEVELS, NO_READING } from '../../charts/heat.js';
import { type Lines, linesDrawing, rowsOf, type Shown, shownOf } from '../../charts/lines.js';
import { valueText } from '../../charts/axes.js';
import { lineCharts } from '../../charts/line-charts.js';
import { stacked } from '../../charts/panel.js';
import { type Shares, sharesOf } from '../../charts/shares.js';
import { svg } from '../../charts/svg.js';
import { LEVEL_DASH, lookOf, SYMBOL_SIDE, TEXT } from '../../charts/theme.js';
import { VERDICTS } from '../../../results/text/effect-text.js';
import { html, type Interpolated, type Markup } from '../../text/markup.js';
import { number } from '../../../results/text/plain.js';
import { digits } from '../../../results/text/quantity.js';
import type { Row, View } from '../../../results/view.js';
import { key, legend, points, stroke, swatch, without } from './legend.js';
import { count, figure, table } from '../table.js';
import { meanings, verdictBadge } from '../verdict.js';

/** Explains charts, once above those of a category. */
export const howToRead = html`<p class="note">
  Bars show values with 95 % intervals. Boxes show quartiles and median, with whiskers to the smallest and the largest
  value. The process is the unit of replication: with several rounds, a box summarises one value per round, drawn as
  points with the first round on top; with a single round, it summarises consecutive blocks of its samples.
</p> `;

/** Draws bars and boxes of one metric; null if nothing was measured. */
export function metricFigure(row: Row): Markup | null {
  const [bars, boxes] = [barsPanel(row), boxesPanel(row)];
  if (!bars) return null;
  return html`<figure class="card" data-metric="${row.id}">
    <figcaption>
      <strong><span class="id">${row.id}</span> ${row.name}</strong>
      <span class="unit">${row.unit}</span>
    </figcaption>
    ${svg(stacked(boxes ? [bars, boxes] : [bars], `${row.id} ${row.name}.`))}
    ${boxes?.note !== undefined && html`<p class="note">${boxes.note}</p>`}
  </figure> `;
}

/** Legend of a drawing's lines or marks, followed by `others`. */
export const seriesLegend = ({ series }: Shown, others: readonly Interpolated[] = [], hasLines = true): Markup =>
  legend([
    ...series.map(({ name, look }) => {
      const { colour, symbol, dash } = lookOf(look);
      const [x, y] = [14 - SYMBOL_SIDE / 2, 6 - SYMBOL_SIDE / 2];
      const mark = html`<path d="${symbol}" transform="translate(${x} ${y})" stroke="none" />`;
      return html`${key(colour, [hasLines && stroke(dash), mark])}${name}`;
    }),
    ...others,
  ]);

export function linePoints(lines: Lines): Markup {
  const { series, rows } = rowsOf(lines);
  return points({
    caption: `${lines.title}: ${lines.y}`,
    headings: [lines.x, ...series].map((title) => ({ title, numeric: true })),
    rows: rows.map(
      ({ x, ys }) =>
        html`<tr>
          <th scope="row" class="num" data-sort="${x}">${valueText(lines.scales?.x, x)}</th>
          ${ys.map((y) => figure(y))}
        </tr>`,
    ),
  });
}

/** Explains fits; null if no line is one. */
function fitNote({ series }: Shown): Markup | null {
  const fits = series.flatMap(({ name, fit }) => (fit ? `${name}: a = ${number(fit.a)}, b = ${number(fit.b)}` : []));
  return fits.length === 0 ? null : html`<p class="note">The lines are fits a + b·x. ${fits.join('; ')}.</p> `;
}

/** Line charts of a category's metrics. */
export function lineFigures(view: View, metrics: readonly string[]): Markup[] {
  return lineCharts
    .filter(({ metric }) => metrics.includes(metric))
    .flatMap(({ metric, series, references, ...chart }) => {
      const lines = { ...chart, series: series(view), references: references(view) };
      const drawing = linesDrawing(lines);
      if (!drawing) return [];
      const shown = shownOf(lines);
      return html`<figure class="card" data-metric="${metric}">
        <figcaption>
          <strong><span class="id">${metric}</span> ${chart.title}</strong>
        </figcaption>
        ${seriesLegend(
          shown,
          lines.references.map(({ name }) => html`${key(TEXT, stroke(LEVEL_DASH))}${name}`),
        )}${svg(drawing)}${without(shown.leftOut)}${fitNote(shown)}${linePoints(lines)}
      </figure> `;
    });
}

function shareFigure({ system, limitPercent, achievedPercent, stretch, stretches, drawing }: Shares): Markup {
  const limit = html`${key(TEXT, stroke(LEVEL_DASH))}limit, ${number(limitPercent)} %`;
  const achieved =
    achievedPercent !== null &&
    html`${key(TEXT, stroke('solid'))}mean of the second half: ${digits(achievedPercent)} %`;
  return html`<figure class="card">
    <figcaption><strong>Share of the card over time: ${system}</strong></figcaption>
    ${legend([limit, achieved])}${svg(drawing)}
    <p class="note">Each bar covers ${number(stretch)} s.</p>
    ${points({
      caption: `Share of the card over time: ${system}`,
      headings: ['s of load', 'to', '% of the time'].map((title) => ({ title, numeric: true })),
      rows: stretches.map(
        ({ from, to, percent }) =>
          html`<tr>
            <th scope="row" class="num" data-sort="${from}">${number(from)}</th>
            ${count(to)}${figure(percent)}
          </tr>`,
      ),
    })}
  </figure> `;
}

/** Draws shares under compute limits; null if there are none. */
export function shareFigures(view: View): Markup | null {
  const { charts, leftOut } = sharesOf(view);
  if (charts.length === 0) return null;
  return html`<div class="cards">${charts.map(shareFigure)}</div>
    ${without(leftOut)}`;
}

const verdictLegend = (view: View): Markup =>
  legend(
    VERDICTS.filter((verdict) => view.effects.some((effect) => effect.verdict === verdict)).map(
      (verdict) => html`${verdictBadge(verdict)} ${meanings[verdict]}`,
    ),
  );

/** Draws all ratios; null if there are none. */
export function forestFigure(view: View): Markup | null {
  const { drawings, leftOut, goesBeyond } = forestOf(view);
  if (drawings.length === 0) return null;
  const rest = leftOut > 0 && ` The ${leftOut} ratios closest to 1 are omitted here; the tables have them.`;
  const arrows =
    goesBeyond && ' An arrow marks an interval that continues beyond the axis; a double arrow marks a ratio beyond it.';
  return html`<figure class="wide" id="ratios">
    <figcaption>
      <strong>All ratios against the baseline</strong>, with 95 % intervals, on a logarithmic axis. Right of 1 is
      worse, whether the metric counts more or less as better.${arrows}${rest}
    </figcaption>
    ${verdictLegend(view)}
    ${drawings.map(({ category, drawing }, i) => {
      const isFirst = drawings[i - 1]?.category !== category;
      return html`${isFirst && html`<p class="part">${category}</p>`}
        <div class="scroll" role="region" tabindex="0" aria-label="Ratios of ${category}">${svg(drawing)}</div> `;
    })}
  </figure> `;
}

export function heatLegend(none: string): Markup {
  return legend([
    ...LEVELS.map((level, i) => html`${swatch(`var(--heat-${i})`, 12)}${i === 0 ? '0' : `to ${level}`} %`),
    html`${swatch(NO_READING.fill, NO_READING.height)}${none}`,
  ]);
}

export function heatFigure(view: View): Markup | null {
  const heat = heatOf(view);
  if (!heat) return null;
  const { rounds, drawn, drawing } = heat;
  const some =
    drawn < rounds.length &&
    ` ${drawn} of ${rounds.length} rounds are drawn, the same number for every system; the table has all.`;
  return html`<figure class="wide">
      <figcaption>
        <strong>GPU utilisation over time</strong>, sampled by NVML during each round: the share of its sampling
        period in which a kernel ran. Rounds differ in length.${some}
      </figcaption>
      ${heatLegend('no reading')}
      <div class="scroll" role="region" tabindex="0" aria-label="GPU utilisation over time, drawn">${svg(drawing)}</div>
    </figure>
    ${table({
      caption: 'GPU utilisation in per cent of the time',
      headings: [{ title: 'Round' }, ...['Mean', 'Median', 'Maximum'].map((title) => ({ title, numeric: true }))],
      rows: rounds.map(
        ({ name, mean, median, most }) =>
          html`<tr>
            <th scope="row">${name}</th>
            ${[mean, median, most].map((value) => figure(value))}
          </tr>`,
      ),
    })}`;
}
