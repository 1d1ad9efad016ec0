/** The comparison report as Markdown, to paste into an issue, a pull request or a wiki. */
import type { Effect } from '../results/document.js';
import { percentileFloors } from '../stats/summary.js';
import { categoryTitle } from '../results/category-title.js';
import { limitText, missingText } from './comparison.js';
import { violationText } from './violation-text.js';
import { bootstrapOf, effectText, scaledText } from '../results/effect-text.js';
import { frontierMarkdown } from './markdown-frontier.js';
import { costsMarkdown } from './markdown-costs.js';
import { programCostsMarkdown } from './markdown-program-costs.js';
import { programTimelinesMarkdown } from './markdown-program-timelines.js';
import { PROGRAM_TITLE } from './program-costs.js';
import { FRONTS_TITLE } from './fronts.js';
import { frontsMarkdown, rankingMarkdown } from './markdown-ranking.js';
import { TIMELINE_TITLE } from './program-timelines.js';
import { SCENE_TITLE } from './slowdowns.js';
import { scenesMarkdown } from './markdown-slowdowns.js';
import { isolationMarkdown } from './markdown-isolation.js';
import { peersMarkdown } from './markdown-peers.js';
import { fenced, markdownBlock, type MarkdownColumn, markdownTable, markdownText } from './markdown-text.js';
import { digits, estimateText, inOneLine, range } from '../results/quantity.js';
import { partly } from '../results/rounds.js';
import { RANKING_TITLE } from './ranking.js';
import { WATERMARK } from './terminal.js';
import {
  againstBaseline,
  type Cell,
  type Percentile,
  type Row,
  rowsOf,
  type Spread,
  type View,
} from '../results/view.js';
import type { Fact, Words } from './words.js';

type Section = [title: string, body: string | null];

/** Leaves out sections without content. */
export function markdownReport(view: View, words: Words): string {
  const names = view.systems.map(({ name }) => name).join(', ');
  const sections: Section[] = [
    ['Violations', list(view.violations.map(violationText))],
    ['Executive summary', list(words.summary)],
    ['What each call costs', costsMarkdown(view)],
    [PROGRAM_TITLE, programCostsMarkdown(view)],
    [SCENE_TITLE, scenesMarkdown(view)],
    ...view.categories.map(({ name, rows }): Section => [categoryTitle(name), categoryTable(view, rows)]),
    [RANKING_TITLE, rankingMarkdown(view)],
    [FRONTS_TITLE, frontsMarkdown(view)],
    ['Rates between GPUs', peersMarkdown(view)],
    ['Token generation: frontier', frontierMarkdown(view)],
    [TIMELINE_TITLE, programTimelinesMarkdown(view)],
    ['Isolation in detail', isolationMarkdown(view)],
    ['Tail latencies', tailTable(view)],
    ['Consistency', spreadTable(view)],
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

const percentiles: readonly Percentile[] = ['p50', 'p95', 'p99'];

function tailTable(view: View): string | null {
  const rows = rowsOf(view).flatMap((row) =>
    row.cells.flatMap(({ system, tail }) =>
      tail === null
        ? []
        : [
            [
              ...[markdownText(row.id), markdownText(row.unit), markdownText(system)],
              ...percentiles.map((name) =>
                tail[name] === null ? `n/a (needs ${percentileFloors[name]})` : digits(tail[name]),
              ),
              String(tail.count),
            ],
          ],
    ),
  );
  if (rows.length === 0) return null;
  const columns = [left('Metric'), left('Unit'), left('System'), ...percentiles.map(right), right('Samples')];
  return markdownTable(columns, rows);
}

const outliersText = ({ outliers: { mild, severe }, samples }: Spread): string =>
  samples === 0 ? '–' : `${mild} + ${severe} of ${samples}`;

function spreadTable(view: View): string | null {
  const percent = (value: number | null) => (value === null ? '–' : `${digits(100 * value)} %`);
  const rows = rowsOf(view).flatMap((row) =>
    row.cells.flatMap(({ system, spread, values }) =>
      spread === null
        ? []
        : [
            [
              ...[markdownText(row.id), markdownText(row.unit), markdownText(system), String(values.length)],
              ...[cellText(spread.between), percent(spread.betweenCv)],
              ...[cellText(spread.within), percent(spread.withinCv)],
              outliersText(spread),
            ],
          ],
    ),
  );
  if (rows.length === 0) return null;
  const columns = [
    ...[left('Metric'), left('Unit'), left('System'), right('Rounds')],
    ...[right('SD between rounds'), right('of the mean'), right('SD within'), right('of the mean')],
    right('Outliers (mild + severe)'),
  ];
  return markdownTable(columns, rows);
}

function effectTable(view: View): string | null {
  if (view.effects.length === 0) return null;
  const rows = new Map(rowsOf(view).map((row) => [row.id, row]));
  const difference = ({ metric, difference: value, differenceCi95: ci95 }: Effect) =>
    value === null ? '–' : markdownText(inOneLine(estimateText({ value, ci95 }, rows.get(metric)?.unit ?? '', true)));
  const bootstrap = (effect: Effect) => {
    const row = rows.get(effect.metric);
    return row ? markdownText(scaledText(bootstrapOf(effect, row))) : '–';
  };
  const columns = [
    ...[left('Metric'), left('System'), right('Rounds'), right('Difference')],
    ...[right('Bootstrap'), left('Before Holm'), left('Verdict'), right('Welch p'), right('Mann–Whitney p')],
  ];
  return markdownTable(
    columns,
    view.effects.map((effect) => [
      ...[markdownText(effect.metric), markdownText(effect.system), String(effect.rounds)],
      ...[difference(effect), bootstrap(effect)],
      ...[effect.verdictRaw, effect.verdict],
      ...[cellText(effect.pValues.welch), cellText(effect.pValues.mannWhitney)],
    ]),
  );
}

const recommendationList = ({ recommendations }: Words): string | null =>
  recommendations.length === 0
    ? null
    : recommendations.map(({ useCase, text }) => `- **${markdownText(useCase)}**: ${markdownText(text)}`).join('\n');
