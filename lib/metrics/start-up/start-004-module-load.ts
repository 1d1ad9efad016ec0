/** START-004: loading our PTX with an empty compilation cache, and again, in another process, with what that one left. */
import { rmSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Check } from '../../results/document.js';
import { makeRunDirectory } from '../../systems/process/run-directory.js';
import type { StartUpAnswer } from '../../workers/start-up.js';
import { PROCESSES, startMany } from '../tenants/fresh-processes.js';
import { choice, rowOrReason, rows } from '../core/details.js';
import type { MeasureContext, MetricDefinition } from '../core/metric.js';
import { measuredStarts, milliseconds, startFields, timesMs } from './starts.js';
import { measureFunction } from '../core/measure-function.js';

const details = v.strictObject({
  loads: rows(
    rowOrReason(
      { cache: choice(['cold', 'warm'], 'Whether the compilation cache was empty, or had what a load left in it') },
      timesMs('Median time of the load'),
    ),
    'A row per state of the compilation cache',
  ),
  ...startFields,
});

export type ModuleLoadDetails = v.InferOutput<typeof details>;

interface Pair {
  cold: StartUpAnswer;
  /** Null if the environment disables the cache, or if only the value is wanted. */
  warm: StartUpAnswer | null;
  /** Files that the cold load left in the cache. */
  entries: number;
}

/** A short path to an empty folder, which is removed afterwards, even if the process ends in between. */
async function inPrivateFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const directory = await makeRunDirectory();
  const folder = join(directory, 'cache');
  const removeNow = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', removeNow);
  try {
    await mkdir(folder, { mode: 0o700 });
    return await use(folder);
  } finally {
    process.off('exit', removeNow);
    await rm(directory, { recursive: true, force: true });
  }
}

async function filesIn(folder: string): Promise<number> {
  return (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length;
}

function measurePair(context: MeasureContext, done: number, total: number, hasWarm: boolean): Promise<Pair> {
  return inPrivateFolder(async (folder) => {
    const batch = { contextApi: 'cuDevicePrimaryCtxRetain', count: 1, total } as const;
    const start = async (before: number) => {
      const [answer] = await startMany(context, { ...batch, done: before, variables: { CUDA_CACHE_PATH: folder } });
      return answer as StartUpAnswer;
    };
    const cold = await start(done);
    const entries = await filesIn(folder);
    return { cold, entries, warm: hasWarm ? await start(done + 1) : null };
  });
}

/** A load was cold if it left files in an empty cache, or if there is no cache. */
function coldCheck(pairs: readonly Pair[], cacheOff: boolean): Check {
  const fewest = Math.min(...pairs.map(({ entries }) => entries));
  const left = `at least ${fewest} file${fewest === 1 ? '' : 's'} left in the empty CUDA_CACHE_PATH by each cold load`;
  return {
    name: 'the compilation cache was cold',
    passed: cacheOff || fewest > 0,
    detail: cacheOff ? 'CUDA_CACHE_DISABLE=1 in the environment' : left,
  };
}

function warmRow(pairs: readonly Pair[]): ModuleLoadDetails['loads'][number] {
  const warm = pairs.flatMap((pair) => pair.warm ?? []);
  if (warm.length === 0) return { cache: 'warm', unsupported: 'CUDA_CACHE_DISABLE=1 in the environment' };
  return { cache: 'warm', ...milliseconds(warm.map(({ moduleNs }) => moduleNs)) };
}

async function measurePairs(context: MeasureContext, cacheOff: boolean): Promise<Pair[]> {
  const { iterations, tier, warmup } = context.options;
  const discarded = warmup ?? 0;
  const whole = discarded + (iterations ?? PROCESSES[tier]);
  const count = iterations === null ? discarded + (context.plannedProcesses ?? PROCESSES[tier]) : whole;
  const pairs: Pair[] = [];
  // Processes that the plan adds are for the value, which is that of cold loads.
  for (let i = 0; i < count; i++) pairs.push(await measurePair(context, 2 * i, 2 * count, !cacheOff && i < whole));
  return pairs.slice(discarded);
}

export const moduleLoad: MetricDefinition<ModuleLoadDetails> = {
  id: 'START-004',
  name: 'Module Load',
  category: 'start-up',
  unit: 'ms',
  direction: 'lower',
  question: 'How long does loading PTX take when nothing was compiled before?',
  estimator: 'median over fresh processes of cuModuleLoadDataEx with a cold compilation cache',
  delta: { relative: 0.05 },
  needs: ['fresh processes'],
  costOf: 'loading a module',
  functionName: 'measureModuleLoad',
  where: 'fresh-processes',
  details,
  seconds: { quick: 4, standard: 4, thorough: 20 },
  furtherProcesses: { seconds: 0.5, startedItself: PROCESSES },
  async measure(context) {
    const cacheOff = context.system.environment().CUDA_CACHE_DISABLE === '1';
    const pairs = await measurePairs(context, cacheOff);
    const cold = pairs.map((pair) => pair.cold);
    const loads = [{ cache: 'cold' as const, ...milliseconds(cold.map(({ moduleNs }) => moduleNs)) }, warmRow(pairs)];
    return measuredStarts(cold, ({ moduleNs }) => moduleNs, {
      details: { loads },
      checks: [coldCheck(pairs, cacheOff)],
    });
  },
};

/**
 * START-004, ms: loading the embedded PTX with an empty compilation cache of its own, median over fresh processes;
 * `details.loads[]` has a row for that cold cache and one for the warm cache it leaves. `iterations` counts such pairs.
 */
export const measureModuleLoad = measureFunction(moduleLoad);
