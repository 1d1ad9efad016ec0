/** OH-004: the start of a CUDA process, cuInit to the first kernel's result, in fresh worker processes. */
import type { Check } from '../../document.js';
import type { ContextApi } from '../../native/addon-types.js';
import { median } from '../../stats/median.js';
import { type StartUpAnswer, startUpInFreshProcess } from '../../workers/start-up.js';
import type { MeasureContext, MetricDefinition } from '../metric.js';
import { rowState } from '../row-state.js';
import { NS_PER_US, scaled } from '../units.js';

const PROCESSES = { quick: 3, standard: 4, thorough: 20 } as const;
/** In each of the first processes. */
const RECREATIONS = { quick: 1, standard: 1, thorough: 3 } as const;
const RECREATING_PROCESSES = { quick: 1, standard: 1, thorough: 20 } as const;
/** A real start takes tens of milliseconds; less means the context was there already. */
const SHORTEST_CREDIBLE_NS = 5_000_000;

const STEPS = [
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

async function start(context: MeasureContext, contextApi: ContextApi, recreations: number): Promise<StartUpAnswer> {
  const { system, signal, simulatedDriver } = context;
  const { device, path } = context.options;
  return startUpInFreshProcess(
    { simulatedDriver, device, path, contextApi, recreations },
    { environment: system.environment(), argvPrefix: system.argvPrefix(), signal },
  );
}

interface Batch {
  contextApi: ContextApi;
  count: number;
  /** How many of them, the first, release and re-create their context afterwards. */
  recreating: number;
  /** Processes before it, and in all, for progress. */
  done: number;
  total: number;
}

async function startMany(context: MeasureContext, { contextApi, count, recreating, done, total }: Batch) {
  const starts: StartUpAnswer[] = [];
  for (let i = 0; i < count; i++) {
    context.progress(`${contextApi}, process ${i + 1} of ${count}`, (done + i) / total);
    starts.push(await start(context, contextApi, i < recreating ? RECREATIONS[context.options.tier] : 0));
  }
  return starts;
}

/** The other way to a context, a row beside the headline: what it lacks or fails at is its own affair. */
async function createdContexts(context: MeasureContext, batch: Pick<Batch, 'count' | 'done' | 'total'>) {
  const { count } = batch;
  try {
    const starts = await startMany(context, { ...batch, contextApi: 'cuCtxCreate', recreating: 0 });
    return {
      processes: count,
      owner: starts[0]?.contextOwner,
      context: microseconds(starts.map(({ contextNs }) => contextNs)),
      total: microseconds(starts.map(({ totalNs }) => totalNs)),
    };
  } catch (error) {
    const state = rowState(error);
    if (!state) throw error;
    return { processes: count, ...state };
  }
}

/** How the processes of NVML's list can be told: by the PID itself, by the difference around the context, or not. */
function mapPid({ pid, processesDuring, processesAfter }: StartUpAnswer): 'same' | 'difference' | 'none' | 'stayed' {
  if (!processesDuring || !processesAfter) return 'none';
  if (processesDuring.includes(pid) && processesAfter.includes(pid)) return 'stayed';
  const appeared = processesDuring.filter((other) => !processesAfter.includes(other));
  if (appeared.includes(pid)) return 'same';
  return appeared.length === 1 ? 'difference' : 'none';
}

const microseconds = (times: readonly number[]) => {
  const { value, ci95 } = scaled(median(times), NS_PER_US);
  return { valueUs: value, ci95, count: times.length };
};

function steps(starts: readonly StartUpAnswer[]) {
  return STEPS.flatMap((name) => {
    const times = starts.flatMap((answer) => answer[name] ?? []);
    return times.length > 0 ? [{ step: name.replace(/Ns$/, ''), ...microseconds(times) }] : [];
  });
}

function recreation(starts: readonly StartUpAnswer[]) {
  const retains = starts.flatMap(({ retainNs }) => retainNs);
  const releases = starts.flatMap(({ releaseNs }) => releaseNs);
  return {
    retain: microseconds(retains),
    release: microseconds(releases),
    inactiveBetween: starts.every(({ inactiveBetween }) => inactiveBetween),
    leftNvmlListBetween: starts.every(({ leftListBetween }) => leftListBetween === null)
      ? null
      : starts.every(({ leftListBetween }) => leftListBetween !== false),
  };
}

function pidCheck(starts: readonly StartUpAnswer[]): Check {
  const name = 'the context came and went in NVML';
  const mappings = starts.map(mapPid);
  const stayed = mappings.filter((mapping) => mapping === 'stayed').length;
  if (stayed > 0) return { name, passed: false, detail: `still listed after its release in ${stayed} processes` };
  if (mappings.includes('none')) return { name, passed: 'not checked', detail: 'NVML does not list the processes' };
  return { name, passed: true, detail: `in ${mappings.length} of ${mappings.length} processes (${mappings[0]})` };
}

function checksOf(starts: readonly StartUpAnswer[], recreated: ReturnType<typeof recreation>): Check[] {
  const shortest = Math.min(...starts.map(({ totalNs }) => totalNs));
  return [
    {
      name: 'first result correct',
      passed: starts.every(({ resultCorrect }) => resultCorrect),
      detail: '1 024 words compared on the host',
    },
    {
      name: 'context really created',
      passed: shortest >= SHORTEST_CREDIBLE_NS,
      detail: `shortest start ${(shortest / 1e6).toFixed(1)} ms, at least ${SHORTEST_CREDIBLE_NS / 1e6} ms is credible`,
    },
    pidCheck(starts),
    {
      name: 're-created contexts were gone between',
      passed: recreated.inactiveBetween && recreated.leftNvmlListBetween !== false,
      detail: `driver: ${recreated.inactiveBetween}, NVML: ${recreated.leftNvmlListBetween ?? 'cannot tell'}`,
    },
  ];
}

export const contextCreationOverhead: MetricDefinition = {
  id: 'OH-004',
  name: 'Context Creation Overhead',
  category: 'overhead',
  unit: 'us',
  direction: 'lower',
  question: 'What is the cold-start penalty per pod or autoscaled worker?',
  estimator: 'median over fresh processes of cuInit … first result',
  delta: { relative: 0.05 },
  needs: ['fresh processes'],
  functionName: 'measureContextCreation',
  where: 'fresh-processes',
  seconds: { quick: 2, standard: 3, thorough: 24 },
  async measure(context) {
    const { iterations, tier, warmup } = context.options;
    const processes = iterations ?? PROCESSES[tier];
    const created = Math.max(1, Math.floor(processes / 4));
    const discarded = warmup ?? 0;
    const total = discarded + processes + created;
    const primary = { contextApi: 'cuDevicePrimaryCtxRetain' as const, total };
    const recreating = RECREATING_PROCESSES[tier];
    await startMany(context, { ...primary, count: discarded, recreating: 0, done: 0 });
    const starts = await startMany(context, { ...primary, count: processes, recreating, done: discarded });
    const cuCtxCreate = await createdContexts(context, { count: created, done: discarded + processes, total });
    const totals = Float64Array.from(starts, ({ totalNs }) => totalNs / NS_PER_US);
    const { value, ci95 } = median(totals);
    const recreated = recreation(starts);
    const checks = checksOf(starts, recreated);
    const failed = checks.find(({ passed }) => passed === false);
    const first = starts[0];
    return {
      ...(failed && { status: 'invalid' as const, reason: `${failed.name}: ${failed.detail}` }),
      value,
      ci95,
      ciScope: 'between-processes',
      processes,
      headline: totals,
      details: {
        steps: steps(starts),
        context: { function: first?.contextFunction, owner: first?.contextOwner, loadingMode: first?.loadingMode },
        cuCtxCreate,
        recreation: recreated,
        pidMapping: first ? mapPid(first) : 'none',
      },
      checks,
    };
  },
};
