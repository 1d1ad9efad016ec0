/** OH-006: how much longer a tenant's driver calls take when other processes make the same calls at the same time. */
import { choice, count, interval, quantity, rows, text } from '../core/details.js';
import * as v from 'valibot';
import type { Check, MetricResult, Tier } from '../../results/document.js';
import type { WindowRequest } from '../../native/addon-types.js';
import { hostInfo } from '../../environment/host.js';
import { median } from '../../stats/median.js';
import { summarise } from '../../stats/summary.js';
import { askSession, sessionTaskOf } from '../../workers/session-task.js';
import type { TenantContext, WorkerTenant } from '../../workers/worker-tenant.js';
import {
  invalidBy,
  type LineChart,
  type MeasureContext,
  type Measured,
  type MetricDefinition,
  unsupported,
} from '../core/metric.js';
import { invalidIfHidden, pastLayer } from '../served/bulk.js';
import { type MemorySpan, returnedCheck } from '../core/returned-memory.js';
import { servedBlocks } from '../served/served-blocks.js';
import {
  type Common,
  commonWindow,
  contextOf,
  grown,
  type Populated,
  processContext,
  separable,
  type Topology,
  type SentWindow,
  withTenants,
} from '../tenants/tenants.js';
import { NS_PER_US, scaled } from '../core/units.js';
import { measureFunction } from '../core/measure-function.js';

type Operation = WindowRequest['operation'];

const WINDOW_MS: Record<Tier, number> = { quick: 300, standard: 500, thorough: 5_000 };
const HEADLINE = 'allocFree';
const OPERATIONS = ['allocFree', 'memGetInfo', 'launch'] as const satisfies readonly Operation[];
const MOST_PROCESSES = 8;
const ENOUGH_OPERATIONS = 2_000;
/** Most samples per process and window; if there are more, an evenly spaced part is kept. */
const MOST_SAMPLES = 10_000;
/** Few, because they run before the common time, and calls that take a lock in turn may be slow. */
const WARMUP = 10;
/** Allocations that are compared with those past the layer, and their live blocks: enough for NVML to show. */
const COMPARED = { count: 200, bare: 20, live: 8 } as const;
/** Deadline in addition to the window itself. */
const PATIENCE_MS = 60_000;

const topology = choice(['shared', 'separate'], 'Whether the processes share one tenant or have one each');

const details = v.strictObject({
  rows: rows(
    v.strictObject({
      operation: choice(OPERATIONS, 'The calls that every process repeats'),
      topology,
      processes: count('Processes at once'),
      verified: v.optional(count('How often blocks were written and read back, the fewest of any process')),
      p50Us: v.nullable(quantity('us', "Median over the processes of each one's own median; null if there is none")),
      ci95: interval('us', 'p50Us over the processes'),
      p99Us: v.nullable(
        quantity('us', "Median over the processes of each one's own 99th percentile; null if one has none"),
      ),
      operations: count('Operations, the fewest of any process'),
      commonMs: v.nullable(quantity('ms', 'The time in which all were working; null if there is none')),
      invalid: v.optional(text('Why the row has no times')),
    }),
    'A row per operation, topology and number of processes',
  ),
  leftOut: rows(
    v.strictObject({ topology, processes: count('Processes that did not fit'), reason: text('Why they did not') }),
    'Numbers of processes that were left out',
  ),
  usableCores: count('Processors that the benchmark may use'),
  windowMs: quantity('ms', 'Length of a window'),
  context: v.optional(processContext),
  p99DifferenceUs: v.nullable(quantity('us', 'The value, computed from 99th percentiles; null without them')),
});

export type LockContentionDetails = v.InferOutput<typeof details>;

type Row = LockContentionDetails['rows'][number];

interface Sweep {
  rows: Row[];
  /** Memory before and after, for every process and window of allocations. */
  memory: MemorySpan[];
  /** Why there were not more processes. */
  leftOut: LockContentionDetails['leftOut'][number] | null;
  contexts: readonly TenantContext[];
  /** Whether the driver serves the allocations of the first process. */
  served: readonly Check[];
}

function percentiles({ samples }: Common) {
  const stats = samples.flatMap((of) => summarise(of) ?? []);
  const { value, ci95 } = scaled(median(stats.map(({ p50 }) => p50)), NS_PER_US);
  const tails = stats.flatMap(({ p99 }) => p99 ?? []);
  const p99Us = tails.length === stats.length ? median(tails).value / NS_PER_US : null;
  return { p50Us: value, ci95, p99Us };
}

