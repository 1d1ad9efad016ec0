/** How a process starts as natively, whatever system a metric measures: an oracle, or one that must not be under a layer. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { instanceVariables } from '../../environment/named-gpu.js';
import { baseEnvironment, withoutMps } from '../../systems/process/base-environment.js';
import { callerEnvironment } from '../../systems/process/environment.js';
import type { ProcessStart } from '../../workers/launcher.js';
import { localStart } from '../../workers/local.js';
import type { MeasureContext } from '../core/metric.js';

/** The GPUs that the system shows: as the caller names them, or by UUID. Numbers of a container are its own. */
function shownGpus(system: MeasureContext['system']): NodeJS.ProcessEnv {
  const { CUDA_VISIBLE_DEVICES: visible, CUDA_DEVICE_ORDER: order } = system.environment();
  if (visible === undefined || (system.isCallers !== true && !/^(GPU|MIG)-/.test(visible))) return {};
  return { CUDA_VISIBLE_DEVICES: visible, ...(order !== undefined && { CUDA_DEVICE_ORDER: order }) };
}

/**
 * The caller's environment, as a native system has it; variables that define a simulated card are kept, and those that
 * name the GPUs.
 */
export function nativeStart({ system, card }: MeasureContext): ProcessStart {
  const { GVB_SIM } = system.environment();
  return localStart({
    ...baseEnvironment(callerEnvironment()),
    ...(GVB_SIM !== undefined && { GVB_SIM }),
    ...shownGpus(system),
    ...withoutMps(join(tmpdir(), 'gvb-none')),
    ...instanceVariables(card?.uuid ?? ''),
  });
}
