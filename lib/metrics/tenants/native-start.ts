/** How a process starts as natively, whatever system a metric measures: an oracle, or one that must not be under a layer. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { instanceVariables } from '../../environment/named-gpu.js';
import { baseEnvironment, withoutMps } from '../../systems/process/base-environment.js';
import { callerEnvironment } from '../../systems/process/environment.js';
import type { ProcessStart } from '../../workers/launcher.js';
import { localStart } from '../../workers/local.js';
import type { MeasureContext } from '../core/metric.js';
/** The caller's environment, as a native system has it; variables that define a simulated card are kept. */
export function nativeStart({ system, card }: MeasureContext): ProcessStart {
  const { GVB_SIM } = system.environment();
  return localStart({
    ...baseEnvironment(callerEnvironment()),
    ...(GVB_SIM !== undefined && { GVB_SIM }),
    ...withoutMps(join(tmpdir(), 'gvb-none')),
    ...instanceVariables(card?.uuid ?? ''),
  });
}
