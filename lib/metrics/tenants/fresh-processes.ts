/** Starts fresh worker processes in batches, with checks that each was a real start. */
import { choice, count, described, interval, quantity, text } from '../core/details.js';
import * as v from 'valibot';
import type { Check } from '../../results/document.js';
import type { ContextApi } from '../../native/addon-types.js';
import { median } from '../../stats/median.js';
import { startOf } from '../../systems/system.js';
import { type FreshProcess, type StartUpAnswer, startUpInFreshProcess } from '../../workers/start-up.js';
import type { MeasureContext } from '../core/metric.js';
import { targetOf } from './scene.js';
import { scaled } from '../core/units.js';

export const PROCESSES = { quick: 3, standard: 4, thorough: 20 } as const;
/** A real start takes tens of milliseconds; with less the context existed before. */
const SHORTEST_CREDIBLE_NS = 5_000_000;

/** The steps of a start, in chronological order. */
export const STEPS = [
  'spawnToMainNs',
  'addonLoadNs',
  'loadNs',
  'resolveNs',
  'initNs',
  'deviceNs',
  'contextNs',
  'moduleNs',
  'firstAllocNs',
  'firstLaunchNs',
  'secondLaunchNs',
] as const satisfies readonly (keyof StartUpAnswer)[];

interface Batch {
  contextApi: ContextApi;
  count: number;
  /** How many of the first processes release and recreate their context afterwards, and how often. */
  recreating?: { processes: number; times: number };
  /** Processes before this batch, and in total, for progress. */
  done: number;
  total: number;
  /** Environment variables in addition to the system's own. */
  variables?: NodeJS.ProcessEnv;
}

/** How a fresh process of the measured system starts. */
export function freshProcess(context: MeasureContext, variables: NodeJS.ProcessEnv = {}): FreshProcess {
  const { system, signal } = context;
  const own = startOf(system);
  const start = { ...own, environment: { ...own.environment, ...variables } };
  return { start, signal, prove: (worker) => context.prove(worker) };
}

export async function startMany(context: MeasureContext, batch: Batch): Promise<StartUpAnswer[]> {
  const { contextApi, count, recreating, done, total, variables } = batch;
  const target = targetOf(context);
  const starts: StartUpAnswer[] = [];
  for (let i = 0; i < count; i++) {
    context.progress(`${contextApi}, process ${i + 1} of ${count}`, (done + i) / total);
    const recreations = recreating && i < recreating.processes ? recreating.times : 0;
    const request = { ...target, contextApi, recreations, startAtNs: null, keep: false };
    starts.push(await startUpInFreshProcess(request, freshProcess(context, variables)));
  }
  return starts;
}

/** Recreations in each of the first processes of `wholeStarts`. */
const RECREATIONS = { quick: 1, standard: 1, thorough: 3 } as const;
const RECREATING_PROCESSES = { quick: 1, standard: 1, thorough: 20 } as const;

/**
 * Starts as many fresh processes as the options request. Each retains the primary context and does its first work; the
 * first ones also release and retain it again. All metrics of the round that use a step of a start share these
 * processes.
 */
export function wholeStarts(context: MeasureContext): Promise<StartUpAnswer[]> {
  const { iterations, tier, warmup } = context.options;
  const count = iterations ?? PROCESSES[tier];
  const discarded = warmup ?? 0;
  const batch = { contextApi: 'cuDevicePrimaryCtxRetain' as const, total: discarded + count };
  const recreating = { processes: RECREATING_PROCESSES[tier], times: RECREATIONS[tier] };
  return context.once.get('whole starts', async () => {
    await startMany(context, { ...batch, count: discarded, done: 0 });
    return startMany(context, { ...batch, count, recreating, done: discarded });
  });
}

type Row<Key extends string> = Record<Key, number> & { ci95: [number, number] | null; count: number };

/** Schema of `timesRow` in microseconds. */
export const timesUs = (about: string) => ({
  valueUs: quantity('us', about),
  ci95: interval('us', 'valueUs'),
  count: count('Times behind the median'),
});

