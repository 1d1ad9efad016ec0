/**
 * Shows details that do not have the shape of their kind unchanged, so that nothing in a document is dropped silently.
 */
import type { View } from '../../results/view.js';
import { detailRows, rowText } from './rows.js';

const MOST_LISTED = 20;

export function leftOutDetails({ categories }: View): string[] {
  const found = categories.flatMap(({ rows }) =>
    rows.flatMap(({ id, cells }) =>
      cells.flatMap(({ system, results }) =>
        results.flatMap((result) =>
          (detailRows(result)?.other ?? []).map(({ key, row }) => `${system}, ${id}, ${key}: ${rowText(row)}`),
        ),
      ),
    ),
  );
  const listed = [...new Set(found)];
  const more = listed.length - MOST_LISTED;
  return more > 0 ? [...listed.slice(0, MOST_LISTED), `${more} more`] : listed;
}
