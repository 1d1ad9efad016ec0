/** The pod that no layer hooks: by its NVML is checked what the others see. */
import { BenchError } from '../../../errors/bench-error.js';
import type { Target } from '../../../native/addon-types.js';
import { describe, failureToLook } from '../../../workers/description.js';
import type { Worker } from '../../../workers/worker.js';
import { type Elsewhere, nvmlOf } from '../../elsewhere.js';

export const NO_TRUTH =
  'No unhooked pod reads NVML (truth=FILE): what the layer shows was not checked against the bare GPU.';

interface Measured {
  /** The system. */
  name: string;
  /** The card that its pods get. */
  uuid: string;
  target: Target;
  signal: AbortSignal;
}

/** `worker`: in the unhooked pod. Throws BenchError if it does not see the card. */
export async function lookAtTruth(worker: Worker, { name, uuid, target, signal }: Measured): Promise<Elsewhere> {
  const description = await describe(worker, target, signal);
  const failure = failureToLook(description);
  if (failure) throw failure;
  if (description.inspection.devices.some((device) => device.uuid === uuid))
    return { description, uuid, nvml: (card) => nvmlOf(worker, target, card) };
  throw new BenchError(
    'NO_SUCH_DEVICE',
    `The pod of truth of ${name} does not see ${uuid}: let it see every GPU of its node.`,
  );
}
