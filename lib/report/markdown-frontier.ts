/** The frontier of token generation as a Markdown table. */
import { number } from '../results/plain.js';
import { digits } from '../results/quantity.js';
import type { View } from '../results/view.js';
import { frontierLines } from './frontier.js';
import { type MarkdownColumn, markdownTable, markdownText } from './markdown-text.js';

const left = (title: string): MarkdownColumn => ({ title });
const right = (title: string): MarkdownColumn => ({ title, align: 'right' });

/** Null if no metric has one. */
export function frontierMarkdown(view: View): string | null {
  const lines = frontierLines(view);
  if (lines.length === 0) return null;
  const columns = [
    ...[left('Metric'), left('System'), left('Steps by'), right('Co-tenants')],
    ...[right('Tokens/s of all'), right('p50 ms'), right('p99 ms')],
  ];
  const cell = (value: number | null, reason: string) => (value === null ? markdownText(reason || '–') : digits(value));
  return markdownTable(
    columns,
    lines.map(({ metric, system, mode, coTenants, tokensPerSecond, p50Ms, p99Ms, reason }) => [
      ...[metric, system, mode, number(coTenants)].map(markdownText),
      tokensPerSecond === null ? '–' : digits(tokensPerSecond),
      p50Ms === null ? '–' : digits(p50Ms),
      cell(p99Ms, reason),
    ]),
  );
}
