/** Charts of what the GPU did while programs ran. */
import { html, type Markup } from '../../text/markup.js';
import { programTimelines, TIMELINE_NOTE, timelineText } from '../../tables/program-timelines.js';
import { name } from '../bounds.js';
import { monitorFigures } from './monitor-figures.js';
import type { Page } from '../page-content.js';

/** Charts of programs; null if nothing was monitored. */
export function programTimelineCharts({ view }: Page): Markup | null {
  const { shown, note } = programTimelines(view);
  const parts = shown.flatMap((one) => {
    const figures = monitorFigures(one.timeline);
    return figures ? [html`<h3>${name(timelineText(one))}</h3> ${figures}`] : [];
  });
  if (parts.length === 0) return null;
  return html`<p class="note">${TIMELINE_NOTE}</p>
    ${parts}${note !== null && html`<p class="note">${note}</p>`}`;
}
