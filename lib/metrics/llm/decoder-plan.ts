/** The decoder of a metric: its workload and model, from the options, and why it may not be measured. */
import * as v from 'valibot';
import { formatBytes } from '../../results/text/format-bytes.js';
import { choice, count, described } from '../core/details.js';
import { type MeasureContext, type Measured, unsupported } from '../core/metric.js';
import { isOutOfMemory } from '../core/row-state.js';
import { MIB } from '../core/units.js';
import type { GenerationPlan } from './generation.js';
import { type DecoderModel, WORKLOADS, type Workload, workloadNames } from './workloads.js';

const FEWEST_BYTES = 512 * MIB;
/** The simulated card computes on the host what a GPU would. */
const SIMULATED_MODEL: Required<DecoderModel> = {
  layers: 1,
  hidden: 128,
  heads: 2,
  kvHeads: 1,
  mlp: 128,
  vocabulary: 128,
};

/** What details say of the decoder that was measured. */
export const decoderFields = {
  workload: choice([...workloadNames, 'custom'], 'Name of the workload'),
  batch: count('Sequences that decode together'),
  prompt: count('Tokens per prompt'),
  output: count('Tokens to generate per sequence'),
  model: described(
    v.strictObject({
      layers: count('Layers'),
      hidden: count('Values per token'),
      heads: count('Heads of queries'),
      kvHeads: count('Heads of keys and values'),
      mlp: count('Width of the MLP'),
      vocabulary: count('Tokens in the vocabulary'),
    }),
    'Sizes of the decoder',
  ),
};

/** Measures with the decoder of the options, or with a workload of a test's own. */
export async function withDecoder<T>(
  context: MeasureContext,
  workload: Workload | undefined,
  measure: (plan: GenerationPlan) => Promise<Measured<T>>,
): Promise<Measured<T>> {
  const { workload: name, model, seed } = context.options;
  const { memoryBytes } = context.system.limits();
  if (memoryBytes !== null && memoryBytes < FEWEST_BYTES)
    return unsupported(`needs a memory limit of ${formatBytes(FEWEST_BYTES)}, and it is ${formatBytes(memoryBytes)}`);
  try {
    return await measure({
      workload: workload ?? WORKLOADS[name],
      model: model ?? (context.simulatedDriver === null ? null : SIMULATED_MODEL),
      limitBytes: context.leastMemoryBytes,
      seed,
    });
  } catch (error) {
    if (isOutOfMemory(error)) return unsupported(`the decoder does not fit: ${error.message}`);
    throw error;
  }
}
