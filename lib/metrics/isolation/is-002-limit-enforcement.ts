/** IS-002: how long a refusal takes, for a request just beyond the limit and one far beyond it. */
import * as v from 'valibot';
import { choice, count, described, interval, quantity, rows, text } from '../core/details.js';
import type { MemoryPath, Refusals, RefusalsRequest } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { serialMedian } from '../../stats/serial.js';
import { summarise } from '../../stats/summary.js';
import { invalidBy, type Measured, type MeasureContext, type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { rowState } from '../core/row-state.js';
import { GIB, MIB, NS_PER_US, scaled, scaledSamples } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { evictionRow, type EvictionRow, evictionRows } from './memory-eviction.js';
import { inMemoryTenant, type MemoryTenant, underShares } from './shared/memory-tenant.js';

const APIS: readonly MemoryPath[] = ['cuMemAlloc_v2', 'cuMemAllocAsync'];
/** Requests per row. A p99 needs 299. */
const REQUESTS = { quick: 300, standard: 300, thorough: 1_000 } as const;
/** Time limit of a row, after which it stops early: MPS takes 50 ms to refuse cuMemAllocAsync beyond its limit. */
const MOST_NS_OF_ROW = { quick: 1e9, standard: 5e9, thorough: 60e9 } as const;
/** How much of the limit is left (less if the context counts too) before the request that slightly exceeds it. */
const MARGIN = 64 * MIB;
const MARGINAL = MARGIN + MIB;
/** How much the held memory may change without a block of ours. */
const DRIFT = 4 * MIB;

interface Row {
  api: string;
  request: 'marginal' | 'gross';
  limitBytes: number;
  /** Size of a request. */
  bytes: number;
  /** Held by the tenant's allocations during the requests. */
  heldBytes: number;
  refusals: Refusals | null;
  /** Change of the held memory by the coordinator's NVML; null if NVML does not report it. */
  drift: number | null;
  /** Why it was not measured. */
  reason?: string;
}

interface Tried {
  rows: Row[];
  /** The code of repeating the latest allocation after it was freed. */
  again: number | null;
}

async function tryRow(
  tenant: MemoryTenant,
  row: Omit<Row, 'refusals' | 'drift' | 'limitBytes'>,
  { count, mostNs }: Pick<RefusalsRequest, 'count' | 'mostNs'>,
): Promise<Row> {
  const common = { ...row, limitBytes: tenant.limitBytes };
  const before = await tenant.held();
  try {
    const refusals = await tenant.refusals({ path: row.api as MemoryPath, bytes: row.bytes, count, mostNs });
    const after = await tenant.held();
    return { ...common, refusals, drift: before === null || after === null ? null : after - before };
  } catch (error) {
    const state = rowState(error);
    if (!state) throw error;
    return { ...common, refusals: null, drift: null, reason: Object.values(state)[0] as string };
  }
}

async function tryAll(context: MeasureContext, tenant: MemoryTenant): Promise<Tried> {
  const { limitBytes } = tenant;
  const { iterations, tier } = context.options;
  const howMany =
    iterations === null
      ? { count: REQUESTS[tier], mostNs: MOST_NS_OF_ROW[tier] }
      : { count: iterations, mostNs: Number.MAX_SAFE_INTEGER };
  const tried: Row[] = [];
  const free = (await context.truth?.cardMemory())?.freeBytes ?? null;
  const gross = limitBytes + GIB;
  for (const api of APIS) {
    context.progress(`${api}, gross`, tried.length / 4);
    const row = { api, request: 'gross' as const, bytes: gross, heldBytes: 0 };
    // A refusal by a full card would say nothing about the limit, unless its end is the limit.
    if (free !== null && free < gross + GIB && !tenant.ownsMemory)
      tried.push({ ...row, limitBytes, refusals: null, drift: null, reason: 'the card itself has no room for it' });
    else tried.push(await tryRow(tenant, row, howMany));
  }
  const { grantedBytes, end } = await tenant.fill('cuMemAlloc_v2', { mostBytes: Math.max(0, limitBytes - MARGIN) });
  for (const api of APIS) {
    context.progress(`${api}, marginal`, tried.length / 4);
    const row = { api, request: 'marginal' as const, bytes: MARGINAL, heldBytes: grantedBytes };
    if (end === 'spare' || end === 'blocks')
      tried.push({ ...row, limitBytes, refusals: null, drift: null, reason: 'the limit could not be reached' });
    else tried.push(await tryRow(tenant, row, howMany));
  }
  const { again } = await tenant.release();
  return { rows: tried, again };
}

const isHeadline = ({ api, request }: Row): boolean => api === APIS[0] && request === 'marginal';

function describe({ refusals, drift, reason, ...row }: Row) {
  if (!refusals) return { ...row, unsupported: reason };
  const { refusedNs, granted, others } = refusals;
  const time = refusedNs.length > 0 ? scaled(serialMedian(refusedNs), NS_PER_US) : null;
  const p99 = summarise(refusedNs)?.p99 ?? null;
  return {
    ...row,
    medianUs: time?.value ?? null,
    ci95: time?.ci95 ?? null,
    p99Us: p99 === null ? null : p99 / NS_PER_US,
    refused: refusedNs.length,
    accepted: granted,
    wrong_error: others.map(({ name, code, count }) => ({ name, code, count })),
    driftBytes: drift,
  };
}

function accepted({ api, request, bytes, heldBytes, limitBytes, refusals }: Row): string[] {
  if (!refusals || refusals.granted === 0) return [];
  const beside = request === 'gross' ? '' : ` beside ${formatBytes(heldBytes)} held`;
  return [`${api}: ${formatBytes(bytes)} granted${beside} under a limit of ${formatBytes(limitBytes)}`];
}

function checksOf(tried: readonly Tried[]): Check[] {
  const rows = tried.flatMap((each) => each.rows);
  const wrong = rows.flatMap(({ api, request, refusals }) =>
    (refusals?.others ?? []).map(({ name, code, count }) => `${api}, ${request}: ${name} (${code}) ${count} times`),
  );
  const drifts = rows.flatMap(({ drift }) => (drift === null ? [] : [Math.abs(drift)]));
  const lost = tried.filter(({ again }) => again !== null && again !== 0);
  return [
    {
      name: 'refusals answer CUDA_ERROR_OUT_OF_MEMORY',
      passed: wrong.length === 0,
      detail: wrong.join('; ') || 'every one',
    },
    {
      name: 'refusals take no memory',
      passed: drifts.length === 0 ? 'not checked' : drifts.every((drift) => drift <= DRIFT),
      detail:
        drifts.length === 0
          ? 'the coordinator cannot see the memory of individual processes'
          : `at most ${formatBytes(Math.max(...drifts))} by NVML`,
    },
    {
      name: 'an allocation works after a refusal',
      passed: lost.length === 0,
      detail: lost.length === 0 ? 'as large as the one freed' : `code ${lost[0]?.again} after the last block was freed`,
    },
  ];
}

function judge(tried: readonly Tried[], evictions?: EvictionRow[]): Measured<LimitEnforcementDetails> {
  const all = tried.flatMap((each) => each.rows);
  const checks = checksOf(tried);
  const violations = all.flatMap(accepted);
  const found = { rows: all.map(describe), ...(evictions && { evictions }) };
  const common = { ci95: null, headline: null, details: found, checks, violations };
  const [first] = violations;
  if (first !== undefined) return { ...common, status: 'failed', reason: `limit not enforced: ${first}`, value: null };
  const headlines = all.filter(isHeadline);
  const untried = headlines.find(({ refusals }) => refusals === null);
  if (untried) return { ...common, status: 'unsupported', reason: `${untried.api}: ${untried.reason}`, value: null };
  const refusedNs = Float64Array.from(headlines.flatMap(({ refusals }) => refusals?.refusedNs ?? []));
  const [codes, ...others] = checks as [Check, ...Check[]];
  // If some returned the right code, their times are known; the others are flagged.
  if (refusedNs.length === 0)
    return { ...common, status: 'invalid', reason: `${codes.name}: ${codes.detail}`, value: null };
  const { value, ci95 } = scaled(serialMedian(refusedNs), NS_PER_US);
  return { ...common, ...invalidBy(others), value, ci95, headline: scaledSamples(refusedNs, NS_PER_US) };
}

const request = {
  api: text('The allocation call'),
  request: choice(['marginal', 'gross'], 'A request slightly beyond the limit, or far beyond it'),
  bytes: count('Size of a request (bytes)'),
  heldBytes: count("Held by the tenant's allocations meanwhile (bytes)"),
  limitBytes: count('The limit (bytes)'),
};

const details = v.strictObject({
  rows: rows(
    v.union([
      v.strictObject({
        ...request,
        medianUs: v.nullable(quantity('us', 'Median time of a refusal; null without any')),
        ci95: interval('us', 'medianUs'),
        p99Us: v.nullable(quantity('us', '99th percentile of the time of a refusal; null with too few')),
        refused: count('Refusals'),
        accepted: count('Requests that were granted'),
        wrong_error: rows(
          v.strictObject({
            name: text('Name of the code'),
            code: described(v.number(), 'The code'),
            count: count('How often'),
          }),
          'Refusals with another code than CUDA_ERROR_OUT_OF_MEMORY',
        ),
        driftBytes: v.nullable(
          described(
            v.number(),
            "Change of the held memory, by the coordinator's NVML (bytes); null if it does not say",
          ),
        ),
      }),
      v.strictObject({ ...request, unsupported: v.optional(text('Why it was not measured')) }),
    ]),
    'A row per call and request',
  ),
  evictions: v.optional(
    rows(evictionRow, 'How long a tenant waits for memory that another one loses, where tenants have a soft limit'),
  ),
});

export type LimitEnforcementDetails = v.InferOutput<typeof details>;

export const limitEnforcement: MetricDefinition<LimitEnforcementDetails> = {
  id: 'IS-002',
  name: 'Memory Limit Enforcement',
  category: 'isolation',
  unit: 'us',
  direction: 'lower',
  question: 'How fast does a caching allocator learn that it must evict?',
  estimator: 'median time of a refusal of 65 MiB where at most 64 MiB are left, by cuMemAlloc',
  delta: { relative: 0.1 },
  values: { grid: 0.001 },
  needs: ['a memory limit', 'fresh processes'],
  functionName: 'measureLimitEnforcement',
  where: 'fresh-processes',
  details,
  seconds: { quick: 2, standard: 2, thorough: 15 },
  async measure(context) {
    const limitBytes = context.system.limits().memoryBytes;
    if (limitBytes === null) return unsupported('no memory limit is configured');
    const tried = [await inMemoryTenant(context, limitBytes, (tenant) => tryAll(context, tenant))];
    await underShares(context, async (tenant) => void tried.push(await tryAll(context, tenant)));
    return { ...judge(tried, await evictionRows(context)), processes: tried.length };
  },
};

/**
 * IS-002, µs: how long cuMemAlloc takes to refuse a request slightly beyond the memory limit; `details.rows[]` also has
 * the stream-ordered allocator and requests far beyond the limit. It needs a system that sets a limit: in the current
 * environment it is `unsupported`; use `compareSystems`.
 */
export const measureLimitEnforcement = measureFunction(limitEnforcement);
