/** The cost of each call: one bar per call, most expensive first, with its interval over rounds. */
import type { CallEffect } from '../../results/document.js';
import { digits, inOneLine } from '../../results/text/quantity.js';
import { costText, MOST_CALLS } from '../tables/costs.js';
import { stacked } from './panel.js';
import { rowBars } from './row-bars.js';
import type { Drawing } from './svg.js';

/** Draws the costs of calls; null if none can be drawn. */
export function costBars(calls: readonly CallEffect[], title: string): Drawing | null {
  const rows = calls.slice(0, MOST_CALLS).map((cost) => {
    const name = `${cost.call} (${cost.metric})`;
    const { overheadNs: value, overheadCi95: ci95 } = cost;
    const tip = `${name}: ${inOneLine(costText(cost))}`;
    return { name, value, ci95, figure: digits(value), tip, colour: 'var(--slower)' };
  });
  const panel = rowBars(rows, `Cost in ns a call. ${rows.map(({ tip }) => tip).join('; ')}.`);
  return panel && stacked([panel], title);
}
