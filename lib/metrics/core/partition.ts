/**
 * The truth of an estimator: a part of the multiprocessors whose size the driver itself sets (a green context), with no
 * layer. What is measured in it must be that part of what is measured on the whole card.
 */
import * as v from 'valibot';
import type { Check } from '../../results/document.js';
import { count, quantity, rowOrReason } from './details.js';
import type { RowState } from './row-state.js';

/** Relative, of what is expected. */
const TOLERANCE = 0.05;

const partition = v.strictObject({
  multiprocessors: count('Multiprocessors of the partition, as the driver says'),
  of: count('Multiprocessors of the card'),
  expectedPercent: quantity('%', 'Share of the work that follows from that'),
  leastPercent: quantity('%', 'The same where no piece of work can be split'),
  measuredPercent: quantity('%', 'Measured share of the work'),
  errorPercent: quantity('%', 'Difference, relative to what is expected'),
  multiprocessorsUsed: v.nullable(
    count('Multiprocessors on which kernels ran, by the register %smid; null: not observed'),
  ),
});

export type PartitionRow = v.InferOutput<typeof partition>;

/** A partition, or why there is none. */
export const partitionOrReason = rowOrReason({}, partition.entries);

type Found = Pick<PartitionRow, 'multiprocessors' | 'of' | 'measuredPercent'> &
  Partial<Pick<PartitionRow, 'expectedPercent' | 'leastPercent' | 'multiprocessorsUsed'>>;

export function partitionRow({ multiprocessors, of, measuredPercent, ...found }: Found): PartitionRow {
  const expectedPercent = found.expectedPercent ?? (100 * multiprocessors) / of;
  return {
    multiprocessors,
    of,
    expectedPercent,
    leastPercent: found.leastPercent ?? expectedPercent,
    measuredPercent,
    errorPercent: 100 * (measuredPercent / expectedPercent - 1),
    multiprocessorsUsed: found.multiprocessorsUsed ?? null,
  };
}

const sizeFits = ({ multiprocessors, multiprocessorsUsed }: PartitionRow): boolean =>
  multiprocessorsUsed === null || multiprocessorsUsed === multiprocessors;

const shareFits = ({ measuredPercent, expectedPercent, leastPercent }: PartitionRow): boolean =>
  measuredPercent >= (1 - TOLERANCE) * leastPercent && measuredPercent <= (1 + TOLERANCE) * expectedPercent;

/** Says whether the estimator, or the driver, can be believed; it does not judge the system. */
export function partitionCheck(row: PartitionRow | RowState): Check {
  const name = 'a partition of known size is found';
  if (!('measuredPercent' in row))
    return { name, passed: 'not checked', detail: 'unsupported' in row ? row.unsupported : row.failed };
  const { multiprocessors, of, expectedPercent, measuredPercent, multiprocessorsUsed } = row;
  const used = multiprocessorsUsed === null ? '' : `, kernels ran on ${multiprocessorsUsed}`;
  return {
    name,
    passed: sizeFits(row) && shareFits(row),
    detail: `a green context of ${multiprocessors} of ${of} multiprocessors: ${measuredPercent.toFixed(1)} % of the work, expected ${expectedPercent.toFixed(1)} %${used}`,
  };
}
