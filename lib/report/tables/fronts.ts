/** Throughput and p99 latency: the text that every format shows. */
import { type Coordinate, type Front, type FrontPoint, frontsOf, readableFront } from '../../costs/fronts.js';
import { isComparison } from '../../results/kinds.js';
import { digits, range } from '../../results/text/quantity.js';
import type { View } from '../../results/view.js';

export const FRONTS_TITLE = 'Throughput against p99 latency';

export const FRONTS_NOTE =
  'A point is a system and a workload: geometric means over rounds with 95 % intervals of each number. A point is on the front if no other point is as good in both numbers and better in one. It is behind a point that is: shown if both intervals of that point lie wholly on the better side, else open. The baseline is the reference and not on the front.';

/** Most fronts that are drawn: with more, the tables of results are clearer. */
const MOST = 12;

interface Fronts {
  drawn: Front[];
  leftOut: string[];
}

export function frontsIn({ document }: View): Fronts {
  const all = isComparison(document) ? frontsOf(document).map(readableFront) : [];
  return { drawn: all.slice(0, MOST), leftOut: all.slice(MOST).map(frontTitle) };
}

/** Title of a front: `decode: tokens-per-second against p99`. */
export const frontTitle = ({ program, throughput, latency }: Front): string =>
  `${program}: ${throughput.key} against ${latency.key}`;

/** Name of a point: `hami-50`; with a matrix, the system and the combination. */
export const pointName = ({ system, workload }: FrontPoint, { program }: Front): string =>
  workload === program ? system : `${system} ${workload.slice(program.length + 1)}`;

export function standingText({ standing, betterThanIt }: FrontPoint, front: Front): string {
  if (standing === 'front') return 'on the front';
  if (standing === 'reference') return 'reference';
  const [first, ...others] = betterThanIt.flatMap((index) => front.points[index] ?? []);
  const named = first ? pointName(first, front) : '';
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return `behind ${named}${more}, ${standing === 'behind' ? 'shown' : 'open'}`;
}

export const coordinateText = ({ value, interval }: Coordinate): string =>
  interval === null ? digits(value) : `${digits(value, interval)} (${range(interval)})`;

export const missingPointText = ({ system, workload, reason }: Front['missing'][number]): string =>
  `${system}, ${workload}: ${reason}`;
