/** CKPT-003: how fast GPU memory is brought back from the host. */
import * as v from 'valibot';
import type { MetricDefinition } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { goneCheck, restoredCheck } from './checks.js';
import { heldTargets } from './held-targets.js';
import { impossibleRate, measuredRate, rateChart, rateDetails } from './rates.js';

const details = v.strictObject(rateDetails);

export type RestoreRateDetails = v.InferOutput<typeof details>;

export const restoreRate: MetricDefinition<RestoreRateDetails> = {
  id: 'CKPT-003',
  name: 'Restore Rate',
  category: 'checkpoint',
  unit: 'GB/s',
  direction: 'higher',
  question: 'How fast is the GPU memory of a process brought back?',
  estimator: 'slope of the time of cuCheckpointProcessRestore over the bytes that fresh processes hold',
  delta: { relative: 0.1 },
  needs: ['checkpoints (driver 570)', 'fresh processes', 'host memory for what is moved'],
  functionName: 'measureRestoreRate',
  where: 'fresh-processes',
  impossible: impossibleRate,
  lineCharts: [rateChart('restore')],
  details,
  seconds: { quick: 120, standard: 200, thorough: 1_500 },
  deadlineSeconds: 14_400,
  async measure(context) {
    const held = await heldTargets(context);
    const { targets } = held;
    return measuredRate('restore', held, ({ restoreMs }) => restoreMs, [goneCheck(targets), restoredCheck(targets)]);
  },
};

/** CKPT-003, GB/s: slope of the time of cuCheckpointProcessRestore over the bytes held; `details.sizes` has the seconds by size. */
export const measureRestoreRate = measureFunction(restoreRate);
