/** The comparison report as Markdown: to paste into an issue, a pull request or a wiki. */
import type { Effect } from '../document.js';
import { percentileFloors } from '../stats/summary.js';
import { limitText, missingText, violationText } from './comparison.js';
import { bootstrapOf, effectText, scaledText } from './effect-text.js';
import { fenced, markdownBlock, type MarkdownColumn, markdownTable, markdownText } from './markdown-text.js';
import { number, range } from './plain.js';
import { partly } from './rounds.js';
import { WATERMARK } from './terminal.js';
import { type Cell, type Percentile, type Row, rowsOf, type Spread, type View } from './view.js';
import type { Fact, Words } from './words.js';

type Section = [title: string, body: string | null];

/** A section without content is left out. */
export function markdownReport(view: View, words: Words): string {
  const names = view.systems.map(({ name }) => name).join(', ');
  const sections: Section[] = [
    ['Executive summary', list(words.summary)],
    ...view.categories.map(({ name, rows }): Section => [titled(name), categoryTable(view, rows)]),
    ['Tail latencies', tailTable(view)],
    ['Consistency', spreadTable(view)],
    ['Violations', list(view.violations.map(violationText))],
    ['Compute limits', list(view.computeLimits.map(limitText))],
    ['Statistics', [list(words.statistics), effectTable(view)].filter(Boolean).join('\n\n')],
    ['Recommendations', recommendationList(words)],
    ['Not measured', list(view.notMeasured.map(missingText))],
    ['Warnings', list(view.warnings)],
    ['Reproduction', [list(words.toFillIn), fenced(words.reproduction)].filter(Boolean).join('\n\n')],
    ['Environment', factTable(words.environment)],
  ];
  return [
    `# GPU sharing benchmark: ${markdownText(names)}`,
    ...(view.simulated ? [`> **${WATERMARK}**`] : []),
    ...(view.completed ? [] : ['> **Interrupted: this is what was measured until then.**']),
    factTable(words.facts),
    ...sections.flatMap(([title, body]) => (body ? [`## ${markdownText(title)}`, body] : [])),
  ]
    .join('\n\n')
    .concat('\n');
}

const titled = (category: string): string => category.charAt(0).toUpperCase() + category.slice(1);

const list = (lines: readonly string[]): string | null =>
  lines.length === 0 ? null : lines.map((line) => `- ${markdownBlock(line)}`).join('\n');

const factTable = (facts: readonly Fact[]): string =>
  markdownTable(
    [{ title: '' }, { title: '' }],
    facts.map(([label, value]) => [`**${markdownText(label)}**`, markdownText(value)]),
  );

const right = (title: string): MarkdownColumn => ({ title: markdownText(title), align: 'right' });
const left = (title: string): MarkdownColumn => ({ title: markdownText(title) });
const cellText = (value: number | null): string => (value === null ? '–' : number(value));
const rangeText = (ci95: [number, number] | null): string => (ci95 === null ? '–' : range(ci95));

function valueText({ value, values, of }: Cell): string {
  const some = value === null ? null : partly(values.length, of);
  return some === null ? cellText(value) : `${cellText(value)} (${some})`;
}

/** With what made it so, where the document says it. */
const judgementText = (effect: Effect | null): string =>
  effect ? `${effect.verdict}${effect.reason === undefined ? '' : `: ${markdownText(effect.reason)}`}` : '–';

function categoryTable(view: View, rows: readonly Row[]): string {
  const columns = [
    ...[left('Metric'), left('Unit')],
    ...view.systems.flatMap(({ name, isCompared }) =>
      isCompared ? [right(name), right('ratio or difference'), left('Verdict')] : [right(name), right('95 % interval')],
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
                tail[name] === null ? `n/a (needs ${percentileFloors[name]})` : number(tail[name]),
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
  const percent = (value: number | null) => (value === null ? '–' : `${number(100 * value)} %`);
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
  const bootstrap = (effect: Effect) => {
    const row = rows.get(effect.metric);
    return row ? markdownText(scaledText(bootstrapOf(effect, row))) : '–';
  };
  const columns = [
    ...[left('Metric'), left('System'), right('Rounds'), right('Difference'), right('95 % interval')],
    ...[right('Bootstrap'), left('Before Holm'), left('Verdict'), right('Welch p'), right('Mann–Whitney p')],
  ];
  return markdownTable(
    columns,
    view.effects.map((effect) => [
      ...[markdownText(effect.metric), markdownText(effect.system), String(effect.rounds)],
      ...[cellText(effect.difference), rangeText(effect.differenceCi95), bootstrap(effect)],
      ...[effect.verdictRaw, effect.verdict],
      ...[cellText(effect.pValues.welch), cellText(effect.pValues.mannWhitney)],
    ]),
  );
}

const recommendationList = ({ recommendations }: Words): string | null =>
  recommendations.length === 0
    ? null
    : recommendations.map(({ useCase, text }) => `- **${markdownText(useCase)}**: ${markdownText(text)}`).join('\n');
