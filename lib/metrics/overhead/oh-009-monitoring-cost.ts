/** OH-009: the processor time that the threads and processes of driver and layer use in an idle tenant. */
import * as v from 'valibot';
import { count, described, quantity, rows, text } from '../core/details.js';
import { setTimeout as delay } from 'node:timers/promises';
import type { Check, Tier } from '../../results/document.js';
import { median } from '../../stats/median.js';
import type { TenantContext } from '../../workers/worker-tenant.js';
import type { ThreadReading, ThreadUse } from '../../workers/threads.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { contextOf, grown, type Populated, processContext, separable, withTenants } from '../tenants/tenants.js';
import { measureFunction } from '../core/measure-function.js';

const WINDOW_MS: Record<Tier, number> = { quick: 2_000, standard: 5_000, thorough: 30_000 };
const COUNTS: Record<Tier, readonly number[]> = { quick: [1], standard: [1, 4], thorough: [1, 4] };
/** Pause between the last tenant's context and the window, so that work in progress finishes. */
const SETTLE_MS = 500;
const DEADLINE_MS = 30_000;
const AGREEMENT = 0.05;
/** The longest scheduler tick (100 Hz): a running thread's account may lag this much behind. */
const TICK_NS = 10_000_000;
/** Limit in per cent of one processor; an idle Node process and two short requests use less. */
const MOST_OWN_PERCENT = 0.5;

const THREADS = { method: 'threads', params: {} };

interface Answer {
  beforeDriver: ThreadReading | null;
  now: ThreadReading | null;
}

/** One tenant in the window. */
interface Idle {
  wallNs: number;
  processCpuNs: number;
  /** Threads of the harness: they existed before the first driver call. */
  own: ThreadUse[];
  others: ThreadUse[];
  /** Threads of the processes that the tenant started, and the processor time of those that have ended. */
  descendants: ThreadUse[];
  endedCpuNs: number;
  listed: boolean;
  rssGrowthBytes: number;
}

function spent(from: readonly ThreadUse[], to: readonly ThreadUse[]): ThreadUse[] {
  const earlier = new Map(from.map((thread) => [thread.tid, thread]));
  return to.map((thread) => {
    const { cpuNs = 0, sleeps = 0 } = earlier.get(thread.tid) ?? {};
    return { ...thread, cpuNs: thread.cpuNs - cpuNs, sleeps: thread.sleeps - sleeps };
  });
}

/** Null if /proc could not be read. */
function idleOf(from: Answer, to: Answer): Idle | null {
  const { beforeDriver } = from;
  if (!beforeDriver || !from.now || !to.now) return null;
  const ownIds = new Set(beforeDriver.threads.map(({ tid }) => tid));
  const all = spent(from.now.threads, to.now.threads);
  return {
    wallNs: to.now.atNs - from.now.atNs,
    processCpuNs: to.now.processCpuNs - from.now.processCpuNs,
    own: all.filter(({ tid }) => ownIds.has(tid)),
    others: all.filter(({ tid }) => !ownIds.has(tid)),
    descendants: spent(from.now.descendants ?? [], to.now.descendants ?? []),
    endedCpuNs: to.now.endedCpuNs - from.now.endedCpuNs,
    listed: to.now.descendants !== null,
    rssGrowthBytes: to.now.rssBytes - beforeDriver.rssBytes,
  };
}

const total = (threads: readonly ThreadUse[], what: 'cpuNs' | 'sleeps') =>
  threads.reduce((sum, thread) => sum + thread[what], 0);

const percentOf = (cpuNs: number, { wallNs }: Idle) => (100 * cpuNs) / wallNs;

/** Threads of driver and layer. */
const theirs = ({ others, descendants }: Idle) => [...others, ...descendants];

/** Medians over the tenants. */
function rowOf(tenants: readonly Idle[]) {
  const over = (value: (idle: Idle) => number) => median(tenants.map(value)).value;
  return {
    processes: tenants.length,
    cpuPercent: over((idle) => percentOf(total(theirs(idle), 'cpuNs') + idle.endedCpuNs, idle)),
    wakeupsPerSecond: over((idle) => (1e9 * total(theirs(idle), 'sleeps')) / idle.wallNs),
    rssGrowthBytes: over(({ rssGrowthBytes }) => rssGrowthBytes),
    ownCpuPercent: over((idle) => percentOf(total(idle.own, 'cpuNs'), idle)),
  };
}

async function watch({ signal, options }: MeasureContext, { scene }: Populated): Promise<(Idle | null)[]> {
  await delay(SETTLE_MS, undefined, { signal });
  const from = await scene.each<Answer>(THREADS, DEADLINE_MS);
  await delay(WINDOW_MS[options.tier], undefined, { signal });
  const to = await scene.each<Answer>(THREADS, DEADLINE_MS);
  return to.map((answer, i) => idleOf(from[i] as Answer, answer));
}

