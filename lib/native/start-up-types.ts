/** The start of a process, and finding its GPUs. */
import type { DeviceTarget, Target } from './target-types.js';

export interface StartUpRequest extends DeviceTarget {
  contextApi: ContextApi;
  /** How often the primary context is released and retained again after the start. */
  recreations: number;
  /** As `now` says it, waited for before libcuda is looked for; null, or a time that has passed, starts at once. */
  startAtNs: number | null;
  /** The context stays until the process ends, as that of a program at work does; nothing is re-created. */
  keep: boolean;
}

export interface DiscoveryRequest extends Target {
  /** Warm passes after the first. */
  repeats: number;
}

export interface Discovery {
  /** dlopen of NVML and resolving its functions. */
  loadNs: number;
  /** One per step, in the order of `stepsNs`, as dlsym gave them. */
  functions: { name: string; owner: string | null; intercepted: boolean }[];
  first: DiscoveryPass;
  repeats: DiscoveryPass[];
  /** Of the GPUs that were found. */
  uuids: string[];
}

export interface DiscoveryPass {
  totalNs: number;
  /** A step asked of every GPU is the sum over them. */
  stepsNs: number[];
}

export type ContextApi = 'cuDevicePrimaryCtxRetain' | 'cuCtxCreate';

export interface StartUp {
  loadNs: number;
  resolveNs: number;
  initNs: number;
  deviceNs: number;
  contextNs: number;
  moduleNs: number;
  firstAllocNs: number;
  firstLaunchNs: number;
  secondLaunchNs: number;
  /** cuInit … first kernel's result on the host. */
  totalNs: number;
  /** As `now` says it: the request is there; the start begins; the first result is on the host. */
  readyAtNs: number;
  beganAtNs: number;
  firstResultAtNs: number;
  /** Of the context that did the work; null where it is kept. */
  firstReleaseNs: number | null;
  resultCorrect: boolean;
  contextFunction: string;
  contextOwner: string | null;
  loadingMode: 'eager' | 'lazy' | null;
  /** When the driver's device files were opened; `process start`: before libcuda was looked for. */
  initialisedAt: 'process start' | 'load' | 'look-up' | 'cuInit' | 'unknown';
  /** The object whose functions a program meets in place of the driver's, or of libc's dlsym. */
  interposer: string | null;
  /** Whether the primary context was there before it was retained; null where the driver does not tell. */
  contextWasActive: boolean | null;
  /** PIDs in NVML's list while the context existed and after its release; null where NVML cannot tell. */
  processesDuring: number[] | null;
  processesAfter: number[] | null;
  /** Free memory of the GPU as NVML says it, likewise. */
  gpuFreeDuringBytes: number | null;
  gpuFreeAfterBytes: number | null;
  pid: number;
  retainNs: number[];
  releaseNs: number[];
  /** Whether cuDevicePrimaryCtxGetState said inactive after every release. */
  inactiveBetween: boolean;
  /** Whether this process left NVML's list after every release; null where NVML cannot tell. */
  leftListBetween: boolean | null;
  /** NVML lists an MPS client until its process ends, whatever becomes of its context. */
  mpsClient: boolean;
}
