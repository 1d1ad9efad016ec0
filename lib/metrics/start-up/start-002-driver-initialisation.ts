/** START-002: cuInit alone, in processes that go on to a first result. */
import * as v from 'valibot';
import { earlyInitialisation, implausibleInit, initialisationCheck } from '../tenants/early-initialisation.js';
import { wholeStarts } from '../tenants/fresh-processes.js';
import type { MetricDefinition } from '../core/metric.js';
import { measuredStarts, startFields } from './starts.js';
import { measureFunction } from '../core/measure-function.js';

const details = v.strictObject(startFields);

export type DriverInitialisationDetails = v.InferOutput<typeof details>;

export const driverInitialisation: MetricDefinition<DriverInitialisationDetails> = {
  id: 'START-002',
  name: 'Driver Initialisation',
  category: 'start-up',
  unit: 'ms',
  direction: 'lower',
  question: 'How long does cuInit take in a fresh process?',
  estimator: 'median over fresh processes of cuInit',
  delta: { relative: 0.05 },
  needs: ['fresh processes'],
  costOf: 'cuInit',
  functionName: 'measureDriverInitialisation',
  where: 'fresh-processes',
  details,
  seconds: { quick: 2, standard: 2, thorough: 10 },
  besideNative: implausibleInit,
  async measure(context) {
    const starts = await wholeStarts(context);
    return measuredStarts(starts, ({ initNs }) => initNs, {
      details: {},
      checks: [initialisationCheck(starts)],
      early: earlyInitialisation(starts),
    });
  },
};

/** START-002, ms: cuInit alone, median over fresh processes; `details.steps[]` has the rest of their starts. */
export const measureDriverInitialisation = measureFunction(driverInitialisation);
