/** The cost of each call: one bar per call, most expensive first, with its interval over rounds. */
import type { CallEffect } from '../../results/document.js';
import { digits, inOneLine } from '../../results/quantity.js';
import { costText, MOST_CALLS } from '../costs.js';
import { capped, type CustomSeriesRenderItem, haloed, textAt } from './marks.js';
import { panelHeight, PANEL_WIDTH, stacked, systemsAxes } from './panel.js';
import { isDrawable, linear } from './scale.js';
import type { Drawing } from './svg.js';
import { widest } from './text.js';
import { stateless, still } from './theme.js';

const nameOf = ({ call, metric }: CallEffect): string => `${call} (${metric})`;

const described = (cost: CallEffect): string => `${nameOf(cost)}: ${inOneLine(costText(cost))}`;

/** Null if no call has a cost that can be drawn. */
export function costBars(calls: readonly CallEffect[], title: string): Drawing | null {
  const bars = calls.filter(({ overheadNs }) => isDrawable(overheadNs)).slice(0, MOST_CALLS);
  if (bars.length === 0) return null;
  const intervals = bars.map(({ overheadCi95 }) => (overheadCi95?.every(isDrawable) ? overheadCi95 : null));
  const scale = linear([...bars.map(({ overheadNs }) => overheadNs), ...intervals.flatMap((ends) => ends ?? [])], {
    zero: true,
    ticks: 3,
  });
  const names = bars.map(nameOf);
  const figures = bars.map(({ overheadNs }) => digits(overheadNs));
  const marks: CustomSeriesRenderItem = ({ dataIndex }, api) => {
    const [, y = 0] = api.coord([0, dataIndex]);
    const figure = textAt(PANEL_WIDTH - 4, y, figures[dataIndex] as string, { align: 'right' });
    const ends = intervals[dataIndex];
    if (!ends) return { type: 'group', children: [figure] };
    const [low = 0, high = 0] = ends.map((end) => api.coord([scale.place(end), dataIndex])[0] as number);
    return { type: 'group', children: [...haloed(capped(low, high, y), 4.5), figure] };
  };
  const data = bars.map(({ overheadNs }, row) => [scale.place(overheadNs), row]);
  const tips = bars.map(described);
  const panel = {
    height: panelHeight(names),
    label: `Cost in ns a call. ${tips.join('; ')}.`,
    tips: [tips, tips],
    axes: systemsAxes(names, scale, widest(figures) + 12),
    series: [
      { type: 'bar' as const, barWidth: 14, ...stateless, itemStyle: { color: 'var(--slower)' }, data },
      { type: 'custom' as const, z: 3, ...still, data, renderItem: marks },
    ],
  };
  return stacked([panel], title);
}
