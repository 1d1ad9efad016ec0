/** A metric's value by system: bars from zero, with the interval of each. */
import { digits, estimateText, inOneLine } from '../../results/quantity.js';
import type { Cell, Row } from '../../results/view.js';
import { capped, type CustomSeriesRenderItem, haloed, textAt } from './marks.js';
import { isDrawable, linear, type Scale } from './scale.js';
import { panelHeight, type Panel, PANEL_WIDTH, systemsAxes } from './panel.js';
import { widest } from './text.js';
import { colourOf, stateless, still } from './theme.js';

interface Bar {
  system: number;
  value: number;
  ci95: [number, number] | null;
}

const barsOf = ({ cells }: Row): Bar[] =>
  cells.flatMap(({ value, ci95 }, system) =>
    isDrawable(value) ? [{ system, value, ci95: ci95?.every(isDrawable) ? ci95 : null }] : [],
  );

const described = ({ system, value, ci95 }: Cell, unit: string): string =>
  value === null ? `${system}: not measured` : `${system}: ${inOneLine(estimateText({ value, ci95 }, unit))}`;

/** Draws the interval, and the value as text at the edge. */
const renderer =
  (bars: readonly Bar[], { place }: Scale, width: number): CustomSeriesRenderItem =>
  ({ dataIndex }, api) => {
    const { system, value, ci95 } = bars[dataIndex] as Bar;
    const [, y = 0] = api.coord([0, system]);
    const figures = textAt(width - 4, y, digits(value), { align: 'right' });
    if (!ci95) return { type: 'group', children: [figures] };
    const [low = 0, high = 0] = ci95.map((end) => api.coord([place(end), system])[0] as number);
    return { type: 'group', children: [...haloed(capped(low, high, y), 4.5), figures] };
  };

/** Null if no system has a value. */
export function barsPanel(row: Row): Panel | null {
  const bars = barsOf(row);
  if (bars.length === 0) return null;
  const scale = linear(
    bars.flatMap(({ value, ci95 }) => [value, ...(ci95 ?? [])]),
    { zero: true, ticks: 3 },
  );
  const names = row.cells.map(({ system }) => system);
  const tips = bars.map(({ system }) => described(row.cells[system] as Cell, row.unit));
  return {
    height: panelHeight(names),
    label: `Values in ${row.unit}, with 95 % intervals: ${row.cells.map((cell) => described(cell, row.unit)).join('; ')}.`,
    tips: [tips, tips],
    axes: systemsAxes(names, scale, widest(bars.map(({ value }) => digits(value))) + 12),
    series: [
      {
        type: 'bar',
        barWidth: 14,
        ...stateless,
        // The style is not part of the data, where it costs ECharts as much as drawing.
        itemStyle: { color: ({ dataIndex }) => colourOf(bars[dataIndex]?.system ?? 0) },
        data: bars.map(({ system, value }) => [scale.place(value), system]),
      },
      {
        type: 'custom',
        z: 3,
        ...still,
        data: bars.map(({ system, value }) => [scale.place(value), system]),
        renderItem: renderer(bars, scale, PANEL_WIDTH),
      },
    ],
  };
}
