/** Describes the machine before a comparison, by a worker without a layer. */
import type { Check } from '../results/document.js';
import { checksBefore } from '../environment/machine-health.js';
import { gpuInfo } from '../environment/gpu.js';
import { instanceVariables } from '../environment/named-gpu.js';
import type { Nvml } from '../native/ground-truth.js';
import { baseEnvironment } from '../systems/process/base-environment.js';
import { seenDriver } from '../systems/proof/hidden-interception.js';
import { isElsewhere } from './plan/target.js';
import { wholeCardBeside } from './plan/whole-card.js';
import { type Description, describe, failureToLook } from '../workers/description.js';
import { localStart } from '../workers/local.js';
import { Worker } from '../workers/worker.js';
import type { CompareHooks, CompareRequest } from './compare-request.js';
import { lookBefore } from './health-summary.js';
import { cardsOf, type Choice, chooseDevice, hiddenGpusOr } from './plan/device.js';
import type { Circumstances } from './resume.js';
import { describePlan } from './run-document.js';
import { patienceOf } from './run-request.js';

export interface Truth {
  description: Description;
  choice: Choice;
  before: Check[];
  /** NVML of the machine of the GPU, by its UUID, where that is another one; null: nothing reads it. Absent: this process's own. */
  nvml?: ((uuid: string) => Nvml) | null;
  /** Whether cards beside the measured one are in MIG mode. */
  besideInstances: boolean;
  warnings: string[];
  /** What rounds must share to be compared. */
  circumstances: Circumstances;
}

/** Variables that select the GPU without --device. The driver reads them itself, so it decides on order and UUIDs. */
const selection = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    (['CUDA_VISIBLE_DEVICES', 'CUDA_DEVICE_ORDER'] as const).flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** Describes the GPUs by a worker without a layer, because the coordinator makes no CUDA call. */
export async function lookAround(request: CompareRequest, hooks: CompareHooks): Promise<Truth> {
  const { target, environment, device, signal, systems } = request;
  if (isElsewhere(systems, target)) return lookElsewhere(request);
  const whole = await wholeCardBeside(request);
  const visible =
    whole !== null
      ? { CUDA_VISIBLE_DEVICES: whole.uuid }
      : device === undefined
        ? selection(environment)
        : instanceVariables(device);
  const worker = await Worker.start({
    start: localStart({ ...baseEnvironment(environment), ...visible }),
    signal,
    ...patienceOf(request, hooks),
  });
  try {
    const description = await describe(worker, target, signal);
    const { CUDA_VISIBLE_DEVICES: named } = environment;
    const failure = failureToLook(description);
    if (failure) throw hiddenGpusOr(failure, named);
    const choice = chooseDevice(description.inspection.devices, whole?.uuid ?? device, named);
    const before = await lookBefore(target, choice.device.uuid, signal);
    return {
      description,
      choice,
      before,
      besideInstances: whole !== null,
      warnings: whole === null ? [] : [whole.warning],
      circumstances: circumstances(request, description, choice),
    };
  } finally {
    await worker.stop();
  }
}

/** Every system's GPU is on another machine: the first one shows it. */
async function lookElsewhere(request: CompareRequest): Promise<Truth> {
  const { target, device, signal, systems } = request;
  const [first] = systems;
  if (!first?.lookElsewhere) throw new Error('No system looks elsewhere.');
  const { description, uuid, nvml } = await first.lookElsewhere(target, signal);
  const choice = {
    ...chooseDevice(description.inspection.devices, device ?? uuid, undefined),
    because: `what ${first.name} got`,
  };
  const before = checksBefore(nvml && (await nvml(choice.device.uuid).state()), null);
  const now = circumstances(request, description, choice);
  return { description, choice, before, nvml, besideInstances: false, warnings: [], circumstances: now };
}

function circumstances(request: CompareRequest, description: Description, choice: Choice): Circumstances {
  return {
    gpu: cardsOf(choice).map((card) => gpuInfo(description.inspection, card)),
    driver: seenDriver(description),
    plan: describePlan(request, choice.device.index),
  };
}
