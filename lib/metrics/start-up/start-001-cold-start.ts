/** START-001: from the spawn of a process to its first kernel's result on the host. */
import * as v from 'valibot';
import type { Check } from '../../results/document.js';
import type { StartUpAnswer } from '../../workers/start-up.js';
import { STEPS, wholeStarts } from '../tenants/fresh-processes.js';
import type { MetricDefinition } from '../core/metric.js';
import { measuredStarts, milliseconds, startFields, timesOf } from './starts.js';
import { measureFunction } from '../core/measure-function.js';

/** The time between the steps: the worker's other modules, the request's transfer, the choice of the device. */
function betweenSteps(start: StartUpAnswer): number {
  const steps = STEPS.filter((name) => name !== 'secondLaunchNs');
  return start.spawnToResultNs - steps.reduce((sum, name) => sum + (start[name] ?? 0), 0);
}

/** The worker times the steps, and both sides time the whole: different clocks would disagree here. */
function wholeCheck(starts: readonly StartUpAnswer[]): Check {
  const shortest = Math.min(...starts.map(betweenSteps));
  return {
    name: 'the steps fit into the whole',
    passed: shortest >= 0,
    detail: `between them at least ${(shortest / 1e6).toFixed(1)} ms`,
  };
}

const details = v.strictObject({
  betweenSteps: timesOf("Time that no step holds: the worker's other modules, its request, the choice of the device"),
  ...startFields,
});

export type ColdStartDetails = v.InferOutput<typeof details>;

export const coldStart: MetricDefinition<ColdStartDetails> = {
  id: 'START-001',
  name: 'Cold Start to First Result',
  category: 'start-up',
  unit: 'ms',
  direction: 'lower',
  question: 'How long does a newly started replica take to produce its first result?',
  estimator: 'median over fresh processes of spawn … first result',
  delta: { relative: 0.05 },
  contains: ['START-002', 'START-003'],
  needs: ['fresh processes'],
  functionName: 'measureColdStart',
  where: 'fresh-processes',
  details,
  seconds: { quick: 2, standard: 2, thorough: 10 },
  async measure(context) {
    const starts = await wholeStarts(context);
    return measuredStarts(starts, ({ spawnToResultNs }) => spawnToResultNs, {
      details: { betweenSteps: milliseconds(starts.map(betweenSteps)) },
      checks: [wholeCheck(starts)],
    });
  },
};

/**
 * START-001, ms: from the spawn of a process to its first kernel's result on the host, median over fresh processes;
 * `details.steps[]` is the split, `details.betweenSteps` what no step holds. Options as measureContextCreation's.
 */
export const measureColdStart = measureFunction(coldStart);
