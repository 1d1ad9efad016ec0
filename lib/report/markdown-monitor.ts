/** The monitor's values in each phase of a program as a Markdown table, in place of charts. */
import { type MonitorTimeline, phaseSummaries } from '../monitor/timeline.js';
import { number } from '../results/plain.js';
import { markdownTable, markdownText } from './markdown-text.js';
import { phaseFigures, phaseHeadings } from './monitor-phases.js';

/** Null without samples or phases. */
export function monitorMarkdown(timeline: MonitorTimeline): string | null {
  const rows = phaseSummaries(timeline);
  if (rows.length === 0) return null;
  return markdownTable(
    phaseHeadings.map((title, i) => ({ title: markdownText(title), ...(i !== 1 && { align: 'right' as const }) })),
    rows.map((row) => [
      String(row.gpu),
      markdownText(row.name),
      ...phaseFigures(row).map((value) => (value === null ? '–' : number(value))),
    ]),
  );
}
