/** OH-004: the start of a CUDA process, cuInit to the first kernel's result, in fresh worker processes. */
import * as v from 'valibot';
import { count, described, flag, quantity, rowOrReason, rows, text } from '../core/details.js';
import type { Check } from '../../results/document.js';
import { median } from '../../stats/median.js';
import type { StartUpAnswer } from '../../workers/start-up.js';
import { early, earlyInitialisation, implausibleInit, initialisationCheck } from '../tenants/early-initialisation.js';
import {
  startChecks,
  startContext,
  startDetails,
  startMany,
  stepRows,
  timesRow,
  timesUs,
  wholeStarts,
} from '../tenants/fresh-processes.js';
import { invalidBy, type MeasureContext, type MetricDefinition } from '../core/metric.js';
import { release } from '../core/releases.js';
import { rowState } from '../core/row-state.js';
import { inOneTenant } from '../tenants/scene.js';
import { NS_PER_US } from '../core/units.js';
import { measureFunction } from '../core/measure-function.js';

const microseconds = (times: readonly number[]) => timesRow(times, 'valueUs', NS_PER_US);

/** Numbers of simultaneous starts; the other tiers leave them to START-006. */
const SIMULTANEOUS = { quick: [], standard: [], thorough: [1, 4, 8] } as const;

/** The other way to create a context, a row in addition to the headline: its failure does not affect that. */
async function createdContexts(context: MeasureContext, count: number, done: number) {
  try {
    const starts = await startMany(context, { contextApi: 'cuCtxCreate', count, done, total: done + count });
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

/**
 * Starts processes at one moment, each to its first result: shows whether they wait for one another (more in
 * START-006).
 */
async function simultaneous(context: MeasureContext, processes: number) {
  const outcome = await inOneTenant(context, (process) => release(context, process, processes));
  if ('noRoom' in outcome) return { processes, failed: outcome.noRoom };
  const { firstResults, total, tries } = outcome;
  return { processes, ...microseconds(firstResults), lastUs: total / NS_PER_US, tries };
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

const recreationCheck = ({ inactiveBetween, leftNvmlListBetween }: ReturnType<typeof recreation>): Check => ({
  name: 're-created contexts were gone between',
  passed: inactiveBetween && leftNvmlListBetween !== false,
  detail: `driver: ${inactiveBetween}, NVML: ${leftNvmlListBetween ?? 'cannot tell'}`,
});

const details = v.strictObject({
  steps: rows(
    v.strictObject({ step: text('The step of a start'), ...timesUs('Median time of the step') }),
    'A row per step of a start, in order',
  ),
  context: startContext,
  cuCtxCreate: v.nullable(
    described(
      rowOrReason(
        { processes: count('Processes') },
        {
          owner: v.optional(v.nullable(text('The object that owns cuCtxCreate'))),
          context: described(v.strictObject(timesUs('Median time of the call')), 'Creation of the context'),
          total: described(v.strictObject(timesUs('Median time of a start')), 'The whole start'),
        },
      ),
      'Starts with cuCtxCreate in place of the primary context; null if there were none',
    ),
  ),
  recreation: described(
    v.strictObject({
      retain: described(v.strictObject(timesUs('Median time of a retain')), 'Creation again'),
      release: described(v.strictObject(timesUs('Median time of a release')), 'Release'),
      inactiveBetween: flag('Whether the context was inactive in between, by the driver'),
      leftNvmlListBetween: v.nullable(
        flag('Whether the process left the list of NVML in between; null if NVML does not list it'),
      ),
    }),
    'The primary context released and created again',
  ),
  simultaneous: rows(
    v.union([
      v.strictObject({
        processes: count('Processes that start at one moment'),
        ...timesUs('Median time to the first result'),
        lastUs: quantity('us', 'Time to the last first result'),
        tries: count('Tries until all processes were ready at their release'),
      }),
      v.strictObject({
        processes: count('Processes that start at one moment'),
        failed: text('Why they have no times'),
      }),
    ]),
    'A row per number of simultaneous starts',
  ),
});

export type ContextCreationDetails = v.InferOutput<typeof details>;

export const contextCreationOverhead: MetricDefinition<ContextCreationDetails> = {
  id: 'OH-004',
  name: 'Context Creation Overhead',
  category: 'overhead',
  unit: 'us',
  direction: 'lower',
  question: 'What is the cold-start penalty per pod or autoscaled worker?',
  estimator: 'median over fresh processes of cuInit … first result',
  delta: { relative: 0.05 },
  contains: ['START-002', 'START-003'],
  needs: ['fresh processes'],
  functionName: 'measureContextCreation',
  where: 'fresh-processes',
  details,
  seconds: { quick: 2, standard: 3, thorough: 32 },
  besideNative: implausibleInit,
  async measure(context) {
    const { tier, iterations } = context.options;
    const starts = await wholeStarts(context);
    const processes = starts.length;
    // `standard` leaves out all sweeps, this one too, unless a number of processes was requested.
    const alsoCreated = tier !== 'standard' || iterations !== null;
    const cuCtxCreate = alsoCreated
      ? await createdContexts(context, Math.max(1, Math.floor(processes / 4)), processes)
      : null;
    const together: Awaited<ReturnType<typeof simultaneous>>[] = [];
    for (const count of SIMULTANEOUS[tier]) together.push(await simultaneous(context, count));
    const totals = Float64Array.from(starts, ({ totalNs }) => totalNs / NS_PER_US);
    const { value, ci95 } = median(totals);
    const recreated = recreation(starts);
    const checks = [...startChecks(starts), initialisationCheck(starts), recreationCheck(recreated)];
    return {
      ...invalidBy(checks),
      ...early(earlyInitialisation(starts)),
      value,
      ci95,
      ciScope: 'between-processes',
      processes,
      headline: totals,
      details: {
        steps: stepRows(starts, 'valueUs', NS_PER_US),
        ...startDetails(starts),
        cuCtxCreate,
        recreation: recreated,
        simultaneous: together,
      },
      checks,
    };
  },
};

/**
 * OH-004, µs: cuInit to the first kernel's result, median over fresh processes (`iterations` is their number, `warmup`
 * how many before them are discarded; `resolution` does not apply).
 */
export const measureContextCreation = measureFunction(contextCreationOverhead);
