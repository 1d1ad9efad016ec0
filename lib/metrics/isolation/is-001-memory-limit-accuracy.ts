/** IS-001: how much of a memory limit a tenant can use, and which ways to allocate exceed it. */
import * as v from 'valibot';
import { count, described, quantity, rows } from '../core/details.js';
import type { MemoryPath } from '../../native/addon-types.js';
import { invalidBy, type Measured, type MeasureContext, type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { inScene } from '../tenants/scene.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { brokenSoftLimits, evictionRow, evictionRows, type EvictionRow } from './memory-eviction.js';
import { memoryChecks, returnedCheck } from './shared/memory-checks.js';
import { type FilledPath, filledRow, fillPath, orLost, pathRow, violationOf } from './shared/memory-paths.js';
import { enterMemoryTenant, inMemoryTenant, type MemoryTenant, underShares } from './shared/memory-tenant.js';
import { fillTogether, TWO_PROCESSES } from './shared/memory-together.js';

const HEADLINE: MemoryPath = 'cuMemAlloc_v2';
/** One process tries these one after the other; IS-011 tries all, each in its own process. */
const PATHS: readonly MemoryPath[] = [
  HEADLINE,
  'cuMemAllocPitch_v2',
  'cuMemAllocManaged',
  'cuMemCreate',
  'cuMemAllocAsync',
  'cuMemAllocFromPoolAsync',
  'cuArrayCreate_v2',
  'many small blocks',
];

interface Point {
  limitBytes: number;
  paths: FilledPath[];
}

/** Removes from `paths` those it tries in one process; memory that is not given back ends the process. */
async function fillSome(context: MeasureContext, tenant: MemoryTenant, paths: MemoryPath[]): Promise<FilledPath[]> {
  const { limitBytes } = tenant;
  const filled: FilledPath[] = [];
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
    context.progress(`${path} of ${formatBytes(limitBytes)}`, 1 - (paths.length + 1) / (PATHS.length + 1));
    const fill = fillPath(tenant, path);
    const latest = path === HEADLINE ? await fill : await orLost(path, limitBytes, fill);
    filled.push(latest);
    if (latest.notReturned !== null) break;
  }
  return filled;
}

/** Measures under the system's own limit, including two processes of one tenant. */
async function ownPoint(context: MeasureContext, limitBytes: number): Promise<Point> {
  const left = [...PATHS];
  const paths: FilledPath[] = [];
  while (left.length > 0)
    paths.push(...(await inMemoryTenant(context, limitBytes, (tenant) => fillSome(context, tenant, left))));
  context.progress(TWO_PROCESSES, PATHS.length / (PATHS.length + 1));
  const together = await inScene(context, async (scene) => {
    const enter = () => enterMemoryTenant(scene, context, limitBytes);
    return fillTogether(context, await enter(), enter);
  });
  return { limitBytes, paths: [...paths, filledRow(together)] };
}

/** Measures under limits of several shares of the card; empty if the system's tenants cannot have other limits. */
async function otherPoints(context: MeasureContext): Promise<Point[]> {
  const points: Point[] = [];
  await underShares(context, async (tenant) => {
    points.push({ limitBytes: tenant.limitBytes, paths: await fillSome(context, tenant, [...PATHS]) });
  });
  return points;
}

/** 100 if exactly the limit could be used. */
const accuracyOf = (usedBytes: number, limitBytes: number): number =>
  100 * (1 - Math.abs(usedBytes - limitBytes) / limitBytes);

function describePoint({ limitBytes, paths: [headline] }: Point) {
  const usedBytes = headline?.row.usedBytes ?? null;
  return {
    limitBytes,
    accuracyPercent: usedBytes === null ? null : accuracyOf(usedBytes, limitBytes),
    signedErrorBytes: usedBytes === null ? null : usedBytes - limitBytes,
    contextBytes: headline?.row.beforeBytes ?? null,
    fillMs: (headline?.fill?.tookNs ?? 0) / 1e6,
  };
}

