/** Limits that a cluster put into a pod, read from inside: they are adopted, not set. */
import type { Description } from '../../../workers/description.js';
import { interceptors } from '../../proof/interception.js';
import { isInstance } from '../../../results/cards.js';
import type { Limits, TrueGpu } from '../../system.js';
import { measuredDevice } from '../../proof/attestation.js';
import type { ReadBack } from './equal-split.js';
import type { Mechanism } from './pod-settings.js';

export interface Adopted extends Limits {
  /** What shows in the process. */
  mechanism: Mechanism;
  /** Path inside of the library that intercepts; null if none does. */
  library: string | null;
  /** What was injected, by the name of its variable, file or resource. */
  injected: Readonly<Record<string, string>>;
  /** What limits of a client of MPS show in the process; absent where variables state them, and outside MPS. */
  readBack?: ReadBack;
}

/** Variables by which device plugins and webhooks give limits; none of them is secret. */
const variables =
  /^(CUDA_DEVICE_MEMORY_LIMIT(_\d+)?|CUDA_DEVICE_SM_LIMIT(_\d+)?|CUDA_DISABLE_CONTROL|GPU_CORE_UTILIZATION_POLICY|CUDA_MPS_PIPE_DIRECTORY|CUDA_MPS_ACTIVE_THREAD_PERCENTAGE|CUDA_MPS_PINNED_DEVICE_MEM_LIMIT|NVIDIA_VISIBLE_DEVICES|CUDA_VISIBLE_DEVICES|LD_PRELOAD)$/;

/** `gpu`: the measured one, which the pod sees as its first. */
export function adoptedFrom(description: Description, gpu: TrueGpu): Adopted {
  const { environment, preload, provenance } = description;
  const [first] = interceptors(provenance);
  const injected = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      variables.test(name) && value !== undefined ? [[name, value] as const] : [],
    ),
  );
  const files = preload.filter(({ source }) => source !== 'LD_PRELOAD').map(({ entry }) => entry);
  if (files.length > 0) injected['/etc/ld.so.preload'] = files.join(' ');
  const device = measuredDevice(description, gpu);
  const mechanism: Mechanism =
    first !== undefined ? 'layer' : device?.mpsClient ? 'mps' : isInstance(gpu.uuid) ? 'mig' : 'whole';
  return { mechanism, library: first?.owner ?? null, injected, ...limitsIn(injected) };
}

/** Whether limits that no variable states may be those of the daemon of MPS. */
export const mayBeSplit = ({ mechanism, memoryBytes, smPercent }: Adopted): boolean =>
  mechanism === 'mps' && memoryBytes === null && smPercent === null;

/** The limits that were read back in the first process; whether a later one has them is for the proofs. */
export function withReadBack(adopted: Adopted, readBack: ReadBack | undefined): Adopted {
  if (readBack === undefined || !mayBeSplit(adopted)) return adopted;
  return { ...adopted, memoryBytes: readBack.memoryBytes, smPercent: readBack.smPercent, readBack };
}

/** Limits of the first card, as the variables state them; whether they hold is for the proofs. */
export function limitsIn(injected: Readonly<Record<string, string>>): Limits {
  const named = (name: string) => injected[`${name}_0`] ?? injected[name];
  const pinned = injected.CUDA_MPS_PINNED_DEVICE_MEM_LIMIT;
  const memory = named('CUDA_DEVICE_MEMORY_LIMIT') ?? pinned?.split(',')[0]?.split('=').at(-1);
  const sm = named('CUDA_DEVICE_SM_LIMIT') ?? injected.CUDA_MPS_ACTIVE_THREAD_PERCENTAGE;
  return {
    memoryBytes: memory === undefined ? null : bytesOf(memory),
    smPercent: sm === undefined ? null : percentOf(sm),
  };
}

const units: Readonly<Record<string, number>> = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Reads `3000m`, `4G` or bytes, as HAMi-core and MPS do; null for anything else and for 0, which means no limit. */
export function bytesOf(text: string): number | null {
  const [, digits = '', unit = ''] = /^\s*(\d{1,15})\s*([bkmg]?)(?:i?b)?\s*$/i.exec(text) ?? [];
  const bytes = Number(digits) * (units[unit.toLowerCase()] ?? Number.NaN);
  return digits !== '' && Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null;
}

/** 0 and 100 are no limit. */
function percentOf(text: string): number | null {
  const percent = /^\d{1,3}$/.test(text.trim()) ? Number(text) : 0;
  return percent >= 1 && percent < 100 ? percent : null;
}
