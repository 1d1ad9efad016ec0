/** Memory paths of each system. If rounds differ, the one that granted most is shown. */
import type { View } from '../../results/view.js';
import { detailRows, type MemoryPath } from './rows.js';

export interface MemoryPaths {
  metric: string;
  system: string;
  paths: MemoryPath[];
}

function most(rows: readonly MemoryPath[]): MemoryPath[] {
  const byPath = new Map<string, MemoryPath>();
  for (const row of rows) {
    const known = byPath.get(row.path);
    if (!known || (row.grantedBytes ?? -1) > (known.grantedBytes ?? -1)) byPath.set(row.path, row);
  }
  return [...byPath.values()];
}

export const memoryPathsOf = ({ categories }: View): MemoryPaths[] =>
  categories.flatMap(({ rows }) =>
    rows.flatMap(({ id, cells }) =>
      cells.flatMap(({ system, results }) => {
        const paths = most(results.flatMap((result) => detailRows(result)?.memoryPaths ?? []));
        return paths.length > 0 ? [{ metric: id, system, paths }] : [];
      }),
    ),
  );
