/** GitHub Markdown that shows exactly the given text. */
import { plain } from '../../results/text/plain.js';
import { cellLine, cellOf, type DataTable } from '../tables/table-data.js';

const special = /[\\`*_{}[\]<>#|~&!$@]/g;

/** Escapes text within a line, so that no parser reads it as markup, a link or mathematics. */
export const markdownText = (text: string): string =>
  plain(text)
    .replace(special, '\\$&')
    .replace(/:(?=\/\/)/g, '\\:')
    .replace(/\b(www)\./gi, '$1\\.');

/** Escapes text at the beginning of a block, where a few more characters would open a list, a heading or a rule. */
export const markdownBlock = (text: string): string =>
  markdownText(text)
    .replace(/^([+=-])/, '\\$1')
    .replace(/^(\d+)([.)])/, '$1\\$2');

/** Fences a block of commands; the fence is longer than any run of backticks in the block. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}sh\n${text}\n${fence}`;
}

export interface MarkdownColumn {
  title: string;
  align?: 'right';
}

/** Writes a table. Cells must already be Markdown; a bar in one would end it, even inside a code span. */
export function markdownTable(columns: readonly MarkdownColumn[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(barred).join(' | ')} |`;
  const rule = columns.map(({ align }) => (align === 'right' ? '---:' : '---'));
  return [line(columns.map(({ title }) => title)), line(rule), ...rows.map(line)].join('\n');
}

const barred = (cell: string): string => cell.replace(/(?<!\\)((?:\\\\)*)\|/g, '$1\\|');

/** Writes the table of any section; null without one. */
export function dataMarkdown(content: DataTable | null): string | null {
  if (!content) return null;
  const { columns, rows } = content;
  const headings = columns.flatMap(({ title, isNumeric, notes }): MarkdownColumn[] =>
    [title, ...(notes === undefined ? [] : [notes])].map((each) => ({
      title: markdownText(each),
      ...(isNumeric && { align: 'right' }),
    })),
  );
  const cellTexts = (cell: DataTable['rows'][number]['cells'][number], hasNotes: boolean): string[] => {
    if (!hasNotes) return [markdownText(cellLine(cell))];
    const { text, note } = cellOf(cell);
    return [markdownText(text), markdownText(note ?? '–')];
  };
  return markdownTable(
    headings,
    rows.map(({ cells }) => cells.flatMap((cell, i) => cellTexts(cell, columns[i]?.notes !== undefined))),
  );
}

/** Writes a table under its title in bold. */
export const titledMarkdown = (content: DataTable): string =>
  `**${markdownText(content.title)}**\n\n${dataMarkdown(content)}`;