function rowOf(operation: Operation, topology: Topology, windows: readonly SentWindow[]): Row {
  const verified = operation === HEADLINE ? { verified: Math.min(...windows.map((window) => window.verified)) } : {};
  const head = { operation, topology, processes: windows.length, ...verified };
  const operations = Math.min(...windows.map((window) => window.operations));
  const common = commonWindow(windows);
  if (!common) {
    const invalid = 'not every process made progress while all of them were at work';
    return { ...head, p50Us: null, p99Us: null, ci95: null, operations, commonMs: null, invalid };
  }
  return { ...head, ...percentiles(common), operations, commonMs: (common.toNs - common.fromNs) / 1e6 };
}

const memoryOf = ({ usedBefore, usedAfter }: MemorySpan): MemorySpan => ({ usedBefore, usedAfter });

async function measureRow({ options }: MeasureContext, { scene }: Populated, operation: Operation, topology: Topology) {
  const windowMs = WINDOW_MS[options.tier];
  const params = {
    operation,
    bytes: 0,
    windowNs: windowMs * 1e6,
    warmup: options.warmup ?? WARMUP,
    mostSamples: MOST_SAMPLES,
  };
  const windows = await scene.together<SentWindow>(sessionTaskOf('window', params), windowMs + PATIENCE_MS);
  return { row: rowOf(operation, topology, windows), memory: operation === HEADLINE ? windows.map(memoryOf) : [] };
}

/** The same allocation as in the windows, behind them: a layer may have taken memory there that it still gives out. */
async function servedIn(tenant: WorkerTenant): Promise<readonly Check[]> {
  const ask = (count: number, bare: boolean) =>
    askSession(tenant, {
      name: 'allocationBlock',
      request: { api: 'cuMemAlloc', bytes: 0, live: COMPARED.live, count, warmup: WARMUP, bare },
      deadlineMs: PATIENCE_MS,
    });
  const bare = await pastLayer(() => ask(COMPARED.bare, true));
  const blocks = [await ask(COMPARED.count, false)];
  return servedBlocks([{ call: 'cuMemAlloc of a granule', api: 'cuMemAlloc', blocks, bare: [bare] }]);
}

function sweep(context: MeasureContext, topology: Topology, counts: readonly number[], done: (row: Row) => void) {
  return withTenants(context, { topology }, async (populated): Promise<Sweep> => {
    const rows: Row[] = [];
    const memory: MemorySpan[] = [];
    const swept = async (leftOut: Sweep['leftOut']): Promise<Sweep> => {
      const [first] = populated.scene.workers;
      const { contexts } = populated.scene;
      return { rows, memory, leftOut, contexts, served: first ? await servedIn(first) : [] };
    };
    for (const processes of counts) {
      const reason = await grown(populated, processes);
      if (reason !== null) return swept({ topology, processes, reason });
      for (const operation of OPERATIONS) {
        const measured = await measureRow(context, populated, operation, topology);
        rows.push(measured.row);
        memory.push(...measured.memory);
        done(measured.row);
      }
    }
    return swept(null);
  });
}

/** 1, 2, 4, 8, as long as each has a processor; only `thorough` uses more than the ends. */
function processCounts(cores: number, tier: Tier): number[] {
  const counts = [1, 2, 4, MOST_PROCESSES].filter((count) => count <= cores);
  return tier === 'thorough' ? counts : counts.filter((count, i) => count === 1 || i === counts.length - 1);
}

function checksOf(rows: readonly Row[]): Check[] {
  const name = ({ operation, topology, processes }: Row) => `${operation} of ${processes} ${topology}`;
  const stuck = rows.filter(({ invalid }) => invalid !== undefined).map(name);
  const few = rows.filter(({ operations }) => operations < ENOUGH_OPERATIONS);
  const ownCount = (row: Row) => `${name(row)} (${row.operations})`;
  return [
    {
      name: 'every process progressed in the common window',
      passed: stuck.length === 0,
      detail: stuck.join(', ') || `in ${rows.length} windows`,
    },
    {
      name: `at least ${ENOUGH_OPERATIONS} operations a process`,
      passed: few.length === 0,
      detail: few.map(ownCount).join(', ') || `in ${rows.length} windows`,
    },
  ];
}

