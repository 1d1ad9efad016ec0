/** A table as data: pages and Markdown are written from the same rows. */
import type { EstimateText } from '../../results/text/quantity.js';
import type { Row } from '../../results/view.js';

interface DataColumn {
  title: string;
  /** Whether the column has numbers, which are aligned to the right. */
  isNumeric?: boolean;
  /** Title of the cells' notes, which Markdown writes as a column of their own. */
  notes?: string;
}

export interface DataCell {
  text: string;
  /** Text below that of the cell in a page: an interval. */
  note?: string | null | undefined;
  /** The number that a page sorts by, among cells of the same unit. */
  sort?: number | null;
  unit?: string;
}

export interface DataTable {
  title: string;
  columns: readonly DataColumn[];
  /** Rows with their cells. The metric is what a page's filter searches for. */
  rows: readonly { metric?: string; cells: readonly (DataCell | string)[] }[];
}

/** Converts a cell, which without a note may be its text alone. */
export const cellOf = (cell: DataCell | string): DataCell => (typeof cell === 'string' ? { text: cell } : cell);

/** Formats a cell on one line: `text (note)`. */
export const cellLine = (cell: DataCell | string): string => {
  const { text, note } = cellOf(cell);
  return note ? `${text} (${note})` : text;
};

export const numeric = (title: string, notes?: string): DataColumn => ({
  title,
  isNumeric: true,
  ...(notes !== undefined && { notes }),
});

export const estimate = (text: EstimateText | null, sort: number | null, unit?: string): DataCell => ({
  text: text?.value ?? '–',
  note: text?.interval,
  sort,
  ...(unit !== undefined && { unit }),
});

export const titleOf = ({ id, name }: Row): string => `${id} ${name}`;