/** A table row of times in nanoseconds, under `key` in the unit given by `divisor`. */
export function timesRow<Key extends string>(times: readonly number[], key: Key, divisor: number): Row<Key> {
  const { value, ci95 } = scaled(median(times), divisor);
  return { [key]: value, ci95, count: times.length } as Row<Key>;
}

/** One row per step that every process could time. */
export function stepRows<Key extends string>(starts: readonly StartUpAnswer[], key: Key, divisor: number) {
  return STEPS.flatMap((name) => {
    const times = starts.flatMap((answer) => answer[name] ?? []);
    return times.length > 0 ? [{ step: name.replace(/Ns$/, ''), ...timesRow(times, key, divisor) }] : [];
  });
}

/** Schema of `contextDetails`. */
export const startContext = described(
  v.strictObject({
    function: v.optional(text('The driver function that created it')),
    owner: v.nullable(text('The object that owns the function; null if none was found')),
    loadingMode: v.optional(v.nullable(choice(['eager', 'lazy'], 'How the driver loads modules'))),
  }),
  'The context of the first process',
);

/** The first process's context function; the proofs compare the owners in all other processes with it. */
function contextDetails([first]: readonly Pick<StartUpAnswer, 'contextFunction' | 'contextOwner' | 'loadingMode'>[]) {
  return { function: first?.contextFunction, owner: first?.contextOwner ?? null, loadingMode: first?.loadingMode };
}

/**
 * How processes can be identified in NVML's list: by the PID itself, by the change around the context, or not at all.
 */
function mapPid({
  pid,
  processesDuring,
  processesAfter,
  mpsClient,
}: StartUpAnswer): 'same' | 'difference' | 'none' | 'stayed' {
  if (!processesDuring || !processesAfter) return 'none';
  if (processesDuring.includes(pid) && processesAfter.includes(pid)) return mpsClient ? 'same' : 'stayed';
  const appeared = processesDuring.filter((other) => !processesAfter.includes(other));
  if (appeared.includes(pid)) return 'same';
  return appeared.length === 1 ? 'difference' : 'none';
}

/** What a document records about the processes besides the times. */
export function startDetails(starts: readonly StartUpAnswer[]) {
  const [first] = starts;
  return { context: contextDetails(starts), pidMapping: first ? mapPid(first) : 'none' };
}

function pidCheck(starts: readonly StartUpAnswer[]): Check {
  const name = 'NVML listed the context and then removed it';
  if (starts.some(({ mpsClient }) => mpsClient))
    return { name, passed: 'not checked', detail: 'NVML lists MPS clients until their processes end' };
  const mappings = starts.map(mapPid);
  const stayed = mappings.filter((mapping) => mapping === 'stayed').length;
  if (stayed > 0) return { name, passed: false, detail: `still listed after its release in ${stayed} processes` };
  if (mappings.includes('none')) return { name, passed: 'not checked', detail: 'NVML does not list the processes' };
  return { name, passed: true, detail: `in ${mappings.length} of ${mappings.length} processes (${mappings[0]})` };
}

export function resultCheck(starts: readonly Pick<StartUpAnswer, 'resultCorrect'>[]): Check {
  return {
    name: 'first result correct',
    passed: starts.every(({ resultCorrect }) => resultCorrect),
    detail: '1 024 words compared on the host',
  };
}

/** Checks that every process really started: a result, a credible time, and a context that came and went. */
export function startChecks(starts: readonly StartUpAnswer[]): Check[] {
  const shortest = Math.min(...starts.map(({ totalNs }) => totalNs));
  return [
    resultCheck(starts),
    {
      name: 'context really created',
      passed: shortest >= SHORTEST_CREDIBLE_NS,
      detail: `shortest start ${(shortest / 1e6).toFixed(1)} ms, at least ${SHORTEST_CREDIBLE_NS / 1e6} ms is credible`,
    },
    pidCheck(starts),
  ];
}
