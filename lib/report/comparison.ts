/** A comparison for the terminal: one table a category, then violations, then what was not measured and why. */
import type { ComparisonDocument, Effect, MetricResult, RunDocument } from '../document.js';
import { number, plain } from './plain.js';
import { type Column, table } from './table.js';
import { WATERMARK } from './terminal.js';

/** Median over rounds of a metric's value; null where no round has one. */
function typicalValue(rounds: readonly RunDocument[], id: string): number | null {
  const values = rounds
    .flatMap(({ metrics }) => metrics)
    .flatMap((result) => (result.id === id && result.value !== null ? [result.value] : []))
    .sort((a, b) => a - b);
  const middle = Math.floor(values.length / 2);
  if (values.length === 0) return null;
  return values.length % 2 === 1
    ? (values[middle] as number)
    : ((values[middle - 1] as number) + (values[middle] as number)) / 2;
}

function effectText(effect: Effect | undefined, unit: string): string {
  if (!effect) return '–';
  const { ratio, ratioCi95, difference, differenceCi95 } = effect;
  if (ratio !== null && ratioCi95) return `× ${number(ratio)} (${number(ratioCi95[0])} … ${number(ratioCi95[1])})`;
  if (difference === null) return '–';
  const interval = differenceCi95 ? ` (${number(differenceCi95[0])} … ${number(differenceCi95[1])})` : '';
  return `${difference > 0 ? '+' : ''}${number(difference)} ${unit}${interval}`;
}

function categoryTable(document: ComparisonDocument, category: string, definitions: readonly MetricResult[]): string {
  const [baseline = '', ...others] = document.plan.systems;
  const columns: Column[] = [
    { title: 'Metric' },
    { title: 'Unit' },
    { title: plain(baseline), align: 'right' },
    ...others.flatMap((name): Column[] => [
      { title: plain(name), align: 'right' },
      { title: 'against it', align: 'right' },
      { title: 'Verdict' },
    ]),
  ];
  const cell = (value: number | null) => (value === null ? '–' : number(value));
  const rows = definitions.map(({ id, name, unit }) => [
    plain(`${id} ${name}`),
    plain(unit),
    cell(typicalValue(document.systems[0] ?? [], id)),
    ...others.flatMap((system, index) => {
      const effect = document.effects.find((candidate) => candidate.metric === id && candidate.system === system);
      const value = cell(typicalValue(document.systems[index + 1] ?? [], id));
      return [value, effectText(effect, unit), effect?.verdict ?? '–'];
    }),
  ]);
  return `${category}\n${table(columns, rows)}`;
}

/** One line a system, metric and reason, however many rounds say the same. */
function notMeasured({ systems, effects }: ComparisonDocument): string[] {
  const lines = systems.flat().flatMap(({ system, metrics }) =>
    metrics
      .filter(({ status }) => status !== 'ok')
      // A difference to the native arm stands in the table, and nowhere else.
      .filter(({ id, status }) => status !== 'unsupported' || !effects.some(({ metric }) => metric === id))
      .map(({ id, status, reason }) => plain(`${system.name}, ${id}: ${status}${reason ? `: ${reason}` : ''}`)),
  );
  return [...new Set(lines)];
}

function computeLimitLines({ computeLimits }: ComparisonDocument): string[] {
  const lines = computeLimits.map(({ system, limitPercent, label, achievedPercent, detail }) => {
    const seen = achievedPercent === null ? '' : ` (busy ${number(achievedPercent)} % of the time)`;
    return `  ${plain(`${system}, ${limitPercent} %: ${label}${seen}; ${detail}`)}`;
  });
  return lines.length > 0 ? [`Compute limits:\n${lines.join('\n')}`] : [];
}

export function comparisonReport(document: ComparisonDocument): string {
  const simulated = document.systems.flat().some(({ gpu }) => gpu.some((device) => device.simulated));
  const known = new Map(document.systems.flat().flatMap(({ metrics }) => metrics.map((result) => [result.id, result])));
  const results = [...known.values()].sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  const categories = [...new Set(results.map(({ category }) => category))];
  const { rounds, tier, seed } = document.plan;
  const missing = notMeasured(document);
  return [
    ...(simulated ? [WATERMARK] : []),
    `${rounds} rounds, tier ${tier}, seed ${seed}; a ratio above 1 is worse; verdicts after Holm's adjustment`,
    ...categories.map((category) =>
      categoryTable(
        document,
        category,
        results.filter((result) => result.category === category),
      ),
    ),
    ...computeLimitLines(document),
    ...document.violations.map(({ system, metric, detail }) => plain(`VIOLATION: ${system}, ${metric}: ${detail}`)),
    ...(missing.length > 0 ? [`Not measured:\n${missing.map((line) => `  ${line}`).join('\n')}`] : []),
  ].join('\n\n');
}
