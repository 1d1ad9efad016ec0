/** IS-011: which ways to allocate honour a memory limit, each tried in its own process. */
import * as v from 'valibot';
import { rows } from '../core/details.js';
import type { MemoryPath } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { invalidBy, type MeasureContext, type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { inScene } from '../tenants/scene.js';
import { deathCheck, memoryCheck, returnedCheck } from './shared/memory-checks.js';
import {
  type FilledPath,
  filledRow,
  fillPath,
  orLostTwice,
  type PathRow,
  pathRow,
  violationOf,
} from './shared/memory-paths.js';
import { enterMemoryTenant, inMemoryTenant } from './shared/memory-tenant.js';
import { fillByImport, IPC_IMPORT } from './shared/memory-together.js';

const PATHS: readonly MemoryPath[] = [
  'cuMemAlloc_v2',
  'cuMemAllocPitch_v2',
  'cuMemAllocManaged',
  'cuMemCreate',
  'cuMemCreate, handle released',
  'imported shareable handle',
  'cuMemAllocAsync',
  'cuMemAllocFromPoolAsync',
  'cuArrayCreate_v2',
  'cuArray3DCreate_v2',
  'cuMipmappedArrayCreate',
  'graph memory node',
  'module global',
  'many small blocks',
  'pinned host memory',
];

const imported = (context: MeasureContext, limitBytes: number): Promise<FilledPath> =>
  inScene(context, async (scene) => {
    const enter = () => enterMemoryTenant(scene, context, limitBytes);
    const { row, noMemory } = await fillByImport(context, await enter(), enter);
    return { ...filledRow(row), noMemory };
  });

async function fillAll(context: MeasureContext, limitBytes: number): Promise<FilledPath[]> {
  const filled: FilledPath[] = [];
  const total = PATHS.length + 1;
  for (const path of PATHS) {
    context.progress(path, filled.length / total);
    const fill = () => inMemoryTenant(context, limitBytes, (tenant) => fillPath(tenant, path));
    filled.push(await orLostTwice(path, limitBytes, fill));
  }
  context.progress(IPC_IMPORT, (total - 1) / total);
  filled.push(await orLostTwice(IPC_IMPORT, limitBytes, () => imported(context, limitBytes)));
  return filled;
}

const honours = ({ outcome }: PathRow): boolean => outcome === 'enforced' || outcome === 'limited per process';

function outsideCheck(rows: readonly PathRow[]): Check {
  const checked = rows.filter(({ truthBytes }) => truthBytes !== null).length;
  return {
    name: 'judged from outside',
    passed: checked > 0 ? true : 'not checked',
    detail: `NVML shows what ${checked} of ${rows.length} paths hold`,
  };
}

const details = v.strictObject({ paths: rows(pathRow, 'A row per way of allocating') });

export type MemoryLimitCoverageDetails = v.InferOutput<typeof details>;

export const memoryCoverage: MetricDefinition<MemoryLimitCoverageDetails> = {
  id: 'IS-011',
  name: 'Memory Limit Coverage',
  category: 'isolation',
  unit: '%',
  direction: 'higher',
  question: 'Which API lets a tenant take memory that it was not given?',
  estimator: 'share of the paths tried that refuse, with CUDA_ERROR_OUT_OF_MEMORY, at the limit',
  delta: { absolute: 1 },
  values: 'exact',
  needs: ['a memory limit', 'fresh processes'],
  functionName: 'measureMemoryLimitCoverage',
  where: 'fresh-processes',
  details,
  seconds: { quick: 15, standard: 15, thorough: 15 },
  async measure(context) {
    const limitBytes = context.system.limits().memoryBytes;
    if (limitBytes === null) return unsupported('no memory limit is configured');
    const filled = await fillAll(context, limitBytes);
    const rows = filled.map(({ row }) => row);
    const granted = memoryCheck(filled);
    const deaths = deathCheck(filled);
    const checks = [granted, deaths, outsideCheck(rows), returnedCheck(filled)];
    const tried = rows.filter(({ outcome }) => outcome !== 'unsupported');
    if (tried.length === 0) return unsupported('no path could be tried', { paths: rows });
    const honoured = tried.filter(honours).length;
    const value = (100 * honoured) / tried.length;
    return {
      ...invalidBy([granted, deaths]),
      value,
      ci95: null,
      processes: filled.length + 1,
      headline: Float64Array.of(value),
      details: { paths: rows },
      checks,
      violations: rows.flatMap((row) => violationOf(row) ?? []),
    };
  },
};

/**
 * IS-011, %: share of the ways to allocate that honour a memory limit; `details.paths[]` has a row for each, with what
 * was granted. It needs a system that sets a limit: in the current environment it is `unsupported`; use
 * `compareSystems`.
 */
export const measureMemoryLimitCoverage = measureFunction(memoryCoverage);
