/** The comparison report as Markdown, to paste into an issue, a pull request or a wiki. */
import type { Effect } from '../results/document.js';
import { categoryTitle } from '../results/category-title.js';
import { missingText } from './comparison.js';
import { limitText } from './limit-text.js';
import { violationText } from './violation-text.js';
import { effectText, establishedText, relevanceText } from '../results/effect-text.js';
import { frontierMarkdown } from './frontier.js';
import { costsMarkdown } from './costs.js';
import { PROGRAM_NOTE, PROGRAM_TITLE, programCostTable } from './program-costs.js';
import { FRONTS_TITLE } from './fronts.js';
import { frontsMarkdown } from './markdown-fronts.js';
import { programTimelinesMarkdown, TIMELINE_TITLE } from './program-timelines.js';
import { SCENE_NOTE, SCENE_TITLE, sceneData } from './slowdowns.js';
import { isolationMarkdown } from './markdown-isolation.js';
import { peerMatrices, peerTable } from './peer-matrix.js';
import {
  dataMarkdown,
  fenced,
  markdownBlock,
  type MarkdownColumn,
  markdownTable,
  markdownText,
  notedMarkdown,
  titledMarkdown,
} from './markdown-text.js';
import { spreadTable, tailTable } from './spread.js';
import { digits, estimateText, inOneLine, range } from '../results/quantity.js';
import { partly } from '../results/rounds.js';
import { RANKING_NOTE, RANKING_TITLE, rankingTable } from './ranking.js';
import { WATERMARK } from './terminal.js';
import { againstBaseline, type Cell, type Row, rowsOf, type View } from '../results/view.js';
import type { Fact, Words } from './words.js';

type Section = [title: string, body: string | null];

/** Leaves out sections without content. */
export function markdownReport(view: View, words: Words): string {
  const names = view.systems.map(({ name }) => name).join(', ');
  const sections: Section[] = [
    ['Violations', list(view.violations.map(violationText))],
    ['Executive summary', list(words.summary)],
    ['What each call costs', costsMarkdown(view)],
    [PROGRAM_TITLE, notedMarkdown(PROGRAM_NOTE, programCostTable(view))],
    [SCENE_TITLE, notedMarkdown(SCENE_NOTE, sceneData(view))],
    ...view.categories.map(({ name, rows }): Section => [categoryTitle(name), categoryTable(view, rows)]),
    [RANKING_TITLE, notedMarkdown(RANKING_NOTE, rankingTable(view))],
    [FRONTS_TITLE, frontsMarkdown(view)],
    [
      'Rates between GPUs',
      peerMatrices(view)
        .map((matrix) => titledMarkdown(peerTable(matrix)))
        .join('\n\n'),
    ],
    ['Token generation: frontier', frontierMarkdown(view)],
    [TIMELINE_TITLE, programTimelinesMarkdown(view)],
    ['Isolation in detail', isolationMarkdown(view)],
    ['Tail latencies', dataMarkdown(tailTable(view))],
    ['Consistency', dataMarkdown(spreadTable(view))],
    ['Compute limits', list(view.computeLimits.map(limitText))],
    ['Statistics', [list(words.statistics), effectTable(view)].filter(Boolean).join('\n\n')],
    ['Recommendations', recommendationList(words)],
    ['Not measured', list(view.notMeasured.map(missingText))],
    ['Warnings', list(view.warnings)],
    ['Reproduction', reproductionText(words)],
    ['Environment', factTable(words.environment)],
  ];
  return [
    `# GPU sharing benchmark: ${markdownText(names)}`,
    ...(view.simulated ? [`> **${WATERMARK}**`] : []),
    ...(view.completed ? [] : ['> **Interrupted: this report contains only what was measured until then.**']),
    factTable(words.facts),
    ...sections.flatMap(([title, body]) => (body ? [`## ${markdownText(title)}`, body] : [])),
  ]
    .join('\n\n')
    .concat('\n');
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
    ...[left('Metric'), left('Unit')],
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
    ...[left('Metric'), left('System'), right('Rounds'), right('Difference')],
    ...[left('Shown'), left('Size'), left('Verdict'), right('p'), right('Mann–Whitney p')],
  ];
  return markdownTable(
    columns,
    view.effects.map((effect) => [
      ...[markdownText(effect.metric), markdownText(effect.system), String(effect.rounds)],
      ...[difference(effect), establishedText(effect), relevanceText(effect), effect.verdict],
      ...[cellText(effect.p), cellText(effect.pMannWhitney)],
    ]),
  );
}

const recommendationList = ({ recommendations }: Words): string | null =>
  recommendations.length === 0
    ? null
    : recommendations.map(({ useCase, text }) => `- **${markdownText(useCase)}**: ${markdownText(text)}`).join('\n');
