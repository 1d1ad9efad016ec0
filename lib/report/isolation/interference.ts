/** The cost of each neighbour to each victim, by system: medians over rounds. */
import { medianOf, type View } from '../../results/view.js';
import { number } from '../../results/text/plain.js';
import { type DataTable, numeric } from '../tables/table-data.js';
import { detailRows, type Interference } from './rows.js';

/**
 * Most victims and aggressors, far more than any metric has. A larger document is truncated, and the report says so.
 */
const MOST = 40;

export interface InterferenceMap {
  metric: string;
  system: string;
  victims: string[];
  aggressors: string[];
  /** Pairs by victim, then by aggressor; null if the pair was not measured. */
  cells: (Pair | null)[][];
  /** Names of victims and aggressors beyond the limit. */
  leftOut: string[];
}

export interface Pair {
  /** Slow-down in per cent; null with a reason. */
  percent: number | null;
  reason: string;
  /** Whether requests arrived faster than the victim served them: `percent` then grows for as long as it is measured. */
  isQueue: boolean;
}

function pairOf(rows: readonly Interference[]): Pair | null {
  if (rows.length === 0) return null;
  const values = rows.flatMap(({ degradationPercent }) => degradationPercent ?? []);
  const reasons = [...new Set(rows.flatMap(({ reason }) => reason ?? []))];
  return { percent: medianOf(values), reason: reasons.join('; '), isQueue: rows.some(isQueue) };
}

/** Whether a pair is a queue. Older documents only count the requests that were given up. */
const isQueue = ({ overloaded, givenUp = 0 }: Interference): boolean => overloaded ?? givenUp > 0;

/** Formats a pair: `12 %`, `overloaded (12888 %)`, or why there is no number. */
export function pairText({ percent, reason, isQueue: queue }: Pair): string {
  if (percent === null) return reason;
  return queue ? `overloaded (${number(percent)} %)` : `${number(percent)} %`;
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
            metric: id,
            system,
            victims,
            aggressors,
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
        pair === null ? { text: '–', sort: null } : { text: pairText(pair) || '–', sort: pair.percent },
      ),
    ],
  })),
});

interface Named {
  percent: number;
  isQueue: boolean;
  aggressor: string;
  victim: string;
}

/** Sorts pairs by their number, the largest first. */
function sortedPairs({ victims, aggressors, cells }: InterferenceMap): Named[] {
  const pairs = cells.flatMap((row, v) =>
    row.flatMap((pair, a): Named[] => {
      if (pair?.percent == null) return [];
      const { percent, isQueue: queue } = pair;
      return [{ percent, isQueue: queue, aggressor: aggressors[a] ?? '', victim: victims[v] ?? '' }];
    }),
  );
  return pairs.sort((a, b) => b.percent - a.percent);
}

/**
 * Names the largest slow-down, and the neighbours beside which there was a queue instead of one; null without any
 * number.
 */
export function worstText(map: InterferenceMap): string | null {
  const sorted = sortedPairs(map);
  const queues = sorted.filter((pair) => pair.isQueue);
  const [worst] = sorted.filter((pair) => !pair.isQueue);
  const most = worst && `most ${number(worst.percent)} %, ${worst.victim} beside ${worst.aggressor}`;
  if (queues.length === 0) return most ?? null;
  const beside = queues.map(({ aggressor, percent }) => `${aggressor} (${number(percent)} %)`).join(', ');
  const why = 'no slow-down but a queue, which grows for as long as it is watched';
  return `overloaded beside ${beside}: ${why}${most === undefined ? '' : `; otherwise ${most}`}`;
}
