/** The page of a study, in GitHub Markdown, and its tables as CSV. */
import { stringify } from 'csv-stringify/sync';
import { markdownBlock, markdownTable, markdownText } from '../report/markdown/markdown-text.js';
import { shellQuoted } from '../results/text/command-line.js';
import { duration, plain } from '../results/text/plain.js';
import { digits, range } from '../results/text/quantity.js';
import { roundsOf } from '../results/kinds.js';
import type { StudyRecord } from './study-record.js';
import type { MeasuredRow, MeasuredStep, MeasuredTable, RowCell } from './study-rows.js';
import type { Study } from './study-settings.js';

interface StudyResult {
  study: Study;
  record: StudyRecord;
  steps: readonly MeasuredStep[];
  tables: readonly MeasuredTable[];
}

export function studyPage(result: StudyResult): string {
  const { study, record, steps, tables } = result;
  const views = steps.flatMap(({ view }) => view ?? []);
  return [
    `# Study ${markdownText(study.name)}: ${markdownText(study.question)}`,
    ...(views.some(({ simulated }) => simulated)
      ? ['**SIMULATED GPU: these numbers say nothing about real hardware.**']
      : []),
    ...(record.isShort
      ? ['Shortened by `--short`: it shows that the steps work, and its numbers settle nothing.']
      : []),
    sourceText(study),
    `Here: ${markdownText(placesOf(steps))}, gpu-virt-bench ${markdownText(record.tool.version)}.`,
    '## Steps',
    stepTable(steps),
    ...tables.flatMap(tableText),
    ...foundText(steps),
    '',
  ].join('\n\n');
}

function sourceText({ source }: Study): string {
  const { title, url, revision, date, card, note } = source;
  const edition = revision === undefined ? '' : `, ${revision}`;
  const more = note === undefined ? '' : ` ${markdownText(note)}`;
  return `Published: [${markdownText(title)}](${url}), ${markdownText(`${date}${edition}, ${card.name}`)}.${more}`;
}

function placesOf(steps: readonly MeasuredStep[]): string {
  const rounds = steps.flatMap(({ view }) => (view ? roundsOf(view.document) : []));
  const texts = rounds.flatMap(({ gpu, driver }) =>
    gpu.map(({ name }) => `${name}, driver ${driver.version ?? 'unknown'}`),
  );
  return [...new Set(texts)].join('; ') || 'nothing was measured';
}

function stepTable(steps: readonly MeasuredStep[]): string {
  const rows = steps.map(({ name, status, reason, exitCode, seconds, command }) => [
    markdownText(name),
    status === 'ok' && exitCode !== 0 ? `ok, exit code ${exitCode}` : status,
    status === 'unsupported' ? '–' : duration(seconds),
    markdownText(reason ?? '–'),
    markdownText(command.map(shellQuoted).join(' ')),
  ]);
  const titles = ['Step', 'Status', 'Took', 'Reason', 'Command'];
  return markdownTable(titles.map((title) => ({ title })), rows); // prettier-ignore
}

function tableText({ table, rows }: MeasuredTable): string[] {
  const titlesOfSystems = [...table.columns.keys()];
  const right = { align: 'right' as const };
  const titles = [
    { title: 'Row' },
    { title: 'Unit' },
    ...titlesOfSystems.flatMap((name) =>
      [`${markdownText(name)}, published`, 'here'].map((title) => ({ title, ...right })),
    ),
    { title: 'Ratios' },
  ];
  const cells = rows.map(({ row, cells: own, impossible }) => [
    `${markdownText(row.name)}${impossible.length > 0 ? ' (impossible)' : ''}`,
    markdownText(row.unit),
    ...own.flatMap((cell) => [publishedText(cell), hereText(cell, row.unit)]),
    ratioWord(own),
  ]);
  const impossible = rows.flatMap(({ row, impossible: whys }) => whys.map((text) => `${row.name}: ${text}`));
  return [
    `## ${markdownText(table.title)}`,
    markdownTable(titles, cells),
    ...wordsText(rows),
    ...listText('Impossible', impossible),
    ...listText('Not measured', reasonsOf(rows, titlesOfSystems.length)),
  ];
}

/** What was expected, and why the figures differ. */
function wordsText(rows: readonly MeasuredRow[]): string[] {
  const said = rows.filter(({ row }) => row.predicted !== undefined || row.why !== undefined);
  if (said.length === 0) return [];
  const titles = ['Row', 'Predicted', 'Why they differ'].map((title) => ({ title }));
  const cells = said.map(({ row }) => [row.name, row.predicted ?? '–', row.why ?? '–'].map(markdownText));
  return [markdownTable(titles, cells)];
}

