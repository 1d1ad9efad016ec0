/** Tables without frames, so that they can be copied, and no wider than the screen. */
import Table from 'cli-table3';
import { plain } from '../../results/text/plain.js';
import { type Screen, screen, shownOn } from '../text/screen.js';
import { cellLine, type DataTable } from './table-data.js';

const GAP = '  ';

const bare = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: GAP,
};

export interface Column {
  title: string;
  align?: 'left' | 'right';
  /** Number of characters after which the column wraps. */
  width?: number;
  /** Whether the column wraps between words if the screen is too narrow. */
  wraps?: boolean;
  /** Order in which the column is dropped if wrapping is not enough, lowest first. Without it the column is kept. */
  leaves?: number;
}

/** Longest word in a wrapping column; longer words are cut. */
const LONGEST_WORD = 24;

/** Least width of a wrapping column, or a third of its text if that is less: one word per line is hard to read. */
const READABLE = 20;

interface Laid {
  column: Column;
  /** Index of the column in `columns`. */
  index: number;
  width: number;
  least: number;
}

const longest = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => text.length));

function laid(column: Column, index: number, rows: readonly string[][]): Laid {
  const texts = [column.title, ...rows.map((row) => row[index] ?? '')];
  const natural = longest(texts);
  const width = Math.max(column.title.length, Math.min(natural, column.width ?? natural));
  const isWrapping = column.wraps ?? column.width !== undefined;
  const word = Math.min(LONGEST_WORD, longest(texts.flatMap((text) => text.split(' '))));
  const least = isWrapping ? Math.min(width, Math.max(word, Math.min(READABLE, Math.ceil(natural / 3)))) : width;
  return { column, index, width, least };
}

const total = (columns: readonly Laid[], width: (each: Laid) => number): number =>
  columns.reduce((sum, each) => sum + width(each) + GAP.length, -GAP.length);

/** Narrows the widest columns first. */
function narrowed(columns: readonly Laid[], width: number): Laid[] {
  const result = columns.map((each) => ({ ...each }));
  for (let excess = total(result, (each) => each.width) - width; excess > 0; excess--) {
    const [widest] = result.filter((each) => each.width > each.least).sort((a, b) => b.width - a.width);
    if (!widest) break;
    widest.width--;
  }
  return result;
}

const fitsIn = (columns: readonly Laid[], width: number): boolean => total(columns, ({ least }) => least) <= width;

function withoutLeaving(columns: readonly Laid[], width: number): Laid[] {
  if (fitsIn(columns, width)) return [...columns];
  const [first] = columns
    .filter(({ column }) => column.leaves !== undefined)
    .sort((a, b) => (a.column.leaves ?? 0) - (b.column.leaves ?? 0));
  if (!first) return [...columns];
  return withoutLeaving(
    columns.filter((each) => each !== first),
    width,
  );
}

/** Whether all columns fit, with wrapping where allowed. */
export function fits(columns: readonly Column[], rows: readonly string[][], { width } = screen()): boolean {
  return fitsIn(
    columns.map((column, index) => laid(column, index, rows)),
    width,
  );
}

export function table(given: readonly Column[], texts: readonly string[][], on: Screen = screen()): string {
  const columns = given.map((column) => ({ ...column, title: shownOn(on, column.title) }));
  const rows = texts.map((row) => row.map((cell) => shownOn(on, cell)));
  const all = columns.map((column, index) => laid(column, index, rows));
  const kept = narrowed(withoutLeaving(all, on.width), on.width);
  const made = new Table({
    chars: bare,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    head: kept.map(({ column }) => column.title),
    colAligns: kept.map(({ column }) => column.align ?? 'left'),
    colWidths: kept.map(({ width }) => width),
    wordWrap: true,
  });
  made.push(...rows.map((row) => kept.map(({ index }) => row[index] ?? '')));
  const lines = made.toString().split('\n');
  const left = all.filter(({ index }) => kept.every((each) => each.index !== index)).map(({ column }) => column.title);
  const note = left.length === 0 ? [] : [`Omitted at ${on.width} columns: ${left.join(', ')}.`];
  return [...lines.map((line) => shownOn(on, line.trimEnd())), ...note].join('\n');
}

/** Writes the table of any section. */
export function dataText({ columns, rows }: DataTable, on: Screen): string {
  return table(
    columns.map(({ title, isNumeric }) => (isNumeric ? { title, align: 'right' } : { title, wraps: true })),
    rows.map(({ cells }) => cells.map((cell) => plain(cellLine(cell)))),
    on,
  );
}
