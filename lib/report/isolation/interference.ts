/** The cost of each neighbour to each victim, by system: medians over rounds. */
import { medianOf, type View } from '../../results/view.js';
import { number } from '../../results/plain.js';
import { type DataTable, numeric } from '../table-data.js';
import { detailRows, type Interference } from './rows.js';

/** Far more than any metric has; a larger document is truncated, and the report says so. */
const MOST = 40;

export interface InterferenceMap {
  metric: string;
  system: string;
  victims: string[];
  aggressors: string[];
  /** Pairs by victim, then by aggressor; null if the pair was not measured. */
  cells: (Pair | null)[][];
  /** Names beyond the limit. */
  leftOut: string[];
}

export interface Pair {
  /** Null, with a reason. */
  percent: number | null;
  reason: string;
}

function pairOf(rows: readonly Interference[]): Pair | null {
  if (rows.length === 0) return null;
  const values = rows.flatMap(({ degradationPercent }) => degradationPercent ?? []);
  const reasons = [...new Set(rows.flatMap(({ reason }) => reason ?? []))];
  return { percent: medianOf(values), reason: reasons.join('; ') };
}

const names = (rows: readonly Interference[], key: 'victim' | 'aggressor'): string[] => [
  ...new Set(rows.map((row) => row[key])),
];

export const interferenceMaps = ({ categories }: View): InterferenceMap[] =>
  categories.flatMap(({ rows }) =>
    rows.flatMap(({ id, cells }) =>
      cells.flatMap(({ system, results }): InterferenceMap[] => {
        const found = results.flatMap((result) => detailRows(result)?.interference ?? []);
        if (found.length === 0) return [];
        const [all, others] = [names(found, 'victim'), names(found, 'aggressor')];
        const [victims, aggressors] = [all.slice(0, MOST), others.slice(0, MOST)];
        const of = (victim: string, aggressor: string) =>
          pairOf(found.filter((row) => row.victim === victim && row.aggressor === aggressor));
        return [
          {
            ...{ metric: id, system, victims, aggressors },
            leftOut: [...all.slice(MOST), ...others.slice(MOST)],
            cells: victims.map((victim) => aggressors.map((aggressor) => of(victim, aggressor))),
          },
        ];
      }),
    ),
  );

export const interferenceTable = ({ metric, system, victims, aggressors, cells }: InterferenceMap): DataTable => ({
  title: `${metric} Interference: what each victim loses beside each aggressor, ${system}: medians over rounds`,
  columns: [{ title: 'Victim' }, ...aggressors.map((aggressor) => numeric(aggressor))],
  rows: victims.map((victim, row) => ({
    cells: [
      victim,
      ...(cells[row] ?? []).map((pair) =>
        pair?.percent == null
          ? { text: pair?.reason || '–', sort: null }
          : { text: `${number(pair.percent)} %`, sort: pair.percent },
      ),
    ],
  })),
});
