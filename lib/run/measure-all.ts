/** Measures metrics one after the other, each with its deadline; one that fails is a result. */
import type { MetricResult } from '../results/document.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import { measureMetric, type Surroundings } from '../metrics/core/measure.js';
import { withDeadline } from './deadline.js';
import { failedResult } from './effects/results.js';
import { Spares } from '../metrics/tenants/spares.js';
import type { Lane } from './lane.js';
import { defaultTimeoutSeconds } from './plan/plan.js';
import type { RunHooks, RunRequest } from './run-request.js';

export async function measureAll(
  request: RunRequest,
  hooks: RunHooks,
  lane: Lane,
  device: string,
  shared: Surroundings,
): Promise<MetricResult[]> {
  const results: MetricResult[] = [];
  const { metrics } = request.plan;
  const spares = new Spares(request.signal);
  try {
    for (const [index, definition] of metrics.entries()) {
      if (request.signal.aborted) break;
      // Without truth every process is hooked, a spare one too.
      spares.areNeeded =
        shared.truth != null && metrics.slice(index + 1).some(({ where }) => where === 'fresh-processes');
      hooks.onMetric(definition);
      const began = performance.now();
      const add = (result: MetricResult) => results.push({ ...result, durationMs: performance.now() - began });
      try {
        add(await measureOne(request, hooks, lane, definition, device, { ...shared, spares }));
      } catch (error) {
        if (request.signal.aborted) break;
        add(failedResult(definition, error));
      }
      hooks.onResult(results.at(-1) as MetricResult);
    }
    return results;
  } finally {
    await spares.close();
  }
}

async function measureOne(
  request: RunRequest,
  hooks: RunHooks,
  lane: Lane,
  definition: MetricDefinition,
  device: string,
  shared: Surroundings,
) {
  const { plan, signal, target, headlineOnly = false } = request;
  const { onProgress } = hooks;
  const planned = plan.processes?.[definition.id];
  const deadlineMs = 1_000 * (request.timeoutSeconds ?? defaultTimeoutSeconds(definition, plan.tier));
  const common = { device, tier: plan.tier, seed: plan.seed, simulate: target.simulate };
  if (definition.where === 'process') {
    // Statistics over all processes of a round need their samples.
    const samples = request.options.samples === true || planned !== undefined;
    const options = { ...request.options, ...common, samples };
    return lane.measure(definition, { options, headlineOnly, deadlineMs, onProgress });
  }
  // A waiting worker keeps the driver initialised, so a fresh process would start faster than without it.
  await lane.close();
  return withDeadline(deadlineMs, signal, (bounded) =>
    measureMetric(
      definition,
      { ...request.options, ...common, signal: bounded, onProgress },
      { ...shared, plannedProcesses: planned },
    ),
  );
}
