/** Ranks, and throughput with p99 latency, as Markdown tables. */
import type { View } from '../results/view.js';
import { coordinateText, FRONTS_NOTE, frontsIn, frontTitle, missingPointText, standingText } from './fronts.js';
import { markdownBlock, type MarkdownColumn, markdownTable, markdownText } from './markdown-text.js';
import { betterText, RANKING_NOTE, rankedText, rankingsOf } from './ranking.js';

const left = (title: string): MarkdownColumn => ({ title: markdownText(title) });
const right = (title: string): MarkdownColumn => ({ title: markdownText(title), align: 'right' });

/** Null with fewer than two systems to rank. */
export function rankingMarkdown(view: View): string | null {
  const rankings = rankingsOf(view);
  if (rankings.length === 0) return null;
  const rows = rankings.flatMap((ranking) =>
    ranking.systems.map((one, i) => {
      const text = rankedText(one, ranking.unit);
      return [
        i === 0 ? `${markdownText(ranking.metric)} (${betterText(ranking)})` : '',
        one.rank === null ? '–' : String(one.rank),
        markdownText(one.system),
        ...[text?.value ?? '–', text?.interval ?? '–', one.reason ?? ''].map(markdownText),
      ];
    }),
  );
  const columns = [
    ...[left('Metric'), right('Rank'), left('System')],
    ...[right('Value'), right('Interval'), left('Without rank because')],
  ];
  return [RANKING_NOTE, markdownTable(columns, rows)].join('\n\n');
}

/** Null without two points to compare. */
export function frontsMarkdown(view: View): string | null {
  const { drawn, leftOut } = frontsIn(view);
  if (drawn.length === 0) return null;
  const tables = drawn.flatMap((front) => {
    const columns = [
      ...[left('System'), left('Workload'), right(`${front.latency.key}, ${front.latency.unit}`)],
      ...[right(`${front.throughput.key}, ${front.throughput.unit}`), left('Front')],
    ];
    const rows = front.points.map((point) => [
      ...[point.system, point.workload].map(markdownText),
      ...[coordinateText(point.latency), coordinateText(point.throughput)],
      markdownText(standingText(point, front)),
    ]);
    const missing = front.missing.map((each) => `- ${markdownBlock(missingPointText(each))}`).join('\n');
    return [`**${markdownText(frontTitle(front))}**`, markdownTable(columns, rows), ...(missing ? [missing] : [])];
  });
  const rest = leftOut.length > 0 ? [markdownText(`Not shown for lack of space: ${leftOut.join(', ')}.`)] : [];
  return [FRONTS_NOTE, ...tables, ...rest].join('\n\n');
}