function checksOf(tenants: readonly Idle[]): Check[] {
  const gaps = tenants.map(({ own, others, processCpuNs }) => {
    const ns = Math.abs(total([...own, ...others], 'cpuNs') - processCpuNs);
    return { ns, allowed: Math.max(AGREEMENT * processCpuNs, TICK_NS) };
  });
  const own = Math.max(...tenants.map((idle) => percentOf(total(idle.own, 'cpuNs'), idle)));
  const milliseconds = (ns: number) => `${(ns / 1e6).toFixed(2)} ms`;
  const widest = gaps.reduce((a, b) => (b.ns - b.allowed > a.ns - a.allowed ? b : a));
  return [
    {
      name: 'processes that the tenant started are counted',
      passed: tenants.every(({ listed }) => listed) || 'not checked',
      detail: tenants.every(({ listed }) => listed)
        ? `${tenants.reduce((sum, { descendants }) => sum + descendants.length, 0)} threads of theirs`
        : 'the kernel does not list the children of a process (CONFIG_PROC_CHILDREN)',
    },
    {
      name: "the threads' times add up to the process's",
      passed: widest.ns <= widest.allowed,
      detail: `within ${milliseconds(widest.ns)}; ${milliseconds(widest.allowed)} is 5 % or a tick of 10 ms`,
    },
    {
      name: 'the threads from before the first driver call were idle',
      passed: own <= MOST_OWN_PERCENT,
      detail: `${own.toFixed(3)} % of a processor, at most ${MOST_OWN_PERCENT} % is our own`,
    },
  ];
}

const namedThreads = (idle: Idle) =>
  theirs(idle).map(({ tid, comm, cpuNs, sleeps }) => ({ tid, comm, cpuMs: cpuNs / 1e6, wakeups: sleeps }));

interface Swept {
  byCount: Idle[][];
  /** Why there were not more tenants. */
  leftOut: { processes: number; reason: string } | null;
  context: TenantContext | undefined;
}

/** Null if /proc could not be read. */
async function sweep(context: MeasureContext, populated: Populated): Promise<Swept | null> {
  const counts = COUNTS[context.options.tier];
  const byCount: Idle[][] = [];
  for (const [i, processes] of counts.entries()) {
    const reason = await grown(populated, processes);
    if (reason !== null) return { byCount, leftOut: { processes, reason }, context: contextOf(populated.scene) };
    context.progress(`${processes} idle`, i / counts.length);
    const tenants = await watch(context, populated);
    const readable = tenants.flatMap((idle) => idle ?? []);
    if (readable.length < tenants.length) return null;
    byCount.push(readable);
  }
  return { byCount, leftOut: null, context: contextOf(populated.scene) };
}

function judge({ byCount, leftOut, context }: Swept, windowMs: number): Measured<NvmlPollingDetails> {
  const [alone] = byCount;
  if (!alone) return unsupported('no process fits into memory', { leftOut });
  const rows = byCount.map(rowOf);
  const checks = checksOf(byCount.flat());
  return {
    ...invalidBy(checks),
    value: rows[0]?.cpuPercent ?? null,
    ci95: null,
    headline: null,
    details: { rows, threads: alone.flatMap(namedThreads), leftOut, windowMs, context },
    checks,
  };
}

const details = v.strictObject({
  rows: rows(
    v.strictObject({
      processes: count('Idle tenants'),
      cpuPercent: quantity(
        '%',
        'Processor time of the threads and processes of driver and layer, of one processor: median over tenants',
      ),
      wakeupsPerSecond: described(v.number(), 'How often they woke up per second: median over tenants'),
      rssGrowthBytes: described(
        v.number(),
        'Growth of resident memory since before the first driver call: median over tenants (bytes)',
      ),
      ownCpuPercent: quantity('%', "Processor time of the benchmark's own threads: median over tenants"),
    }),
    'A row per number of idle tenants',
  ),
  threads: rows(
    v.strictObject({
      tid: count('Its id'),
      comm: text('Its name'),
      cpuMs: quantity('ms', 'Processor time in the window'),
      wakeups: count('How often it woke up in the window'),
    }),
    'A row per thread of driver and layer, of the tenant that is alone',
  ),
  leftOut: v.nullable(
    described(
      v.strictObject({ processes: count('Tenants that did not fit'), reason: text('Why they did not') }),
      'Why there were not more tenants; null if there were',
    ),
  ),
  windowMs: quantity('ms', 'Length of the window'),
  context: v.optional(processContext),
});

export type NvmlPollingDetails = v.InferOutput<typeof details>;

export const monitoringCost: MetricDefinition<NvmlPollingDetails> = {
  id: 'OH-009',
  name: 'NVML Polling Overhead',
  category: 'overhead',
  unit: '%',
  direction: 'lower',
  question: 'How much host CPU does an idle tenant use?',
  estimator:
    'processor time of the threads and processes that driver and layer started in one idle tenant, per wall time',
  // Per cent of one processor: at this level fifty idle tenants on a node use a twentieth of a processor.
  delta: { absolute: 0.1 },
  needs: ['fresh processes', 'a readable /proc'],
  costOf: 'processor time of an idle tenant',
  functionName: 'measureNvmlPolling',
  where: 'fresh-processes',
  details,
  seconds: { quick: 4, standard: 15, thorough: 66 },
  async measure(context) {
    const topology = separable(context.system) ? 'separate' : 'shared';
    const swept = await withTenants(context, { topology }, (populated) => sweep(context, populated));
    return swept ? judge(swept, WINDOW_MS[context.options.tier]) : unsupported('/proc/self/task cannot be read');
  },
};

/**
 * OH-009, %: processor time of the threads and processes that driver and layer started in one idle tenant, of one processor;
 * `details.threads[]` has them by name, `details.rows[]` four tenants too. `iterations`, `warmup` and `resolution` do not
 * apply.
 */
export const measureNvmlPolling = measureFunction(monitoringCost);