function judge(points: readonly Point[], evictions?: EvictionRow[]): Measured<MemoryLimitDetails> {
  const filled = points.flatMap(({ paths }) => paths);
  const paths = filled.map(({ row }) => row);
  const headlines = points.map(({ paths }) => paths[0] as FilledPath);
  const decisive = memoryChecks(filled, headlines);
  const checks = [...decisive, returnedCheck(filled)];
  const accuracies = points.map(describePoint);
  const violations = [
    ...paths.flatMap((row) => violationOf(row) ?? []),
    ...(evictions ?? []).flatMap(brokenSoftLimits),
  ];
  const found = { points: accuracies, paths, ...(evictions && { evictions }) };
  const unlimited = headlines.find(({ fill }) => fill?.end === 'enough');
  const common = { ci95: null, checks, details: found, violations };
  if (unlimited) {
    const reason = `limit not enforced: ${formatBytes(unlimited.row.grantedBytes ?? 0)} were granted under a limit of ${formatBytes(unlimited.row.limitBytes)}, and nothing was refused`;
    return { ...common, status: 'failed' as const, reason, value: null, headline: null };
  }
  const untried = headlines.find(({ row }) => row.outcome === 'unsupported');
  if (untried)
    return {
      ...common,
      status: 'unsupported',
      reason: `${HEADLINE}: ${untried.row.reason}`,
      value: null,
      headline: null,
    };
  const values = accuracies.flatMap(({ accuracyPercent }) => accuracyPercent ?? []);
  const value = values.reduce((sum, each) => sum + each, 0) / values.length;
  return { ...common, ...invalidBy(decisive), value, headline: Float64Array.from(values) };
}

const details = v.strictObject({
  points: rows(
    v.strictObject({
      limitBytes: count('The limit (bytes)'),
      accuracyPercent: v.nullable(
        quantity('%', 'How close the memory that can be held is to the limit; null if it is not known'),
      ),
      signedErrorBytes: v.nullable(
        described(v.number(), 'Held beyond the limit, signed (bytes); null if it is not known'),
      ),
      contextBytes: v.nullable(count('Held by the context alone (bytes); null if NVML does not say')),
      fillMs: quantity('ms', 'Time until nothing more was granted'),
    }),
    'A row per limit, for cuMemAlloc',
  ),
  paths: rows(pathRow, 'A row per way of allocating'),
  evictions: v.optional(rows(evictionRow, 'Who loses memory on a full card, where tenants have a soft limit')),
});

export type MemoryLimitDetails = v.InferOutput<typeof details>;

export const memoryLimitAccuracy: MetricDefinition<MemoryLimitDetails> = {
  id: 'IS-001',
  name: 'Memory Limit Accuracy',
  category: 'isolation',
  unit: '%',
  direction: 'higher',
  question: 'How much of a memory limit can really be used, and which ways of allocating escape it?',
  estimator: '100 × (1 − |held − limit| / limit), held by cuMemAlloc and its context when no more is granted',
  delta: { absolute: 1 },
  values: { grid: 0.1 },
  needs: ['a memory limit', 'fresh processes'],
  functionName: 'measureMemoryLimit',
  where: 'fresh-processes',
  details,
  seconds: { quick: 5, standard: 5, thorough: 25 },
  async measure(context) {
    const limitBytes = context.system.limits().memoryBytes;
    if (limitBytes === null) return unsupported('no memory limit is configured');
    const points = [await ownPoint(context, limitBytes), ...(await otherPoints(context))];
    return judge(points, await evictionRows(context));
  },
};

/**
 * IS-001, %: how close the memory that a tenant can hold by cuMemAlloc is to its limit; `details.paths[]` has what each
 * allocation path was granted. It needs a system that sets a limit: in the current environment it is `unsupported`; use
 * `compareSystems`.
 */
export const measureMemoryLimit = measureFunction(memoryLimitAccuracy);
