/** The parts of a run's document. */
import { type MetricResult, type RunDocument, SCHEMA_VERSION } from '../results/document.js';
import { gpuInfo } from '../environment/gpu.js';
import { hostInfo } from '../environment/host.js';
import { toolVersion } from '../environment/tool.js';
import type { NativeDevice } from '../native/addon-types.js';
import { seenDriver } from '../systems/proof/hidden-interception.js';
import { functionProvenance } from '../systems/proof/interception.js';
import type { ProcessCounts } from '../systems/proof/process-proofs.js';
import { systemHead } from '../systems/system.js';
import { pidMapping, sortedById } from './effects/results.js';
import type { Prepared } from './lane.js';
import { processesText } from './plan/processes-per-round.js';
import type { RunRequest } from './run-request.js';

export function identity(startedAt: Date): Pick<RunDocument, 'schemaVersion' | 'kind' | 'tool' | 'startedAt'> {
  return {
    schemaVersion: SCHEMA_VERSION,
    kind: 'run',
    tool: { name: 'gpu-virt-bench', version: toolVersion() },
    startedAt: startedAt.toISOString(),
  };
}

export function describePrepared(
  { system }: RunRequest,
  { description, attestation }: Prepared,
  cards: readonly NativeDevice[],
  { notCheckedAfter, processes }: { notCheckedAfter: string | undefined; processes: ProcessCounts },
) {
  return {
    host: hostInfo(),
    gpu: cards.map((card) => gpuInfo(description.inspection, card)),
    driver: seenDriver(description),
    groundTruth: attestation.groundTruth,
    system: {
      ...systemHead(system),
      ...(attestation.layer && { layer: attestation.layer }),
      attestation: attestation.proofs,
      ...(notCheckedAfter !== undefined && { notCheckedAfter }),
      processes,
    },
    provenance: functionProvenance(description.provenance),
  };
}

export function describeResults({ plan }: RunRequest, results: readonly MetricResult[]) {
  return {
    completed: results.length === plan.metrics.length,
    pidMapping: pidMapping(results),
    metrics: sortedById(results),
  };
}

export function describePlan(
  { plan, options, target, timeoutSeconds, strict, recorded }: Omit<RunRequest, 'system'>,
  device: number,
): RunDocument['plan'] {
  const { path, ...rest } = options;
  return {
    tier: plan.tier,
    metrics: plan.metrics.map(({ id }) => id),
    ...(plan.purpose && { purpose: plan.purpose }),
    ...(processesText(plan.processes) !== null && { processes: { ...plan.processes } }),
    rounds: 1,
    seed: plan.seed,
    device,
    path,
    options: { ...rest, simulate: target.simulate, timeoutSeconds, strict, ...recorded },
  };
}
