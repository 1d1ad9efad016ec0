/** The table of `list`. */
import type { MetricResult } from '../../results/document.js';
import { type Screen, screen } from '../../report/text/screen.js';
import { type Column, fits, table } from '../../report/tables/table.js';

interface ListedMetric {
  id: string;
  name: string;
  unit: string;
  direction: MetricResult['direction'];
  question: string;
  needs: readonly string[];
  /** Whether `run` measures it if nothing is named. */
  firstRun: boolean;
}

const wide: Column[] = [
  { title: 'Id' },
  { title: 'Name', width: 32 },
  { title: 'Unit' },
  { title: 'Better' },
  { title: 'Question', width: 56 },
  { title: 'Needs', width: 32 },
];

/** The same facts in fewer columns. */
const narrow: Column[] = [
  { title: 'Id' },
  { title: 'Name', width: 32 },
  { title: 'Unit, better', wraps: true },
  { title: 'Question and needs', width: 56 },
];

const MARK = '*';

export function metricTable(metrics: readonly ListedMetric[], on: Screen = screen()): string {
  const rows = metrics.map(wideRow);
  const text = fits(wide, rows, on) ? table(wide, rows, on) : table(narrow, metrics.map(narrowRow), on);
  const marked = metrics.filter(({ firstRun }) => firstRun).length;
  return `${text}\n\n${MARK} is measured by run if nothing is named (${marked} of ${metrics.length});\nrun all measures every metric.`;
}

const marked = ({ id, firstRun }: ListedMetric): string => (firstRun ? `${id} ${MARK}` : id);
const betterText = ({ direction }: ListedMetric): string => (direction === 'none' ? '–' : direction);
const needsText = ({ needs }: ListedMetric): string => needs.join(', ');

const wideRow = (metric: ListedMetric): string[] => [
  marked(metric),
  metric.name,
  metric.unit,
  betterText(metric),
  metric.question,
  needsText(metric) || '–',
];

const narrowRow = (metric: ListedMetric): string[] => [
  marked(metric),
  metric.name,
  `${metric.unit}, ${betterText(metric)}`,
  metric.needs.length > 0 ? `${metric.question} Needs ${needsText(metric)}.` : metric.question,
];
