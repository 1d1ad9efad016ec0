/** START-005: finding all GPUs through NVML, cold in fresh processes, and again in each of them. */
import * as v from 'valibot';
import type { Check } from '../../results/document.js';
import type { Discovery, DiscoveryPass } from '../../native/addon-types.js';
import { median } from '../../stats/median.js';
import { summarise } from '../../stats/summary.js';
import { discoverInFreshProcess } from '../../workers/start-up.js';
import { freshProcess, PROCESSES } from '../tenants/fresh-processes.js';
import { choice, count, described, flag, rows, text } from '../core/details.js';
import { summaryOf } from '../core/sample-summary.js';
import { invalidBy, type MeasureContext, type MetricDefinition } from '../core/metric.js';
import { NS_PER_MS } from '../core/units.js';
import { milliseconds, stepTable, timesOf } from './starts.js';
import { measureFunction } from '../core/measure-function.js';

/** Warm passes per process; at tier `thorough` enough in total for p99.9. */
const REPEATS = { quick: 100, standard: 100, thorough: 150 } as const;

const owner = () => v.nullable(text('The object that owns the function; null if none was found'));

const details = v.strictObject({
  gpus: count('Number of GPUs'),
  load: timesOf('Loading of the library of NVML'),
  steps: stepTable('The function of NVML', 'A row per function, in order, cold in fresh processes'),
  warm: described(
    v.strictObject({
      totalMs: v.nullable(described(summaryOf('ms'), 'All functions of a pass together')),
      steps: stepTable('The function of NVML', 'A row per function, in order'),
    }),
    'The same again in each of the processes',
  ),
  nvml: described(
    v.strictObject({
      path: choice(['dlsym'], 'How the functions were looked up'),
      function: v.optional(text('The first function')),
      owner: owner(),
      functions: rows(
        v.strictObject({
          name: text('The function'),
          owner: owner(),
          intercepted: flag('Whether it is another than the one of the driver'),
        }),
        'A row per function that was called',
      ),
    }),
    'Whose functions were called',
  ),
});

export type GpuDiscoveryDetails = v.InferOutput<typeof details>;

async function discoverAsked(context: MeasureContext): Promise<Discovery[]> {
  const { simulatedDriver, options } = context;
  const discarded = options.warmup ?? 0;
  const count = discarded + (options.iterations ?? PROCESSES[options.tier]);
  const request = { simulatedDriver, repeats: REPEATS[options.tier] };
  const found: Discovery[] = [];
  for (let i = 0; i < count; i++) {
    context.progress(`process ${i + 1} of ${count}`, i / count);
    found.push(await discoverInFreshProcess(request, freshProcess(context)));
  }
  return found.slice(discarded);
}

function sameGpus(found: readonly Discovery[]): Check {
  const answers = new Set(found.map(({ uuids }) => uuids.join(', ')));
  return {
    name: 'every process found the same GPUs',
    passed: answers.size === 1 && found.every(({ uuids }) => uuids.every((uuid) => uuid !== '')),
    detail: [...answers].join(' or '),
  };
}

/** Who received the calls: a layer may own the addresses that dlsym returns. */
function nvmlDetails(found: readonly Discovery[]) {
  const functions = found[0]?.functions ?? [];
  return {
    path: 'dlsym' as const,
    function: functions[0]?.name,
    owner: functions[0]?.owner ?? null,
    functions,
  };
}

function stepRows(functions: Discovery['functions'], passes: readonly DiscoveryPass[]) {
  return functions.map(({ name }, i) => ({
    step: name,
    ...milliseconds(passes.map((pass) => pass.stepsNs[i] as number)),
  }));
}

export const gpuDiscovery: MetricDefinition<GpuDiscoveryDetails> = {
  id: 'START-005',
  name: 'GPU Discovery',
  category: 'start-up',
  unit: 'ms',
  direction: 'lower',
  question: 'How long does a program take to find its GPUs through NVML?',
  estimator: 'median over fresh processes of nvmlInit, count and six queries a GPU',
  delta: { relative: 0.05 },
  comparedAt: { name: 'number of GPUs', of: ({ gpus }) => gpus },
  needs: ['fresh processes', 'NVML'],
  costOf: 'finding the GPU through NVML',
  functionName: 'measureGpuDiscovery',
  where: 'fresh-processes',
  details,
  seconds: { quick: 2, standard: 2, thorough: 10 },
  async measure(context) {
    const found = await discoverAsked(context);
    const nvml = nvmlDetails(found);
    const first = found.map((discovery) => discovery.first);
    const repeats = found.flatMap((discovery) => discovery.repeats);
    const headline = Float64Array.from(first, ({ totalNs }) => totalNs / NS_PER_MS);
    const checks = [sameGpus(found)];
    return {
      ...invalidBy(checks),
      ...median(headline),
      processes: found.length,
      ciScope: 'between-processes',
      headline,
      details: {
        gpus: found[0]?.uuids.length ?? 0,
        load: milliseconds(found.map(({ loadNs }) => loadNs)),
        steps: stepRows(nvml.functions, first),
        warm: {
          totalMs: summarise(repeats.map(({ totalNs }) => totalNs / NS_PER_MS)),
          steps: stepRows(nvml.functions, repeats),
        },
        nvml,
      },
      checks,
    };
  },
};

/**
 * START-005, ms: nvmlInit, count, and handle, name, UUID, memory, PCI id and MIG mode of every GPU, median over fresh
 * processes; `details.steps[]` by call, `details.warm` the same repeated in those processes, `details.nvml` the owners
 * of the functions that were called. `unsupported` without NVML.
 */
export const measureGpuDiscovery = measureFunction(gpuDiscovery);