const listText = (title: string, texts: readonly string[]): string[] =>
  texts.length === 0 ? [] : [`${title}:\n\n${texts.map((text) => `- ${markdownText(text)}`).join('\n')}`];

/** With its ratio to the first column: `6.04 (× 0.965)`. */
const publishedText = ({ published, publishedRatio }: RowCell): string =>
  published === null ? '–' : markdownText(`${published}${times(publishedRatio)}`);

function hereText({ value, ci95, ratio }: RowCell, unit: string): string {
  if (value === null) return '–';
  if (unit === 'boolean') return value === 1 ? 'yes' : value === 0 ? 'no' : digits(value);
  const interval = ci95 ? ` (${range(ci95)})` : '';
  return markdownText(`${digits(value)}${interval}${times(ratio)}`);
}

const times = (ratio: number | null): string => (ratio === null ? '' : ` (× ${digits(ratio)})`);

/** Whether our ratios to the first system contain the published ones. */
function ratioWord(cells: readonly RowCell[]): string {
  const of = (agrees: boolean) => cells.filter((cell) => cell.agrees === agrees).map(({ column }) => column);
  const words = [['agrees', of(true)] as const, ['differs', of(false)] as const];
  const said = words.flatMap(([word, names]) => (names.length === 0 ? [] : `${word}: ${names.join(', ')}`));
  return said.length === 0 ? '–' : markdownText(said.join('; '));
}

/** One line per reason, with the columns unless it is that of all. */
function reasonsOf(rows: readonly MeasuredRow[], systems: number): string[] {
  const byReason = new Map<string, string[]>();
  for (const { row, cells } of rows)
    for (const reason of new Set(cells.map((cell) => cell.reason))) {
      if (reason === null) continue;
      const own = cells.filter((cell) => cell.reason === reason).map(({ column }) => column);
      const key = own.length === systems ? reason : `${own.join(', ')}: ${reason}`;
      byReason.set(key, [...(byReason.get(key) ?? []), row.name]);
    }
  return [...byReason].map(([reason, names]) => `${names.join('; ')}: ${reason}`);
}

/** What the commands of the needs printed, without lists of packages, which are in the record. */
function foundText(steps: readonly MeasuredStep[]): string[] {
  const texts = new Set(
    steps.flatMap(({ found }) => found.map(({ what, printed }) => `${what}: ${firstLine(printed)}`)),
  );
  return texts.size === 0 ? [] : ['## Found', [...texts].map((text) => `- ${markdownBlock(text)}`).join('\n')];
}

function firstLine(text: string): string {
  const [first = '', ...rest] = text.split('\n');
  return `${first || 'it is there'}${rest.length > 0 ? ` … (${rest.length} more lines)` : ''}`;
}

type Column = (cell: RowCell, own: MeasuredRow, table: MeasuredTable['table']) => string | number | null | undefined;

/** The columns in order; an empty cell means that there is no such number. */
const columns: Record<string, Column> = {
  table: (_cell, _own, { title }) => title,
  row: (_cell, { row }) => row.name,
  unit: (_cell, { row }) => row.unit,
  column: ({ column }) => column,
  published: ({ published }) => published,
  published_ratio: ({ publishedRatio }) => publishedRatio,
  here: ({ value }) => value,
  ci95_low: ({ ci95 }) => ci95?.[0],
  ci95_high: ({ ci95 }) => ci95?.[1],
  ratio: ({ ratio }) => ratio,
  ratio_ci95_low: ({ ratioCi95 }) => ratioCi95?.[0],
  ratio_ci95_high: ({ ratioCi95 }) => ratioCi95?.[1],
  ratio_agrees: ({ agrees }) => (agrees === null ? null : agrees ? 'yes' : 'no'),
  reason: ({ reason }) => reason,
  impossible: (_cell, { impossible }) => impossible.join('; '),
  predicted: (_cell, { row }) => row.predicted,
  why: (_cell, { row }) => row.why,
};

/** One line per row and column of the published tables. */
export function studyCsv(tables: readonly MeasuredTable[]): string {
  const lines = tables.flatMap(({ table, rows }) =>
    rows.flatMap((own) =>
      own.cells.map((cell) =>
        Object.values(columns).map((column) => {
          const value = column(cell, own, table) ?? null;
          return typeof value === 'string' ? plain(value) : value;
        }),
      ),
    ),
  );
  return stringify([Object.keys(columns), ...lines], { escape_formulas: true, record_delimiter: 'windows' });
}
