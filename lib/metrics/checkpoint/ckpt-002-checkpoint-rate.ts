/** CKPT-002: how fast GPU memory is moved to the host. */
import * as v from 'valibot';
import type { MetricDefinition } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { goneCheck, hostCheck, restoredCheck } from './checks.js';
import { heldTargets } from './held-targets.js';
import { impossibleRate, measuredRate, rateChart, rateDetails } from './rates.js';

const details = v.strictObject(rateDetails);

export type CheckpointRateDetails = v.InferOutput<typeof details>;

export const checkpointRate: MetricDefinition<CheckpointRateDetails> = {
  id: 'CKPT-002',
  name: 'Checkpoint Rate',
  category: 'checkpoint',
  unit: 'GB/s',
  direction: 'higher',
  question: 'How fast is the GPU memory of a process moved to the host?',
  estimator: 'slope of the time of cuCheckpointProcessCheckpoint over the bytes that fresh processes hold',
  delta: { relative: 0.1 },
  needs: ['checkpoints (driver 570)', 'fresh processes', 'host memory for what is moved'],
  functionName: 'measureCheckpointRate',
  where: 'fresh-processes',
  impossible: impossibleRate,
  lineCharts: [rateChart('checkpoint')],
  details,
  seconds: { quick: 120, standard: 200, thorough: 1_500 },
  deadlineSeconds: 14_400,
  async measure(context) {
    const held = await heldTargets(context);
    const { targets } = held;
    return measuredRate('checkpoint', held, ({ checkpointMs }) => checkpointMs, [
      goneCheck(targets),
      hostCheck(targets),
      restoredCheck(targets),
    ]);
  },
};

/** CKPT-002, GB/s: slope of the time of cuCheckpointProcessCheckpoint over the bytes held; `details.sizes` has the seconds by size. */
export const measureCheckpointRate = measureFunction(checkpointRate);
