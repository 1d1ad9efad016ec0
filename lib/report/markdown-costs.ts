/** The cost of each call as Markdown tables, one per system. */
import { quantity } from '../results/quantity.js';
import type { View } from '../results/view.js';
import { callCosts, COSTS_NOTE, costText, MOST_CALLS, restText, someWays, type SystemCosts } from './costs.js';
import { markdownBlock, type MarkdownColumn, markdownTable, markdownText } from './markdown-text.js';

const columns: readonly MarkdownColumn[] = [
  { title: 'Call' },
  { title: 'Added per call', align: 'right' },
  { title: '95 % interval', align: 'right' },
  { title: 'Without the layer', align: 'right' },
  { title: 'Measured by' },
  { title: 'Owner' },
];

/** Null if no system intercepts a call. */
export function costsMarkdown(view: View): string | null {
  const systems = callCosts(view);
  return systems.length === 0 ? null : [COSTS_NOTE, ...systems.map(systemTable)].join('\n\n');
}

function systemTable(costs: SystemCosts): string {
  const shown = costs.calls.slice(0, MOST_CALLS);
  const rows = shown.map((cost) => {
    const ways = someWays(cost);
    const { value, interval } = costText(cost);
    return [
      markdownText(ways === null ? cost.call : `${cost.call} (${ways})`),
      value,
      interval ?? '–',
      quantity(cost.bareNs, 'ns'),
      markdownText(cost.metric),
      markdownText(cost.owner ?? '–'),
    ];
  });
  const rest = restText(costs, shown.length);
  return [
    `**${markdownText(costs.system)}**`,
    ...(rows.length > 0 ? [markdownTable([...columns], rows)] : []),
    ...(rest === null ? [] : [markdownBlock(rest)]),
  ].join('\n\n');
}
