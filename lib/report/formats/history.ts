/** A history for the terminal: the runs, then one line per metric and system for each card. */
import { findMetric } from '../../metrics/registry.js';
import type { History, HistoryEntry, Trend } from '../../saved/history.js';
import { plain } from '../../results/text/plain.js';
import { estimateText, quantity } from '../../results/text/quantity.js';
import { sparkline } from '../text/sparkline.js';
import { type Column, table } from '../tables/table.js';
import { medianOf } from '../../results/view.js';

const runColumns: Column[] = [
  { title: 'Measured' },
  { title: 'Where', width: 56 },
  { title: 'GPU', width: 32, leaves: 4 },
  { title: 'Driver', leaves: 3 },
  { title: 'Systems', width: 32 },
  { title: 'Tier', leaves: 1 },
  { title: 'Rounds', align: 'right', leaves: 2 },
  { title: 'Complete', width: 24 },
];

const trendColumns: Column[] = [
  { title: 'Metric', width: 44 },
  { title: 'System' },
  { title: 'Trend' },
  { title: 'Runs', align: 'right', leaves: 1 },
  { title: 'First', align: 'right', leaves: 2 },
  { title: 'Last', align: 'right' },
  { title: 'Change', align: 'right' },
];

const card = ({ simulated, gpu }: Pick<HistoryEntry, 'simulated' | 'gpu'>): string =>
  plain(`${simulated ? 'SIMULATED ' : ''}${gpu}`);

export function historyReport({ entries, leftOut }: Omit<History, 'programs'>, trends: readonly Trend[]): string {
  if (entries.length === 0) return 'Nothing was measured yet.';
  const cards = [...new Set(trends.map(cardAndDriver))];
  return [
    ...(leftOut > 0 ? [`${leftOut} older directories are not shown (--limit).`] : []),
    table(runColumns, entries.map(runRow)),
    ...cards.map((each) => {
      const rows = trends.filter((trend) => cardAndDriver(trend) === each).map(trendRow);
      return `${each}\n${table(trendColumns, rows)}`;
    }),
  ].join('\n\n');
}

const cardAndDriver = (trend: Trend): string => `${card(trend)}, driver ${plain(trend.driver)}`;

function runRow(entry: HistoryEntry): string[] {
  const { startedAt, path, driver, systems, tier, rounds, incomplete, baselines, source } = entry;
  const copies = source === 'baseline' ? 'baseline' : baselines.map((name) => `baseline ${name}`).join(', ');
  return [
    startedAt.slice(0, 16).replace('T', ' '),
    plain(copies === '' ? path : `${path} (${copies})`),
    card(entry),
    plain(driver),
    plain(systems.join(', ')),
    tier,
    String(rounds),
    incomplete === null ? 'yes' : plain(`NO: ${incomplete}`),
  ];
}

function trendRow({ metric, name, at, unit, system, points, first, last, changePercent }: Trend): string[] {
  const values = points.map(({ value }) => value);
  return [
    plain(`${metric} ${name}${at === null ? '' : ` (${at})`}`),
    plain(system),
    sparkline(values, smallestThatCounts(metric, values)),
    String(values.length),
    plain(quantity(first, unit)),
    plain(quantity(last, unit)),
    values.length < 2 ? '–' : changeText(last - first, unit, changePercent),
  ];
}

/** Converts the metric's δ to its unit. */
function smallestThatCounts(metric: string, values: readonly number[]): number {
  const delta = findMetric(metric)?.delta;
  if (!delta) return 0;
  return 'relative' in delta ? delta.relative * Math.abs(medianOf(values) ?? 0) : delta.absolute;
}

function changeText(difference: number, unit: string, percent: number | null): string {
  const [value, shown] = percent === null ? [difference, unit] : [percent, '%'];
  return plain(estimateText({ value, ci95: null }, shown, true).value);
}
