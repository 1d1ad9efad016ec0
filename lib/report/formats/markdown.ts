/** The comparison report as Markdown, to paste into an issue, a pull request or a wiki. */
import type { Effect } from '../../results/document.js';
import { categoryTitle } from '../../results/text/category-title.js';
import { missingText } from './comparison.js';
import { limitText } from '../text/limit-text.js';
import { effectText, establishedText, relevanceText } from '../../results/text/effect-text.js';
import { frontierMarkdown } from '../tables/frontier.js';
import { costsMarkdown } from '../tables/costs.js';
import { frontsMarkdown } from '../markdown/markdown-fronts.js';
import { programTimelinesMarkdown } from '../tables/program-timelines.js';
import { incompleteText } from '../tables/incomplete.js';
import { isolationMarkdown } from '../markdown/markdown-isolation.js';
import { peerMatrices, peerTable } from '../tables/peer-matrix.js';
import {
  dataMarkdown,
  fenced,
  markdownBlock,
  type MarkdownColumn,
  markdownTable,
  markdownText,
  titledMarkdown,
} from '../markdown/markdown-text.js';
import { digits, estimateText, inOneLine, range } from '../../results/text/quantity.js';
import { partly } from '../../results/rounds.js';
import {
  answerMarkdown,
  causesMarkdown,
  recommendationsMarkdown,
  unknownMarkdown,
} from '../markdown/markdown-answer.js';
import { type Bodies, contents } from '../sections.js';
import { tallies } from '../tables/tally.js';
import { WATERMARK } from './terminal.js';
import { againstBaseline, type Cell, type Row, rowsOf, type View } from '../../results/view.js';
import type { Words } from '../text/words.js';
import type { Fact } from '../text/fact.js';

type Body = (view: View, words: Words) => string | null;

const bodies: Bodies<Body> = {
  answer: (_, { answer }) => answerMarkdown(answer),
  violations: (view, { answer }) => joined(causesMarkdown(answer), foundViolations(view)),
  recommendations: (_, { answer }) => recommendationsMarkdown(answer),
  unknown: (_, { answer }) => unknownMarkdown(answer),
  costs: costsMarkdown,
  fronts: frontsMarkdown,
  results: (view) =>
    joined(
      tallyText(view),
      ...view.categories.map(
        ({ name, rows }) => `### ${markdownText(categoryTitle(name))}\n\n${categoryTable(view, rows)}`,
      ),
    ),
  peers: (view) => joined(...peerMatrices(view).map((matrix) => titledMarkdown(peerTable(matrix)))),
  frontier: frontierMarkdown,
  'program-timelines': programTimelinesMarkdown,
  isolation: isolationMarkdown,
  'compute-limits': (view) => list(view.computeLimits.map(limitText)),
  'not-measured': (view) => list(view.notMeasured.map(missingText)),
  statistics: (view, words) => joined(list(words.statistics), effectTable(view)),
  health: (view) => list(view.warnings),
  reproduction: (_, words) => reproductionText(words),
  environment: (_, { facts, environment }) => factTable([...facts, ...environment]),
};

/** Writes the report, without sections that have no content. */
export function markdownReport(view: View, words: Words): string {
  const names = view.systems.map(({ name }) => name).join(', ');
  const incomplete = incompleteText(view.document);
  return [
    `# GPU sharing benchmark: ${markdownText(names)}`,
    ...(view.simulated ? [`> **${WATERMARK}**`] : []),
    ...(incomplete === null ? [] : [`> **${markdownText(incomplete)}**`]),
    ...contents({
      view,
      bodyOf: (id) => bodies[id] && (bodies[id](view, words) || null),
      tabled: (table, { note }) => joined(note ?? null, dataMarkdown(table)),
    }).flatMap(({ id, title, content }) => (id === 'answer' ? [content] : [`## ${markdownText(title)}`, content])),
  ]
    .join('\n\n')
    .concat('\n');
}

const joined = (...parts: (string | null)[]): string | null => parts.filter(Boolean).join('\n\n') || null;

/** Lists every finding, because a cause may have more than one; null without violations. */
function foundViolations({ violations }: View): string | null {
  if (violations.length === 0) return null;
  const columns = [left('System'), left('Metric'), left('What was seen')];
  return markdownTable(
    columns,
    violations.map(({ system, metric, detail }) => [system, metric, detail].map(markdownText)),
  );
}

function tallyText(view: View): string | null {
  return list(tallies(view).map(({ system, text }) => `${system}: ${text}`));
}

const reproductionText = ({ toFillIn, reproduction }: Words): string =>
  [list(toFillIn), reproduction === '' ? null : fenced(reproduction)].filter(Boolean).join('\n\n');

const list = (lines: readonly string[]): string | null =>
  lines.length === 0 ? null : lines.map((line) => `- ${markdownBlock(line)}`).join('\n');

const factTable = (facts: readonly Fact[]): string =>
  markdownTable(
    [{ title: '' }, { title: '' }],
    facts.map(([label, value]) => [`**${markdownText(label)}**`, markdownText(value)]),
  );

const right = (title: string): MarkdownColumn => ({ title: markdownText(title), align: 'right' });
const left = (title: string): MarkdownColumn => ({ title: markdownText(title) });
const cellText = (value: number | null): string => (value === null ? '–' : digits(value));
const rangeText = (ci95: [number, number] | null): string => (ci95 === null ? '–' : range(ci95));

function valueText({ value, values, of }: Cell): string {
  const some = value === null ? null : partly(values.length, of);
  return some === null ? cellText(value) : `${cellText(value)} (${some})`;
}

/** The verdict with its reason, if the document has one. */
const judgementText = (effect: Effect | null): string =>
  effect ? `${effect.verdict}${effect.reason === undefined ? '' : `: ${markdownText(effect.reason)}`}` : '–';

function categoryTable(view: View, rows: readonly Row[]): string {
  const columns = [
    left('Metric'),
    left('Unit'),
    ...view.systems.flatMap(({ name, isCompared }) =>
      isCompared
        ? [right(name), right(againstBaseline(view.systems)), left('Verdict')]
        : [right(name), right('95 % interval')],
    ),
  ];
  return markdownTable(
    columns,
    rows.map((row) => [
      markdownText(`${row.id} ${row.name}`),
      markdownText(row.unit),
      ...row.cells.flatMap((cell, index) =>
        view.systems[index]?.isCompared
          ? [valueText(cell), markdownText(effectText(cell.effect, row.unit)), judgementText(cell.effect)]
          : [valueText(cell), rangeText(cell.ci95)],
      ),
    ]),
  );
}

function effectTable(view: View): string | null {
  if (view.effects.length === 0) return null;
  const rows = new Map(rowsOf(view).map((row) => [row.id, row]));
  const difference = ({ metric, difference: value, differenceCi95: ci95 }: Effect) =>
    value === null ? '–' : markdownText(inOneLine(estimateText({ value, ci95 }, rows.get(metric)?.unit ?? '', true)));
  const columns = [
    left('Metric'),
    left('System'),
    right('Rounds'),
    right('Difference'),
    left('Shown'),
    left('Size'),
    left('Verdict'),
    right('p'),
    right('Mann–Whitney p'),
  ];
  return markdownTable(
    columns,
    view.effects.map((effect) => [
      markdownText(effect.metric),
      markdownText(effect.system),
      String(effect.rounds),
      difference(effect),
      establishedText(effect),
      relevanceText(effect),
      effect.verdict,
      cellText(effect.p),
      cellText(effect.pMannWhitney),
    ]),
  );
}
