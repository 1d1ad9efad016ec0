/** START-003: cuDevicePrimaryCtxRetain and cuCtxSetCurrent, and the release that matches them. */
import * as v from 'valibot';
import { contextCheck, earlyContext } from '../tenants/early-initialisation.js';
import { wholeStarts } from '../tenants/fresh-processes.js';
import type { MetricDefinition } from '../core/metric.js';
import { measuredStarts, milliseconds, startFields, timesOf } from './starts.js';
import { measureFunction } from '../core/measure-function.js';

const details = v.strictObject({
  release: timesOf('cuDevicePrimaryCtxRelease of that context'),
  ...startFields,
});

export type PrimaryContextDetails = v.InferOutput<typeof details>;

export const primaryContext: MetricDefinition<PrimaryContextDetails> = {
  id: 'START-003',
  name: 'Primary Context Creation',
  category: 'start-up',
  unit: 'ms',
  direction: 'lower',
  question: 'How long does creating the primary context take in a fresh process?',
  estimator: 'median over fresh processes of cuDevicePrimaryCtxRetain + cuCtxSetCurrent',
  delta: { relative: 0.05 },
  needs: ['fresh processes'],
  costOf: 'creation of the primary context',
  functionName: 'measurePrimaryContext',
  where: 'fresh-processes',
  details,
  seconds: { quick: 2, standard: 2, thorough: 10 },
  async measure(context) {
    const starts = await wholeStarts(context);
    const releases = starts.flatMap(({ firstReleaseNs }) => firstReleaseNs ?? []);
    return measuredStarts(starts, ({ contextNs }) => contextNs, {
      details: { release: milliseconds(releases) },
      checks: [contextCheck(starts)],
      early: earlyContext(starts),
    });
  },
};

/**
 * START-003, ms: cuDevicePrimaryCtxRetain and cuCtxSetCurrent, median over fresh processes; `details.release` is the
 * release of that context.
 */
export const measurePrimaryContext = measureFunction(primaryContext);
