/** A comparison for the terminal: one table a category, then violations, then what was not measured and why. */
import type { ComparisonDocument } from '../document.js';
import { effectText } from './effect-text.js';
import { number, plain } from './plain.js';
import { partly } from './rounds.js';
import { roundsText } from './statistics.js';
import { type Column, table } from './table.js';
import { WATERMARK } from './terminal.js';
import { type Missing, type Row, type View, viewOf } from './view.js';

function categoryTable({ systems }: View, category: string, rows: readonly Row[]): string {
  const columns: Column[] = [
    { title: 'Metric' },
    { title: 'Unit' },
    ...systems.flatMap(({ name, isCompared }): Column[] => [
      { title: plain(name), align: 'right' },
      ...(isCompared ? [{ title: 'against it', align: 'right' } as const, { title: 'Verdict' }] : []),
    ]),
  ];
  const cells = ({ cells: own, unit }: Row) =>
    own.flatMap(({ value, effect }, index) => [
      value === null ? '–' : number(value),
      ...(systems[index]?.isCompared ? [effectText(effect, unit), effect?.verdict ?? '–'] : []),
    ]);
  return `${category}\n${table(
    columns,
    rows.map((row) => [plain(`${row.id} ${row.name}`), plain(row.unit), ...cells(row)]),
  )}`;
}

export function missingText({ system, metrics, status, reason, rounds, of }: Missing): string {
  const several = metrics.length > 1;
  const what = several ? `${metrics.length} metrics (${metrics.join(', ')})` : metrics.join();
  const often = several && of > 1 ? `${rounds} of ${of} rounds` : partly(rounds, of);
  return plain(`${system}, ${what}: ${status}${reason ? `: ${reason}` : ''}${often ? ` (in ${often})` : ''}`);
}

export const limitText = ({ system, limitPercent, label, achievedPercent, detail }: View['computeLimits'][number]) =>
  plain(
    `${system}, ${limitPercent} %: ${label}${achievedPercent === null ? '' : ` (busy ${number(achievedPercent)} % of the time)`}; ${detail}`,
  );

export const violationText = ({ system, metric, detail }: View['violations'][number]): string =>
  plain(`${system}, ${metric}: ${detail}`);

const indented = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`];

export function comparisonReport(document: ComparisonDocument): string {
  const view = viewOf(document);
  const { tier, seed } = document.plan;
  return [
    ...(view.simulated ? [WATERMARK] : []),
    `${roundsText(document)}, tier ${tier}, seed ${seed}; a ratio above 1 is worse; verdicts after Holm's adjustment`,
    ...view.categories.map(({ name, rows }) => categoryTable(view, name, rows)),
    ...indented('Compute limits', view.computeLimits.map(limitText)),
    ...view.violations.map((violation) => `VIOLATION: ${violationText(violation)}`),
    ...indented('Not measured', view.notMeasured.map(missingText)),
  ].join('\n\n');
}
