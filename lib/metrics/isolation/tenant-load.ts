/** Loads of one tenant under a compute limit, and of the same tenant without it as the reference. */
import type * as v from 'valibot';
import { choice } from '../core/details.js';
import type { Load, LoadRequest } from '../../native/addon-types.js';
import { baseEnvironment, withoutMps } from '../../systems/process/base-environment.js';
import { instanceVariables } from '../../environment/named-gpu.js';
import { environmentSystem } from '../../systems/process/environment.js';
import { type Limits, SOLE_TENANT, type System } from '../../systems/system.js';
import type { MeasureContext } from '../core/metric.js';
import { type LimitedWorker, startsDiffer, underOtherLimits } from '../core/other-limits.js';
import type { Shape } from './shared/load-shapes.js';

export interface LoadTimes {
  durationMs: number;
  binMs: number;
  /** Rounds of work that the unlimited tenant calibrated; absent for that tenant itself. */
  rounds?: number;
  /** On a part of the multiprocessors that the driver sets apart. */
  partition?: number;
}

const NO_LIMIT: Partial<Limits> = { smPercent: 100 };
/** Without a limit the gap between two kernels is some 10 us. */
const GAP_NS = 50_000;
const MOST_LISTED = 4_096;
/** Length of a kernel relative to the load's: longer, because a second kernel would only wait for the first. */
const LASTS = 1.1;
const GRACE_MS = 120_000;

/** The worker must have entered. */
export function runLoad(worker: LimitedWorker, shape: Shape, times: LoadTimes): Promise<Load> {
  const request: LoadRequest = {
    ...shape.request,
    ...(shape.lasts && { kernelNs: Math.round(LASTS * times.durationMs * 1e6) }),
    rounds: times.rounds ?? 0,
    startAtNs: 0,
    durationNs: Math.round(times.durationMs * 1e6),
    binNs: Math.round(times.binMs * 1e6),
    gapNs: GAP_NS,
    mostListed: MOST_LISTED,
    partition: times.partition ?? 0,
  };
  return worker.ask('load', request, times.durationMs + GRACE_MS);
}

/** A fresh worker under these limits that holds a session while `use` runs. */
export async function withLimits<T>(
  context: MeasureContext,
  limits: Partial<Limits>,
  use: (worker: LimitedWorker) => Promise<T>,
): Promise<T> {
  const results: T[] = [];
  await underOtherLimits(context, [limits], 1, async (worker) => {
    await worker.enter(GRACE_MS);
    results.push(await use(worker));
  });
  return results[0] as T;
}

export const referenceField = choice(
  ['the same tenant without a limit', 'a process without the layer'],
  'What counts as 100 %',
);
export type Reference = v.InferOutput<typeof referenceField>;

export function referenceOf(system: System, limited: Partial<Limits>): Reference {
  return startsDiffer(system, limited, NO_LIMIT) ? 'the same tenant without a limit' : 'a process without the layer';
}

/** A fresh worker without limits, as far as the system supports that. */
export async function withoutLimits<T>(
  context: MeasureContext,
  reference: Reference,
  use: (worker: LimitedWorker) => Promise<T>,
): Promise<T> {
  if (reference === 'the same tenant without a limit') return withLimits(context, NO_LIMIT, use);
  const environment = baseEnvironment(context.system.environment(SOLE_TENANT));
  const bare = environmentSystem({
    ...environment,
    ...withoutMps('/nonexistent'),
    ...instanceVariables(context.card?.uuid ?? ''),
  });
  return withLimits({ ...context, system: bare, prove: () => Promise.resolve() }, {}, use);
}

/** Work per nanosecond, from the first kernel's start to the last one's end. */
export const rateOf = ({ work, startedNs, endedNs }: Load): number => work / (endedNs - startedNs);

/**
 * When the tenant began to launch, on the clock of the bins. The first kernel may start much later: a layer can hold it
 * back too. The host's clock is known on the device's to half a bracket.
 */
const launchedNs = ({ startedNs, hostStartedNs, hostOriginNs, hostBracketNs }: Load): number =>
  Math.min(startedNs, hostStartedNs - hostOriginNs + hostBracketNs / 2);

/** Work per nanosecond, from the first launch to the last kernel's end. */
export const rateSinceLaunch = (load: Load): number => load.work / (load.endedNs - launchedNs(load));

/** Work in per cent of `rate` for each bin between the first launch and the last kernel's end. */
export function sharesPercent(load: Load, binMs: number, rate: number): number[] {
  const binNs = binMs * 1e6;
  const first = Math.ceil(launchedNs(load) / binNs);
  const end = Math.floor(load.endedNs / binNs);
  return Array.from(
    { length: Math.max(0, end - first) },
    (_, i) => (100 * (load.bins[first + i] ?? 0)) / (rate * binNs),
  );
}

/** The limit to test if one is set; null if none is. */
export function ownLimit(system: System): number | null {
  const percent = system.limits(SOLE_TENANT).smPercent ?? 100;
  return system.capabilities.computeLimit === 'none' || percent >= 100 ? null : percent;
}
