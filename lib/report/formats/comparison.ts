/** A comparison for the terminal: the answer, one table per category, then what was not measured and why. */
import type { ComparisonDocument } from '../../results/document.js';
import { effectText } from '../../results/text/effect-text.js';
import { plain } from '../../results/text/plain.js';
import { digits } from '../../results/text/quantity.js';
import { readable } from '../../results/text/readable.js';
import { partly } from '../../results/rounds.js';
import { answerOf } from '../../answer/answer.js';
import type { Answer } from '../../results/answer-schema.js';
import { adviceLines, cardLines, unknownLines, violationCauses } from '../text/answer-lines.js';
import { incompleteText } from '../tables/incomplete.js';
import { indented } from '../text/indented.js';
import { isolationLines } from '../isolation/lines.js';
import { limitText } from '../text/limit-text.js';
import { programCostLines } from '../tables/program-costs.js';
import { rankingLines } from '../tables/ranking.js';
import { roundsText } from '../text/statistics.js';
import { tallies } from '../tables/tally.js';
import { type Screen, screen } from '../text/screen.js';
import { type Bodies, contents, type SectionId, titleOfSection } from '../sections.js';
import { type Column, dataText, fits, table } from '../tables/table.js';
import { WATERMARK } from './terminal.js';
import { againstBaseline, type Missing, type Row, type SystemView, type View, viewOf } from '../../results/view.js';

/** Tables of a category: one if the screen is wide enough, else several with fewer systems, each with the baseline. */
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

type Body = (view: View, answer: Answer, on: Screen) => string[];

const bodies: Bodies<Body> = {
  answer: (_, { decision, cards }) => [decision, ...cards.flatMap((card) => indented(card.system, cardLines(card)))],
  violations: (_, answer) => violationCauses(answer).map((text) => `VIOLATION: ${text}`),
  recommendations: (_, answer) => titled('recommendations', adviceLines(answer)),
  unknown: (_, answer) => titled('unknown', unknownLines(answer)),
  'program-costs': (view) => titled('program-costs', programCostLines(view)),
  ranking: (view) => titled('ranking', rankingLines(view)),
  results: (view, _, on) => [
    tallies(view)
      .map(({ system, text }) => `${system}: ${text}`)
      .join('\n'),
    ...view.categories.map(({ name, rows }) => categoryTables(view, name, rows, on)),
  ],
  isolation: (view) => titled('isolation', isolationLines(view)),
  'compute-limits': (view) => titled('compute-limits', view.computeLimits.map(limitText)),
  'not-measured': (view) => titled('not-measured', view.notMeasured.map(missingText)),
};

const titled = (id: SectionId, lines: readonly string[]): string[] => indented(titleOfSection(id), lines);

export function comparisonReport(document: ComparisonDocument, on: Screen = screen()): string {
  const view = readable(viewOf(document));
  const answer = answerOf(document);
  const { tier, seed } = document.plan;
  return [
    ...(view.simulated ? [WATERMARK] : []),
    ...[incompleteText(document) ?? []].flat(),
    ...contents({
      view,
      bodyOf: (id) => bodies[id]?.(view, answer, on),
      tabled: (content, { title, isFolded }) => (isFolded ? null : [`${title}:\n${dataText(content, on)}`]),
    }).flatMap(({ content }) => content),
    `${roundsText(document)}, tier ${tier}, seed ${seed}; a ratio above 1 is worse`,
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}
