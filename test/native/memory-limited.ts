/** Systems with a memory limit of known behaviour on the file's own simulated card, and its NVML readings. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { MetricResult, Tier } from '../../lib/results/document.js';
import type { GroundTruth } from '../../lib/native/ground-truth.js';
import { interposerLibrary } from '../../lib/native/load.js';
import { createSystem } from '../../lib/systems/kinds.js';
import type { Capabilities, System } from '../../lib/systems/system.js';
import { ownRegion } from '../temporary.js';
import { runState } from '../unit/systems/fixtures.js';
import { emptyFolder } from './child.js';
import { measured, truthOutside } from './measured.js';

const region = ownRegion('limited');
/** The context of a process on this card. */
export const CONTEXT_MIB = 500;
const settings = `region=${region},init_ms=1,context_ms=1,context_mib=${CONTEXT_MIB},alloc_us=5,free_us=5`;

export interface Limited {
  /** The limit that the system claims; absent: none. */
  memory?: string;
  /** Settings of the layer; `{pool}` is a new file. */
  interpose?: string;
  /** The limit that the driver itself enforces per process, as under MPS. */
  driver?: string;
  memLimit?: Capabilities['memLimit'];
  record?: string;
  /** Further variables of its processes. */
  environment?: Record<string, string>;
  /** Further settings of the card. */
  sim?: string;
}

const asMpsClient = (limit: string): Record<string, string> => {
  const pipes = emptyFolder();
  writeFileSync(join(pipes, 'control'), '');
  return { CUDA_MPS_PIPE_DIRECTORY: pipes, CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: `0=${limit}` };
};

export async function limited({
  memory,
  interpose,
  driver,
  memLimit,
  record,
  sim,
  environment,
}: Limited): Promise<System> {
  const folder = emptyFolder();
  const layer = interpose && {
    LD_PRELOAD: interposerLibrary() ?? '',
    GVB_INTERPOSE: interpose.replace('{pool}', join(folder, 'pool')),
  };
  const env = { ...layer, ...environment, ...(driver !== undefined && asMpsClient(driver)) };
  const options = {
    name: 'limited',
    env,
    ...(memory !== undefined && { limits: { memory } }),
    ...(memLimit && { capabilities: { memLimit } }),
  };
  const GVB_SIM = [settings, ...(sim ? [sim] : []), ...(record ? [`record=${record}`] : [])].join(',');
  const caller = { PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM };
  const system = createSystem('custom', options, { caller, folder });
  onTestFinished(() => system.teardown());
  await system.prepare(runState(folder));
  return system;
}

/** Measures like the coordinator, which sees the card from outside; `sees` replaces its readings. */
export async function measuredOutside(
  id: string,
  of: Limited,
  sees: Partial<GroundTruth> = {},
  tier: Tier = 'quick',
): Promise<MetricResult> {
  const truth = { ...(await truthOutside(settings)), ...sees };
  return measured(id, await limited(of), { seed: 1, tier }, truth);
}

export interface PathRow {
  path: string;
  outcome: string;
  grantedBytes: number | null;
  usedBytes: number | null;
  truthBytes: number | null;
  code?: string;
  reason?: string;
}

export const pathsOf = ({ details }: MetricResult): PathRow[] => details.paths as PathRow[];

/** The names of the paths with that outcome. */
export const withOutcome = (result: MetricResult, outcome: string): string[] =>
  pathsOf(result).flatMap((row) => (row.outcome === outcome ? [row.path] : []));
