/** Which shapes of load keep a compute limit, and what the others get. */
import { LIMIT_TOLERANCE } from '../../results/limit-tolerance.js';
import { grouped } from '../../results/text/grouped.js';
import { number } from '../../results/text/plain.js';
import { medianOf } from '../../results/view.js';
import type { Limit } from './rows.js';

/** Most names of the largest group; longer lists become `the other 6`. */
const FEW = 3;
const KEPT = `within ${100 * LIMIT_TOLERANCE} % of it`;

interface Group {
  said: string;
  shapes: string[];
}

/** Groups shapes by what they get, to two digits: the least first, and last those that keep the limit. */
function groupsOf(rows: readonly Limit[], limit: number): Group[] {
  const shares = [...grouped(rows, ({ shape }) => shape)].flatMap(([shape, own]) => {
    const percent = medianOf(own.flatMap(({ achievedPercent }) => achievedPercent ?? []));
    return percent === null ? [] : [{ shape, percent }];
  });
  const isKept = ({ percent }: { percent: number }) => Math.abs(percent - limit) <= LIMIT_TOLERANCE * limit;
  const others = shares.filter((one) => !isKept(one)).sort((a, b) => a.percent - b.percent);
  const rounded = grouped(others, ({ percent }) => `${number(Number(percent.toPrecision(2)))} %`);
  const kept = shares.filter(isKept);
  return [
    ...[...rounded].map(([said, own]) => ({ said, shapes: own.map(({ shape }) => shape) })),
    ...(kept.length > 0 ? [{ said: KEPT, shapes: kept.map(({ shape }) => shape) }] : []),
  ];
}

function underLimit(rows: readonly Limit[], limit: number): string | null {
  const groups = groupsOf(rows, limit);
  const [largest] = [...groups].sort((a, b) => b.shapes.length - a.shapes.length);
  if (!largest) return null;
  const named = ({ shapes }: Group): string => {
    if (groups.length === 1 && shapes.length > 1) return `all ${shapes.length} shapes`;
    return shapes === largest.shapes && shapes.length > FEW ? `the other ${shapes.length}` : shapes.join('; ');
  };
  const texts = groups.map((group) => `${group.said} (${named(group)})`);
  return `limit ${number(limit)} %: ${texts.join(', ')}`;
}

/** Summarises limits: `limit 30 %: 0 % (small kernels), 100 % (the other 6)`; null if no share was measured. */
export function keptLimits(rows: readonly Limit[]): string | null {
  const texts = [...grouped(rows, ({ smPercent }) => smPercent)].flatMap(
    ([limit, own]) => underLimit(own, limit) ?? [],
  );
  return texts.length === 0 ? null : texts.join('; ');
}
