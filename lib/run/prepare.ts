/** Prepares the systems of a comparison, states their compute limits and tears them down. */
import { randomUUID } from 'node:crypto';
import { messageOf } from '../errors/message-of.js';
import { isMeasuredNow, type System } from '../systems/system.js';
import type { CompareHooks, CompareRequest } from './compare-request.js';
import { type ComputeLimit, labelComputeLimit } from './effects/compute-limit.js';
import type { Truth } from './look-around.js';
import { patienceOf } from './run-request.js';

export async function prepareAll(
  request: CompareRequest,
  { choice, description, nvml, besideInstances }: Truth,
  directory: string,
) {
  const { systems, target, signal, timeoutSeconds } = request;
  const runId = randomUUID().slice(0, 8);
  const gpu = choice.device;
  const otherGpus = description.inspection.devices.map(({ uuid }) => uuid).filter((uuid) => uuid !== gpu.uuid);
  const run = {
    runId,
    directory,
    gpu,
    otherGpus,
    visibleGpus: description.inspection.devices,
    target,
    signal,
    pinned: { node: null },
    hasTruth: nvml !== null,
    besideInstances,
  };
  for (const system of systems.filter(isMeasuredNow))
    await system.prepare({ ...run, ...(timeoutSeconds !== null && { timeoutMs: 1_000 * timeoutSeconds }) });
}

export async function labelAll(
  request: CompareRequest,
  hooks: CompareHooks,
  { choice }: Truth,
  warnings: string[],
): Promise<ComputeLimit[]> {
  const { systems, target, plan, options, signal } = request;
  const where = {
    simulatedDriver: target.simulatedDriver,
    device: choice.device.uuid,
    path: options.path,
    patience: patienceOf(request, hooks),
  };
  const labels: ComputeLimit[] = [];
  for (const system of systems.filter(({ recordedIn }) => recordedIn === undefined)) {
    if (signal.aborted) break;
    hooks.onComputeLimit(system);
    const device = system.ownGpu?.()?.uuid ?? where.device;
    const label = await labelComputeLimit(
      system,
      { ...where, device },
      plan.tier,
      signal,
      (what) => void warnings.push(what),
    );
    if (label) labels.push(label);
  }
  return labels;
}

/** Tears all systems down even if one fails, which is only a warning: the results are kept. */
export async function tearDownAll(systems: readonly System[]): Promise<string[]> {
  const outcomes = await Promise.allSettled(systems.map((system) => system.teardown()));
  return outcomes.flatMap((outcome, index) =>
    outcome.status === 'fulfilled' ? [] : [`${systems[index]?.name}: teardown failed: ${messageOf(outcome.reason)}`],
  );
}
