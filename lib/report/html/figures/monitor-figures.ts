/** GPU samples from the run of a program. */
import { linesDrawing, shownOf } from '../../charts/lines.js';
import { monitorLines } from '../../charts/monitor-lines.js';
import { svg } from '../../charts/svg.js';
import { AXIS, BAND } from '../../charts/theme.js';
import { html, type Markup } from '../../text/markup.js';
import { phaseTable } from '../../tables/monitor-phases.js';
import { type MonitorTimeline, secondsPerPoint } from '../../../monitor/timeline.js';
import { number } from '../../../results/text/plain.js';
import { dataTable } from '../data-table.js';
import { linePoints, seriesLegend } from './figures.js';
import { key, without } from './legend.js';

/** Charts, and a table by phase; null if there is nothing to draw. */
export function monitorFigures(timeline: MonitorTimeline): Markup | null {
  const all = monitorLines(timeline).flatMap((lines) => {
    const drawing = linesDrawing(lines);
    return drawing ? [{ lines, drawing }] : [];
  });
  if (all.length === 0) return null;
  const phases = timeline.phases.map(
    ({ name, fromS, toS }, i) => html`${phaseKey(i)}${name}, ${number(fromS)} to ${number(toS)} s`,
  );
  const table = phaseTable(timeline);
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
    ${table && dataTable(table)}`;
}

const phaseKey = (i: number): Markup =>
  key(AXIS, html`<rect x="0.5" y="0.5" width="27" height="11" fill="${i % 2 === 0 ? BAND : 'none'}" />`);
