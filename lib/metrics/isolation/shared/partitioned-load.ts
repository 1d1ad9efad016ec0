/** A load on a part of the multiprocessors that the driver sets apart, relative to the same load on all of them. */
import type { MeasureContext } from '../../core/metric.js';
import { type PartitionRow, partitionRow } from '../../core/partition.js';
import { type RowState, rowState } from '../../core/row-state.js';
import { BIN_MS } from './limited-rows.js';
import { MANY_WAVES } from './load-shapes.js';
import { rateOf, runLoad, withLimits } from '../tenant-load.js';

/** Measured by the system's own worker, which has no limit; many waves, so that a partition loses little by their number. */
export function partitionedLoad(context: MeasureContext, durationMs: number): Promise<PartitionRow | RowState> {
  return withLimits(context, {}, async (worker) => {
    const times = { durationMs, binMs: BIN_MS };
    context.progress('a load on all multiprocessors', 0.2);
    const whole = await runLoad(worker, MANY_WAVES, times);
    context.progress('the same load on a partition', 0.6);
    const partition = Math.ceil(whole.multiprocessors / 2);
    try {
      const part = await runLoad(worker, MANY_WAVES, { ...times, rounds: whole.rounds, partition });
      return partitionRow({
        multiprocessors: part.partition,
        of: whole.multiprocessors,
        measuredPercent: (100 * rateOf(part)) / rateOf(whole),
        multiprocessorsUsed: part.multiprocessorsUsed.length,
      });
    } catch (error) {
      const state = rowState(error);
      if (!state) throw error;
      return state;
    }
  });
}
