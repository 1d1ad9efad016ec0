/**
 * The health of a run: checks before the first measurement, a summary after the last, and the effect of `--strict` on
 * both.
 */
import type { Check, MetricResult, RunDocument } from '../results/document.js';
import { checksBefore } from '../environment/machine-health.js';
import { hostCpuBusy } from '../environment/host-load.js';
import type { Samples } from '../environment/sampler.js';
import { slowdowns } from '../environment/event-reasons.js';
import { healthCheckNames } from '../metrics/core/health-log.js';
import type { Target } from '../native/addon-types.js';
import { BenchError } from '../errors/bench-error.js';
import { readGpuState } from '../native/gpu-state.js';
import { findingText } from '../results/text/health-text.js';
import { byMetricId } from '../results/metric-order.js';
import { disowned } from './effects/results.js';

const WHILE_SAMPLED = 'no slowdown while sampled';

const text = ({ name, detail }: Check): string => `${findingText(name)}: ${detail}`;

const failed = (checks: readonly Check[]): Check[] => checks.filter(({ passed }) => passed === false);

/** Checks the health of the machine, while no process of ours uses the GPU. */
export async function lookBefore(target: Target, uuid: string, signal: AbortSignal): Promise<Check[]> {
  return checksBefore(await readGpuState(target, uuid, 'all'), await hostCpuBusy(signal));
}

/** Rejects an unhealthy machine if `strict` is set; otherwise it is only a warning. */
export function refuseUnhealthy(before: readonly Check[], strict: boolean): void {
  const found = failed(before);
  if (!strict || found.length === 0) return;
  throw new BenchError(
    'UNHEALTHY',
    `The machine is not idle and healthy (--strict): ${found.map(text).join('; ')}. Stop what disturbs it, or measure without --strict.`,
  );
}

export const healthWarnings = (checks: readonly Check[]): string[] => failed(checks).map(text);

/** Invalidates a number that was measured under a failed health check (--strict). */
export function strictly(result: MetricResult): MetricResult {
  const [first, ...others] = failed(result.checks).filter(({ name }) => healthCheckNames.includes(name));
  if (!first || result.status !== 'ok') return result;
  const more = others.length > 0 ? `; also: ${others.map(({ name }) => findingText(name)).join(', ')}` : '';
  return disowned(result, `health (--strict): ${text(first)}${more}`);
}

/** Summarises health checks by name, over all metrics: a check failed if it failed for any, and names those metrics. */
export function summariseAfter(results: readonly MetricResult[], samples: Samples | undefined): Check[] {
  return [...overAllMetrics(results), whileSampled(samples)];
}

/** Summarises the health of joined results as summariseAfter does, from the summaries of their processes. */
export function summariseJoined(results: readonly MetricResult[], summaries: readonly (readonly Check[])[]): Check[] {
  const sampled = summaries.flat().filter(({ name }) => name === WHILE_SAMPLED);
  return [...overAllMetrics(results), ...[...failed(sampled), ...sampled].slice(0, 1)];
}

const overAllMetrics = (results: readonly MetricResult[]): Check[] =>
  healthCheckNames.map((name) => overMetrics(name, results));

/** Summarises failed checks over all rounds of a comparison, in one line per system and check. */
export function disturbances(systems: readonly (readonly RunDocument[])[]): string[] {
  return systems.flatMap((rounds) => {
    const names = [...new Set(rounds.flatMap(({ health }) => failed(health.after).map(({ name }) => name)))];
    return names.map((name) => disturbance(name, rounds));
  });
}

function disturbance(name: string, rounds: readonly RunDocument[]): string {
  const bad = rounds.filter(({ health }) => failed(health.after).some((check) => check.name === name));
  const ids = bad.flatMap(({ metrics }) => failing(name, metrics).map(({ id }) => id));
  const which = ids.length > 0 ? ` (${[...new Set(ids)].sort(byMetricId).join(', ')})` : '';
  const often = rounds.length > 1 ? ` in ${bad.length} of ${rounds.length} rounds` : '';
  return `${rounds[0]?.system.name}: ${findingText(name)}${often}${which}`;
}

const failing = (name: string, results: readonly MetricResult[]): MetricResult[] =>
  results.filter(({ checks }) => failed(checks).some((check) => check.name === name));

function overMetrics(name: string, results: readonly MetricResult[]): Check {
  const found = results.flatMap(({ id, checks }) => {
    const check = checks.find((candidate) => candidate.name === name);
    return check ? [{ ...check, id }] : [];
  });
  const bad = found.filter(({ passed }) => passed === false);
  const good = found.filter(({ passed }) => passed === true);
  if (bad.length > 0)
    return { name, passed: false, detail: bad.map(({ id, detail }) => `${id} (${detail})`).join(', ') };
  if (good.length === 0) return { name, passed: 'not checked', detail: 'no metric could check it' };
  return { name, passed: true, detail: good.map(({ id }) => id).join(', ') };
}

function whileSampled(samples: Samples | undefined): Check {
  const name = WHILE_SAMPLED;
  const masks = samples?.eventReasons.filter((mask) => mask !== null) ?? [];
  if (masks.length === 0) return { name, passed: 'not checked', detail: 'NVML gave no clock event reasons' };
  const seen = slowdowns(masks);
  return { name, passed: seen.length === 0, detail: seen.join(', ') || `none in ${masks.length} readings` };
}
