/** The environment of a program: that of the system's workers, and what the workload says. */
import { instanceVariables, type NamedGpu } from '../../environment/named-gpu.js';
import { isInstance } from '../../results/cards.js';
import { loaderPath } from '../../systems/process/loader-path.js';
import type { MeasureContext } from '../../metrics/core/metric.js';
import type { System, Tenant } from '../../systems/system.js';
import { VISIBLE } from '../proof/instance-processes.js';
import { PIPES } from '../proof/mps-clients.js';
import type { Workload } from '../workload-type.js';

interface ProgramSurroundings {
  system: System;
  /** The tenant whose environment it is. Default: the one whose round it is. */
  tenant?: Tenant;
  /** The caller's environment, from which `passEnv` takes variables. */
  caller: NodeJS.ProcessEnv;
  /** The folder of the simulated driver, which the program must find as libcuda.so.1; null where it is not simulated. */
  simulatedDriver: string | null;
  /** The GPUs that the program is meant to use, in this order; none where the system decides, or they are not known. */
  gpus: readonly NamedGpu[];
}

/**
 * Variables that a workload may not set under any system: workers have them, so that they do not reach somebody else's
 * MPS daemon.
 */
const always = [PIPES];

/** The environment of a program, or why it has none: it would not be under the system. */
export type ProgramEnvironment = { environment: NodeJS.ProcessEnv } | { refused: string };

export async function programEnvironment(
  { env, passEnv }: Pick<Workload, 'env' | 'passEnv'>,
  { system, tenant, caller, simulatedDriver, gpus }: ProgramSurroundings,
): Promise<ProgramEnvironment> {
  if (system.whyNoPrograms !== undefined) return { refused: system.whyNoPrograms };
  const passed = passEnv.flatMap((name) => (caller[name] === undefined ? [] : [[name, caller[name]] as const]));
  const own: NodeJS.ProcessEnv = { ...Object.fromEntries(passed), ...env };
  const taken = [
    ...Object.keys(system.settings),
    ...Object.keys(system.injected ?? {}),
    ...always,
    ...(system.picksGpu ? [VISIBLE] : []),
  ].find((name) => Object.hasOwn(own, name));
  if (taken !== undefined) return { refused: `${taken} is set by ${system.name}: remove it from the workload` };
  const environment = { ...onlyGpus(gpus), ...system.environment(tenant), ...own };
  if (simulatedDriver === null) return { environment };
  const { LD_LIBRARY_PATH: path } = environment;
  const driver = await loaderPath(simulatedDriver);
  return { environment: { ...environment, LD_LIBRARY_PATH: path ? `${driver}:${path}` : driver } };
}

/** The GPUs of --device; none where the system shows the measured one by itself. */
export const meantGpus = ({ system, card, cards }: Pick<MeasureContext, 'card' | 'cards' | 'system'>) =>
  system.showsMeasuredFirst ? [] : (cards ?? (card ? [card] : []));

/**
 * Variables that select the first or other GPUs. The driver's own order puts the fastest GPU first, and a MIG instance
 * has no index. A program takes the first GPU without being told; layers read CUDA_VISIBLE_DEVICES as a number, and
 * some fail with it, so for the first GPU it stays unset.
 */
function onlyGpus(gpus: readonly NamedGpu[]): NodeJS.ProcessEnv {
  const [first] = gpus;
  if (!first) return {};
  if (isInstance(first.uuid)) return instanceVariables(first.uuid);
  const order = { CUDA_DEVICE_ORDER: 'PCI_BUS_ID' };
  if (gpus.length === 1 && first.index === 0) return order;
  return { ...order, CUDA_VISIBLE_DEVICES: gpus.map(({ index }) => index).join(',') };
}
