/** Throughput and p99 latency: for each program a chart, and its points as a table. */
import type { Coordinate, Front } from '../../costs/fronts.js';
import { frontLines } from '../charts/front-lines.js';
import { linesDrawing, shownOf } from '../charts/lines.js';
import { svg } from '../charts/svg.js';
import { LEVEL_DASH, MUTED, SURFACE, TEXT } from '../charts/theme.js';
import { FRONTS_NOTE, frontsIn, frontTitle, missingPointText, pointName, standingText } from '../tables/fronts.js';
import { html, type Markup } from '../text/markup.js';
import { name, sentence } from './bounds.js';
import { seriesLegend } from './figures/figures.js';
import { key, points, stroke, without } from './figures/legend.js';
import type { Page } from './page-content.js';
import { items } from './prose.js';
import { figure, interval, text } from './table.js';

/** Charts and tables; null without two points to compare. */
export function fronts({ view }: Page): Markup | null {
  const { drawn, leftOut } = frontsIn(view);
  if (drawn.length === 0) return null;
  const systems = view.systems.map((system) => system.name);
  return html`<p class="note">${FRONTS_NOTE}</p>
    <div class="cards">${drawn.map((front) => frontFigure(bounded(front), systems))}</div>
    ${without(leftOut.map(name))}`;
}

/** Shortens the names of a front, because the document may come from anywhere. */
const bounded = (front: Front): Front => ({
  ...front,
  program: name(front.program),
  latency: { key: name(front.latency.key), unit: name(front.latency.unit) },
  throughput: { key: name(front.throughput.key), unit: name(front.throughput.unit) },
  points: front.points.map((point) => ({ ...point, system: name(point.system), workload: name(point.workload) })),
});

function frontFigure(front: Front, systems: readonly string[]): Markup {
  const title = frontTitle(front);
  const lines = frontLines(front, title, systems);
  const drawing = linesDrawing(lines);
  const ring = html`${key(MUTED, [stroke(LEVEL_DASH), RING])}front`;
  const shown = shownOf(lines);
  return html`<figure class="card">
    <figcaption><strong>${title}</strong></figcaption>
    ${seriesLegend(shown, [ring], false)}${drawing && svg(drawing)}${without(shown.leftOut)}
    ${points({
      caption: title,
      headings: [
        { title: 'Point' },
        { title: lines.x, numeric: true },
        { title: lines.y, numeric: true },
        { title: 'Front' },
      ],
      rows: front.points.map(
        (point) =>
          html`<tr>
            <th scope="row">${pointName(point, front)}</th>
            ${cell(point.latency)}${cell(point.throughput)}${text(standingText(point, front))}
          </tr>`,
      ),
    })}
    ${front.missing.length > 0 && items(front.missing.map((each) => sentence(missingPointText(each))))}
  </figure> `;
}

const RING = html`<circle cx="14" cy="6" r="5" fill="${SURFACE}" stroke="${TEXT}" stroke-width="1.5" />`;

const cell = ({ value, interval: ends }: Coordinate): Markup => figure(value, interval(ends));
