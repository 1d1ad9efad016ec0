/** GPU samples from the run of a program. */
import { linesDrawing, shownOf } from '../charts/lines.js';
import { monitorLines } from '../charts/monitor-lines.js';
import { svg } from '../charts/svg.js';
import { AXIS, BAND } from '../charts/theme.js';
import { html, type Markup } from '../markup.js';
import { phaseFigures, phaseHeadings } from '../monitor-phases.js';
import { type MonitorTimeline, phaseSummaries, secondsPerPoint } from '../../monitor/timeline.js';
import { number } from '../../results/plain.js';
import { linePoints, seriesLegend } from './figures.js';
import { key, without } from './legend.js';
import { count, figure, table, text } from './table.js';

/** Charts, and a table by phase. Null if there is nothing to draw. */
export function monitorFigures(timeline: MonitorTimeline): Markup | null {
  const all = monitorLines(timeline).flatMap((lines) => {
    const drawing = linesDrawing(lines);
    return drawing ? [{ lines, drawing }] : [];
  });
  if (all.length === 0) return null;
  const phases = timeline.phases.map(
    ({ name, fromS, toS }, i) => html`${phaseKey(i)}${name}, ${number(fromS)} to ${number(toS)} s`,
  );
  const seconds = secondsPerPoint(timeline);
  const isMean = 1_000 * seconds > (timeline.sampledEveryMs ?? timeline.intervalMs);
  return html`<div class="cards">
      ${all.map(({ lines, drawing }) => {
        const shown = shownOf(lines);
        return html`<figure class="card">
          <figcaption><strong>${lines.title}</strong></figcaption>
          ${seriesLegend(shown, phases)}${svg(drawing)}
          ${isMean && html`<p class="note">Each point is the mean of ${number(seconds)} s.</p>`}
          ${without(shown.leftOut)}${linePoints(lines)}
        </figure> `;
      })}
    </div>
    ${timeline.phases.length > 0 && phaseTable(timeline)}`;
}

const phaseKey = (i: number): Markup =>
  key(AXIS, html`<rect x="0.5" y="0.5" width="27" height="11" fill="${i % 2 === 0 ? BAND : 'none'}" />`);

/** The columns before this one (from, to, samples) are not measurements. */
const COUNTED = 3;

const phaseTable = (timeline: MonitorTimeline): Markup =>
  table({
    caption: 'What the GPU did in each phase',
    headings: phaseHeadings.map((title, i) => ({ title, numeric: i !== 1 })),
    rows: phaseSummaries(timeline).map(
      (row) =>
        html`<tr>
          <th scope="row" class="num">${row.gpu}</th>
          ${text(row.name)}${phaseFigures(row).map((value, i) => (i < COUNTED ? count(value) : figure(value)))}
        </tr>`,
    ),
  });
