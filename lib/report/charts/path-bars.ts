/** What each memory path granted: one bar per path, with the limit as a line across them. */
import { bytes, number } from '../../results/plain.js';
import type { MemoryPath } from '../isolation/rows.js';
import { type CustomSeriesRenderItem, haloed, textAt } from './marks.js';
import { panelHeight, PANEL_WIDTH, stacked, systemsAxes } from './panel.js';
import { isDrawable, linear } from './scale.js';
import type { Drawing } from './svg.js';
import { widest } from './text.js';
import { LEVEL_DASH, MUTED, stateless, still } from './theme.js';

const MOST_PATHS = 40;

const colours = { enforced: 'var(--same)', leaks: 'var(--slower)', 'wrong error': 'var(--invalid)' } as const;

/** Granted memory in per cent of the limit; null if nothing was granted or there is no limit. */
function partOf({ grantedBytes, limitBytes }: MemoryPath): number | null {
  const part = grantedBytes === null || limitBytes === 0 ? null : (100 * grantedBytes) / limitBytes;
  return isDrawable(part) ? part : null;
}

const figures = ({ grantedBytes, outcome }: MemoryPath): string =>
  grantedBytes === null ? outcome : bytes(grantedBytes);

const described = (path: MemoryPath): string =>
  `${path.path}: ${path.outcome}${path.grantedBytes === null ? '' : `, granted ${bytes(path.grantedBytes)} under a limit of ${bytes(path.limitBytes)}`}`;

/** Null if no path granted anything. */
export function pathBars(all: readonly MemoryPath[], title: string): { drawing: Drawing; leftOut: string[] } | null {
  const paths = all.slice(0, MOST_PATHS);
  const bars = paths.flatMap((path, row) => {
    const part = partOf(path);
    return part === null ? [] : [{ path, row, part }];
  });
  if (bars.length === 0) return null;
  const scale = linear([100, ...bars.map(({ part }) => part)], { zero: true, ticks: 3 });
  const names = paths.map(({ path }) => path);
  const text: CustomSeriesRenderItem = ({ dataIndex }, api) => {
    const path = paths[dataIndex] as MemoryPath;
    const [, y = 0] = api.coord([0, dataIndex]);
    const colour = partOf(path) === null ? { colour: MUTED } : {};
    return textAt(PANEL_WIDTH - 4, y, figures(path), { align: 'right', ...colour });
  };
  const limit: CustomSeriesRenderItem = (_, api) => {
    const [x = 0, top = 0] = api.coord([scale.place(100), 0]);
    const [, bottom = 0] = api.coord([scale.place(100), paths.length - 1]);
    const half = (bottom - top) / Math.max(1, paths.length - 1) / 2 || 12;
    return {
      type: 'group',
      children: haloed(
        [
          [x, top - half],
          [x, bottom + half],
        ],
        3,
        LEVEL_DASH,
      ),
    };
  };
  const panel = {
    height: panelHeight(names),
    label: `In per cent of the limit. ${paths.map(described).join('; ')}.`,
    tips: [bars.map(({ path, part }) => `${described(path)} (${number(part)} %)`)],
    axes: systemsAxes(names, scale, widest(paths.map(figures)) + 12),
    series: [
      {
        type: 'bar' as const,
        barWidth: 14,
        ...stateless,
        itemStyle: {
          color: ({ dataIndex }: { dataIndex: number }) => {
            const outcome = bars[dataIndex]?.path.outcome;
            return outcome === undefined || outcome === 'unsupported' ? MUTED : colours[outcome];
          },
        },
        data: bars.map(({ row, part }) => [scale.place(part), row]),
      },
      { type: 'custom' as const, z: 3, ...still, data: [[scale.place(100), 0]], renderItem: limit },
      { type: 'custom' as const, z: 3, ...still, data: paths.map((_, row) => [0, row]), renderItem: text },
    ],
  };
  return { drawing: stacked([panel], title), leftOut: all.slice(MOST_PATHS).map(({ path }) => path) };
}
