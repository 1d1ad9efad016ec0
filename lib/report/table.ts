/** Tables without frames, so that they survive copying and narrow terminals. */
import Table from 'cli-table3';

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
  middle: '  ',
};

export interface Column {
  title: string;
  align?: 'left' | 'right';
  /** Wraps beyond this many characters. */
  width?: number;
}

export function table(columns: readonly Column[], rows: readonly string[][]): string {
  const made = new Table({
    chars: bare,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    head: columns.map(({ title }) => title),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    colWidths: columns.map(({ width }, i) => widthOf(width, rows, i)),
    wordWrap: true,
  });
  made.push(...rows);
  const lines = made.toString().split('\n');
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** Null lets the column take the width of its longest cell. */
function widthOf(width: number | undefined, rows: readonly string[][], column: number): number | null {
  if (width === undefined) return null;
  return rows.some((row) => (row[column] ?? '').length > width) ? width : null;
}
