/** How much each neighbour costs each victim, system by system: medians over rounds. */
import { medianOf, type View } from '../../results/view.js';
import { detailRows, type Interference } from './rows.js';

/** Far more than a metric has; a document that names more is cut, and says so. */
const MOST = 40;

export interface InterferenceMap {
  metric: string;
  system: string;
  victims: string[];
  aggressors: string[];
  /** Victim by aggressor; null where the pair was not tried. */
  cells: (Pair | null)[][];
  /** Names that were cut. */
  leftOut: string[];
}

export interface Pair {
  /** Null with the reason. */
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
