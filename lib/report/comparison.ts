/** A comparison for the terminal: violations, one table per category, then what was not measured and why. */
import type { ComparisonDocument } from '../results/document.js';
import { effectText } from '../results/effect-text.js';
import { plain } from '../results/plain.js';
import { digits } from '../results/quantity.js';
import { readable } from '../results/readable.js';
import { partly } from '../results/rounds.js';
import { indented } from './indented.js';
import { isolationLines } from './isolation/lines.js';
import { limitText } from './limit-text.js';
import { PROGRAM_TITLE, programCostLines } from './program-costs.js';
import { RANKING_TITLE, rankingLines } from './ranking.js';
import { sceneTable } from './slowdowns.js';
import { roundsText } from './statistics.js';
import { summaryText } from './summary-text.js';
import { violationLines } from './violation-text.js';
import { type Screen, screen } from './screen.js';
import { type Column, fits, table } from './table.js';
import { WATERMARK } from './terminal.js';
import { againstBaseline, type Missing, type Row, type SystemView, type View, viewOf } from '../results/view.js';

/** Side by side if the screen is wide enough, else several tables with fewer systems, each with the baseline. */
function categoryTables({ systems }: View, category: string, rows: readonly Row[], on: Screen): string {
  const baseline = systems.filter(({ isBaseline }) => isBaseline);
  const others = systems.filter(({ isBaseline }) => !isBaseline);
  const inTables = (size: number) =>
    Array.from({ length: Math.ceil(others.length / size) }, (_, i) =>
      systemsTable(systems, [...baseline, ...others.slice(i * size, (i + 1) * size)], rows),
    );
  let size = Math.max(1, others.length);
  while (size > 1 && !inTables(size).every(([columns, texts]) => fits(columns, texts, on))) size--;
  const tables = others.length > 0 ? inTables(size) : [systemsTable(systems, baseline, rows)];
  return [category, ...tables.map(([columns, texts]) => table(columns, texts, on))].join('\n');
}

function systemsTable(
  all: readonly SystemView[],
  some: readonly SystemView[],
  rows: readonly Row[],
): [Column[], string[][]] {
  const against = plain(againstBaseline(all));
  const columns = some.flatMap(({ name, isBaseline, isCompared }): Column[] => [
    { title: plain(name), align: 'right', ...(isBaseline && { leaves: 1 }) },
    ...(isCompared ? [{ title: against, align: 'right', wraps: true } as const, { title: 'Verdict' }] : []),
  ]);
  const cells = ({ cells: own, unit }: Row) =>
    some.flatMap((system) => {
      const { value = null, effect = null } = own[all.indexOf(system)] ?? {};
      return [
        value === null ? '–' : digits(value),
        ...(system.isCompared ? [effectText(effect, unit), effect?.verdict ?? '–'] : []),
      ];
    });
  return [
    [{ title: 'Metric', wraps: true }, { title: 'Unit' }, ...columns],
    rows.map((row) => [plain(`${row.id} ${row.name}`), plain(row.unit), ...cells(row)]),
  ];
}

export function missingText({ system, metrics, status, reason, rounds, of }: Missing): string {
  const several = metrics.length > 1;
  const what = several ? `${metrics.length} metrics (${metrics.join(', ')})` : metrics.join();
  const often = several && of > 1 ? `${rounds} of ${of} rounds` : partly(rounds, of);
  return plain(`${system}, ${what}: ${status}${reason ? `: ${reason}` : ''}${often ? ` (in ${often})` : ''}`);
}

export function comparisonReport(document: ComparisonDocument, on: Screen = screen()): string {
  const view = readable(viewOf(document));
  const { tier, seed } = document.plan;
  return [
    ...(view.simulated ? [WATERMARK] : []),
    `${roundsText(document)}, tier ${tier}, seed ${seed}; a ratio above 1 is worse; verdicts after Holm's adjustment`,
    ...violationLines(view.violations),
    ...indented('Summary', summaryText(view)),
    ...indented(PROGRAM_TITLE, programCostLines(view)),
    ...[sceneTable(view, on) ?? []].flat(),
    ...indented(RANKING_TITLE, rankingLines(view)),
    ...view.categories.map(({ name, rows }) => categoryTables(view, name, rows, on)),
    ...indented('Isolation', isolationLines(view)),
    ...indented('Compute limits', view.computeLimits.map(limitText)),
    ...indented('Not measured', view.notMeasured.map(missingText)),
  ].join('\n\n');
}
