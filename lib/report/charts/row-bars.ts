/** One bar per row, from zero, with an interval and the figure beside it. */
import { isDrawable } from './axes.js';
import { straight } from './lines.js';
import { intervals } from './marks.js';
import { type Panel, rowAxes } from './panel.js';
import { LEVEL_DASH, MUTED, stateless, TEXT } from './theme.js';

interface BarRow {
  name: string;
  /** Length of the bar; null draws none. */
  value: number | null;
  ci95: readonly [number, number] | null;
  /** The figure on the right of the bar. */
  figure: string;
  tip: string;
  colour: string;
}

/** Draws bars, and `limit` as a line across all; null if no row has a bar. */
export function rowBars(rows: readonly BarRow[], label: string, limit?: number): Panel | null {
  const bars = rows.flatMap((bar, row) => (isDrawable(bar.value) ? [{ ...bar, value: bar.value, row }] : []));
  if (bars.length === 0) return null;
  const spans = bars.flatMap(({ ci95, row, tip }) =>
    ci95?.every(isDrawable) ? [{ from: [ci95[0], row], to: [ci95[1], row], tip } as const] : [],
  );
  const tips = bars.map(({ tip }) => tip);
  const colour = (row: number) => (bars.some((bar) => bar.row === row) ? TEXT : MUTED);
  return {
    label,
    tips: [tips, spans.map(({ tip }) => tip), ...(limit === undefined ? [] : [[]])],
    ...rowAxes(
      rows.map(({ name }) => name),
      rows.map(({ figure }) => figure),
      { colour },
    ),
    series: [
      {
        type: 'bar',
        barWidth: 14,
        ...stateless,
        // The style is not part of the data, where it costs ECharts as much as drawing.
        itemStyle: { color: ({ dataIndex }) => bars[dataIndex]?.colour ?? MUTED },
        data: bars.map(({ value, row }) => [value, row]),
      },
      intervals(spans.map(({ from, to }) => ({ from: [...from], to: [...to] }))),
      ...(limit === undefined
        ? []
        : [
            straight(
              [
                [limit, 0],
                [limit, rows.length - 1],
              ],
              TEXT,
              { width: 1.5, type: LEVEL_DASH },
            ),
          ]),
    ],
  };
}
