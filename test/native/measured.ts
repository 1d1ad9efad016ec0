/** Measures like the coordinator, under a given system, on the file's own simulated card. */
import { randomUUID } from 'node:crypto';
import { onTestFinished, vi } from 'vitest';
import type { MetricResult } from '../../lib/results/document.js';
import { measureMetric } from '../../lib/metrics/core/measure.js';
import type { MeasureOptions } from '../../lib/metrics/core/metric.js';
import { type GroundTruth, groundTruthOf } from '../../lib/native/ground-truth.js';
import { interposerLibrary, loadAddon } from '../../lib/native/load.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import { createSystem } from '../../lib/systems/kinds.js';
import type { System } from '../../lib/systems/system.js';
import { runState } from '../unit/systems/fixtures.js';
import { ownRegion } from '../temporary.js';
import { metricNamed } from '../metric-named.js';
import { emptyFolder, simulatedFolder } from './child.js';

export const mark = randomUUID();
const region = ownRegion('measured');

/** The card, and without `interpose` no layer. `record`: the folder for the records of its processes. */
export function environment(interpose: string | null, sim = '', record?: string): NodeJS.ProcessEnv {
  const hooks = { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: interpose ?? '' };
  const layer = interpose === null ? {} : { ...hooks, ...(record && { GVB_INTERPOSE_RECORD: record }) };
  const settings = `region=${region},init_ms=1,context_ms=1,alloc_us=5,free_us=5${sim && `,${sim}`}${record ? `,record=${record}` : ''}`;
  return { PATH: process.env.PATH, HOME: emptyFolder(), GVB_TEST_MARK: mark, GVB_SIM: settings, ...layer };
}

export const environmentUnder = (interpose: string | null, sim?: string, record?: string): System =>
  environmentSystem(environment(interpose, sim, record));

/**
 * A custom system with separate state for each tenant: `{tenant}` in the layer's settings is its number, `{runDir}` the
 * system's folder.
 */
export async function customUnder(interpose: string, stateFile?: string, record?: string): Promise<System> {
  const { PATH, HOME, GVB_SIM } = environment(null, '', record);
  const folder = emptyFolder();
  const env = {
    LD_PRELOAD: interposerLibrary() ?? '',
    GVB_INTERPOSE: interpose,
    GVB_TEST_MARK: mark,
    ...(record && { GVB_INTERPOSE_RECORD: record }),
  };
  const state = stateFile === undefined ? {} : { stateFiles: [stateFile] };
  const system = createSystem('custom', { name: 'layer', env, ...state }, { caller: { PATH, HOME, GVB_SIM }, folder });
  onTestFinished(() => system.teardown());
  await system.prepare(runState(folder));
  return system;
}

/**
 * A coordinator's readings from outside of a card with these settings. NVML is loaded once per process, so a file has
 * one card.
 */
export async function truthOutside(settings: string): Promise<GroundTruth> {
  vi.stubEnv('GVB_SIM', settings);
  const target = { simulatedDriver: simulatedFolder };
  const { devices } = await loadAddon().inspect(target);
  return groundTruthOf(target, devices[0]?.uuid as string);
}

export function measured(
  id: string,
  system: System,
  options: MeasureOptions = {},
  truth?: GroundTruth,
): Promise<MetricResult> {
  const surroundings = { system, ...(truth && { truth }) };
  return measureMetric(metricNamed(id), { simulate: true, tier: 'quick', ...options }, surroundings);
}
