/** Throughput with p99 latency as Markdown tables. */
import type { View } from '../../results/view.js';
import { coordinateText, FRONTS_NOTE, frontsIn, frontTitle, missingPointText, standingText } from '../tables/fronts.js';
import { markdownBlock, type MarkdownColumn, markdownTable, markdownText } from './markdown-text.js';

const left = (title: string): MarkdownColumn => ({ title: markdownText(title) });
const right = (title: string): MarkdownColumn => ({ title: markdownText(title), align: 'right' });

/** Tables of fronts; null without two points to compare. */
export function frontsMarkdown(view: View): string | null {
  const { drawn, leftOut } = frontsIn(view);
  if (drawn.length === 0) return null;
  const tables = drawn.flatMap((front) => {
    const columns = [
      left('System'),
      left('Workload'),
      right(`${front.latency.key}, ${front.latency.unit}`),
      right(`${front.throughput.key}, ${front.throughput.unit}`),
      left('Front'),
    ];
    const rows = front.points.map((point) => [
      ...[point.system, point.workload].map(markdownText),
      coordinateText(point.latency),
      coordinateText(point.throughput),
      markdownText(standingText(point, front)),
    ]);
    const missing = front.missing.map((each) => `- ${markdownBlock(missingPointText(each))}`).join('\n');
    return [`**${markdownText(frontTitle(front))}**`, markdownTable(columns, rows), ...(missing ? [missing] : [])];
  });
  const rest = leftOut.length > 0 ? [markdownText(`Not shown for lack of space: ${leftOut.join(', ')}.`)] : [];
  return [FRONTS_NOTE, ...tables, ...rest].join('\n\n');
}
