/** Reads the verdicts back out of rendered reports. */
import MarkdownIt from 'markdown-it';
import { plain } from '../../../lib/results/text/plain.js';
import { rowsOf, type View } from '../../../lib/results/view.js';
import { rowsIn } from './html-page.js';

/** `METRIC, SYSTEM: VERDICT`; a dash if there is no effect. */
export type Stated = string;

const stated = (metric: string, system: string, verdict: string): Stated => `${metric}, ${plain(system)}: ${verdict}`;

const comparedIn = ({ systems }: View): string[] =>
  systems.filter(({ isCompared }) => isCompared).map(({ name }) => name);

/** What a table of results must say. */
export const statedBy = (view: View): Stated[] =>
  rowsOf(view).flatMap(({ id, cells }) =>
    comparedIn(view).map((system) =>
      stated(id, system, cells.find((cell) => cell.system === system)?.effect?.verdict ?? '–'),
    ),
  );

/** What a table of effects must say. */
export const effectsIn = ({ effects }: View): Stated[] =>
  effects.map(({ metric, system, verdict }) => stated(metric, system, verdict));

/** Each system that is compared has a value, a size and a verdict, after the baseline's value. */
function inRow(metric: string, systems: readonly string[], cells: readonly string[]): Stated[] {
  const own = cells.slice(-3 * systems.length);
  return systems.map((system, i) => stated(metric, system, own[3 * i + 2] ?? 'no cell'));
}

/** Reads verdicts from a report for a wide terminal, whose columns are two spaces apart or more. */
export function inTerminal(text: string, view: View): Stated[] {
  const lines = text.split('\n');
  return rowsOf(view).flatMap(({ id, name }) => {
    const head = plain(`${id} ${name}`);
    const rows = lines.filter((line) => line.startsWith(`${head}  `));
    return rows.flatMap((row) => inRow(id, comparedIn(view), row.slice(head.length).trim().split(/ {2,}/)));
  });
}

export interface MarkdownTable {
  titles: string[];
  rows: string[][];
}

const markdown = new MarkdownIt();

/** The tables of a text, as a reader sees them. */
export function tablesIn(text: string): MarkdownTable[] {
  const tables: MarkdownTable[] = [];
  let row: string[] = [];
  let isHead = false;
  for (const { type, children } of markdown.parse(text, {})) {
    if (type === 'table_open') tables.push({ titles: [], rows: [] });
    else if (type === 'thead_open') isHead = true;
    else if (type === 'tbody_open') isHead = false;
    else if (type === 'tr_open') row = [];
    else if (type === 'inline') row.push((children ?? []).map(({ content }) => content).join(''));
    else if (type === 'tr_close') {
      if (isHead) (tables.at(-1) as MarkdownTable).titles = row;
      else tables.at(-1)?.rows.push(row);
      row = [];
    }
  }
  return tables;
}

const begins = (titles: readonly string[], ...wanted: string[]): boolean =>
  wanted.every((title, i) => titles[i] === title);

const idIn = (cell: string): string => cell.split(' ', 1)[0] as string;

/** The verdict of a cell that may also have a reason. */
const verdictIn = (cell: string): string => cell.split(/[: ]/, 1)[0] as string;

/** The tables of results, and the one of effects. */
export function inMarkdown(text: string, view: View): { results: Stated[]; effects: Stated[] } {
  const tables = tablesIn(text);
  const results = tables.filter(({ titles }) => begins(titles, 'Metric', 'Unit') && titles.at(-1) === 'Verdict');
  const effects = tables.filter(({ titles }) => begins(titles, 'Metric', 'System', 'Rounds', 'Difference', 'Shown'));
  return {
    results: results.flatMap(({ rows }) =>
      rows.flatMap(([metric = '', ...cells]) => inRow(idIn(metric), comparedIn(view), cells.map(verdictIn))),
    ),
    effects: effects.flatMap(({ titles, rows }) =>
      rows.map((cells) => stated(cells[0] ?? '', cells[1] ?? '', cells[titles.indexOf('Verdict')] ?? '')),
    ),
  };
}

/** The same of a page: its tables of results have two systems at most, which a row of headings names. */
export function inPage(page: string): { results: Stated[]; effects: Stated[] } {
  const results: Stated[] = [];
  let [systems, titles]: [string[], string[]] = [[], []];
  for (const { cells } of rowsIn(page, 'results')) {
    if (cells[0] === '') systems = cells.slice(1);
    else if (cells[0] === 'Metric') titles = cells;
    else if (begins(titles, 'Metric', 'Unit') && cells.length === titles.length && titles.includes('Verdict')) {
      const [_baseline, ...compared] = systems;
      results.push(...inRow(idIn(cells[0] ?? ''), compared, cells.map(verdictIn)));
    }
  }
  const effects = rowsIn(page, 'statistics')
    .filter(({ cells }) => cells[0] !== 'Metric')
    .map(({ cells }) => stated(idIn(cells[0] ?? ''), cells[1] ?? '', cells.at(-1) ?? ''));
  return { results, effects };
}

/** Reads verdicts from the samples of a metric whose label is the verdict. */
export const inOpenMetrics = (text: string): Stated[] =>
  [...text.matchAll(/^gpu_virt_bench_verdict\{(.*)\} 1$/gm)].map(([, labels = '']) => {
    const of = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    return stated(of('metric'), of('system'), of('verdict'));
  });