function judge(
  rows: readonly Row[],
  returned: Check,
  served: readonly Check[],
  found: Omit<LockContentionDetails, 'p99DifferenceUs'>,
): Measured<LockContentionDetails> {
  const headline = rows.filter(({ operation, topology }) => operation === HEADLINE && topology === 'shared');
  const [alone, most] = [headline[0], headline.at(-1)];
  if (!alone || !most || most.processes < 2) return unsupported('fewer than 2 processes fit into memory', found);
  const bad = [alone, most].find(({ invalid }) => invalid !== undefined);
  const growth = (a: number | null, b: number | null) => (a === null || b === null ? null : b - a);
  return {
    ...invalidBy([returned]),
    ...invalidIfHidden(served),
    ...(bad && { status: 'invalid' as const, reason: `${bad.processes} processes: ${bad.invalid}` }),
    value: growth(alone.p50Us, most.p50Us),
    // One set of processes says nothing about another.
    ci95: null,
    ciScope: 'between-processes',
    processes: most.processes,
    headline: null,
    details: { ...found, p99DifferenceUs: growth(alone.p99Us, most.p99Us) },
    checks: [...checksOf(rows), returned, ...served],
  };
}

/** The processes in the row that is compared with a single process. */
function mostProcesses({ rows }: MetricResult['details']): unknown {
  const measured = Array.isArray(rows) ? (rows as Partial<Row>[]) : [];
  return measured.findLast(({ operation, topology }) => operation === HEADLINE && topology === 'shared')?.processes;
}

const contention = (operation: Operation, title: string): LineChart => ({
  title,
  axes: { x: 'processes at once', y: 'us, median' },
  rows: 'rows',
  point: { x: 'processes', y: 'p50Us' },
  where: { operation, topology: 'shared' },
});

export const lockContention: MetricDefinition<LockContentionDetails> = {
  id: 'OH-006',
  name: 'Shared Region Lock Contention',
  category: 'overhead',
  unit: 'us',
  direction: 'lower',
  question: 'How many tenants can allocate at the same time before they delay one another?',
  estimator: 'median over processes of their medians, with the most processes at once − with one alone',
  // About the cost of putting a waiting thread to sleep and waking it: with less, no process waited.
  delta: { absolute: 5 },
  comparedAt: { name: 'number of processes', of: mostProcesses },
  needs: ['several processes', 'two usable processors'],
  costOf: 'allocation beside other processes of a tenant',
  functionName: 'measureLockContention',
  where: 'fresh-processes',
  lineCharts: [
    contention('allocFree', 'Allocation and free against processes'),
    contention('memGetInfo', 'Asking for free memory against processes'),
    contention('launch', 'Launch against processes'),
  ],
  details,
  seconds: { quick: 6, standard: 14, thorough: 135 },
  async measure(context) {
    const { usableCores } = hostInfo();
    const { tier } = context.options;
    const counts = processCounts(usableCores, tier);
    if (counts.length < 2) return unsupported('fewer than 2 usable processors', { usableCores });
    const topologies: Topology[] = tier !== 'quick' && separable(context.system) ? ['shared', 'separate'] : ['shared'];
    const sweeps: Sweep[] = [];
    const total = topologies.length * counts.length * OPERATIONS.length;
    let measured = 0;
    const done = ({ operation, topology, processes }: Row) =>
      context.progress(`${operation}, ${processes} ${topology}`, ++measured / total);
    for (const topology of topologies) sweeps.push(await sweep(context, topology, counts, done));
    const rows = sweeps.flatMap((of) => of.rows);
    const leftOut = sweeps.flatMap((of) => of.leftOut ?? []);
    const entered = contextOf({ contexts: sweeps.flatMap(({ contexts }) => contexts) });
    const returned = returnedCheck(sweeps.flatMap(({ memory }) => memory));
    const served = sweeps[0]?.served ?? [];
    return judge(rows, returned, served, { rows, leftOut, usableCores, windowMs: WINDOW_MS[tier], context: entered });
  },
};

/**
 * OH-006, µs, signed: how much longer cuMemAlloc and cuMemFree of one granule take when 2, 4 or 8 processes (at most
 * one per processor) do the same at once; `details.rows[]` has every operation, topology and number of processes.
 * Processes repeat the operation for the tier's time, so `iterations` and `resolution` do not apply.
 */
export const measureLockContention = measureFunction(lockContention);
