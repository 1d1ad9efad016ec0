/** The GPU's activity while programs ran, as Markdown tables. */
import type { View } from '../results/view.js';
import { monitorMarkdown } from './markdown-monitor.js';
import { markdownText } from './markdown-text.js';
import { programTimelines, TIMELINE_NOTE, timelineText } from './program-timelines.js';

/** Null if nothing was monitored. */
export function programTimelinesMarkdown(view: View): string | null {
  const { shown, note } = programTimelines(view);
  const parts = shown.flatMap((one) => {
    const table = monitorMarkdown(one.timeline);
    return table === null ? [] : [`**${markdownText(timelineText(one))}**`, table];
  });
  if (parts.length === 0) return null;
  return [TIMELINE_NOTE, ...parts, ...(note === null ? [] : [markdownText(note)])].join('\n\n');
}
