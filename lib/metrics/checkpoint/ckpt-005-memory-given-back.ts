/** CKPT-005: how much of its memory a checkpointed process gives back to the card. */
import * as v from 'valibot';
import { mean } from '../../stats/mean.js';
import { median } from '../../stats/median.js';
import { count, quantity, rows } from '../core/details.js';
import { outside } from '../core/impossible.js';
import { type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { MIB } from '../core/units.js';
import { goneCheck } from './checks.js';
import { heldTargets } from './held-targets.js';

const details = v.strictObject({
  sizes: rows(
    v.strictObject({
      bytes: count('Bytes that each target held'),
      processMiB: quantity('MiB', 'What NVML listed for a target, its context included'),
      givenBackMiB: quantity('MiB', 'By how much the memory in use on the card fell'),
      staysMiB: quantity('MiB', 'processMiB - givenBackMiB'),
    }),
    'A row per size, medians over its turns',
  ),
});

export type MemoryGivenBackDetails = v.InferOutput<typeof details>;

const NOT_LISTED =
  "the coordinator's NVML does not list the targets, or not their memory: it takes nvmlInit_v2, nvmlDeviceGetHandleByUUID, nvmlDeviceGetMemoryInfo and nvmlDeviceGetComputeRunningProcesses_v3";

export const memoryGivenBack: MetricDefinition<MemoryGivenBackDetails> = {
  id: 'CKPT-005',
  name: 'Memory Given Back',
  category: 'checkpoint',
  unit: '%',
  direction: 'higher',
  question: 'How much of its GPU memory can others use while a process is checkpointed?',
  estimator: 'fall of the memory in use by NVML, of what it listed for the process, mean over checkpoints',
  delta: { relative: 0.02 },
  needs: ['checkpoints (driver 570)', 'fresh processes', "NVML's list of processes"],
  functionName: 'measureMemoryGivenBack',
  where: 'fresh-processes',
  impossible: outside(0, 110),
  details,
  seconds: { quick: 1, standard: 1, thorough: 1 },
  deadlineSeconds: 14_400,
  async measure(context) {
    const { targets } = await heldTargets(context);
    const seen = targets.flatMap(({ bytes, turns }) =>
      turns.flatMap(({ usedBytes, processBytes }) =>
        usedBytes.before === null || usedBytes.checkpointed === null || processBytes.before === null
          ? []
          : [{ bytes, held: processBytes.before, back: usedBytes.before - usedBytes.checkpointed }],
      ),
    );
    if (seen.length === 0) return unsupported(NOT_LISTED);
    const parts = seen.map(({ held, back }) => (100 * back) / held);
    const rowOf = (bytes: number) => {
      const own = seen.filter((each) => each.bytes === bytes);
      const processMiB = median(own.map(({ held }) => held / MIB)).value;
      const givenBackMiB = median(own.map(({ back }) => back / MIB)).value;
      return { bytes, processMiB, givenBackMiB, staysMiB: processMiB - givenBackMiB };
    };
    return {
      ...mean(parts),
      processes: targets.length,
      ciScope: 'between-processes',
      headline: Float64Array.from(parts),
      details: { sizes: [...new Set(seen.map(({ bytes }) => bytes))].sort((a, b) => a - b).map(rowOf) },
      checks: [goneCheck(targets)],
    };
  },
};

/**
 * CKPT-005, %: by how much the memory in use on the card falls with a checkpoint, of what NVML listed for the process;
 * `details.sizes` has what stays.
 */
export const measureMemoryGivenBack = measureFunction(memoryGivenBack);
