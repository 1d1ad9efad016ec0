/** CKPT-006: what a tenant loses while its neighbour is checkpointed and restored. */
import * as v from 'valibot';
import type { Check } from '../../results/document.js';
import { changePercent } from '../../stats/interference.js';
import { ALPHA } from '../../stats/largest.js';
import { choice, count, described, interval, quantity, rows, text } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type Measured, type MetricDefinition, unsupported, withoutNumber } from '../core/metric.js';
import { unlessFull } from '../core/row-state.js';
import { windowInterval } from '../core/sample-stats.js';
import { GIB, NS_PER_MS } from '../core/units.js';
import { degradationOf } from '../isolation/shared/neighbour-play.js';
import { offeredRateMet, p50Ms, p99Ms, type Served, VICTIM_NAME } from '../isolation/victim-requests.js';
import { goneCheck, restoredCheck } from './checks.js';
import { noHostRoom, noRoom, scaleOf } from './held-targets.js';
import { type Neighboured, neighboured, PHASES } from './neighbours.js';

const BYTES = 4 * GIB;
const TURNS = { quick: 1, standard: 3, thorough: 8 } as const;
const ALONE_MS = { quick: 1_000, standard: 2_000, thorough: 5_000 } as const;
/** Fewer say nothing of a median. */
const FEWEST_REQUESTS = 10;

const latencies = v.strictObject({
  p50Ms: quantity('ms', 'Median latency'),
  p99Ms: v.nullable(quantity('ms', '99th percentile of the latency; null with too few requests')),
  longestMs: quantity('ms', 'The longest latency'),
  requests: count('Requests that arrived'),
});

const details = v.strictObject({
  bytes: count('Bytes that the target holds'),
  turns: count('Times that the target was checkpointed and restored beside the neighbour'),
  neighbour: text('What the neighbour serves'),
  alone: described(latencies, 'Beside the target that holds its memory and is idle'),
  meanwhile: described(latencies, 'From the lock until the unlock'),
  phases: rows(
    v.strictObject({
      phase: choice(PHASES, 'The call: lock, checkpoint (copy out), restore (copy in), unlock'),
      degradationPercent: v.nullable(
        quantity('%', 'Increase of the median latency of requests that arrived in it; null with too few of them'),
      ),
      degradationCi95: interval('%', 'degradationPercent'),
      requests: count('Requests that arrived in it'),
    }),
    'A row per call',
  ),
});

export type CheckpointInterferenceDetails = v.InferOutput<typeof details>;

const timesOf = (served: Served) => ({
  p50Ms: p50Ms(served).value,
  p99Ms: p99Ms(served),
  longestMs: Math.max(...served.latencyNs) / NS_PER_MS,
  requests: served.latencyNs.length,
});

function workedCheck({ meanwhile }: Neighboured): Check {
  const { latencyNs, givenUp } = meanwhile;
  return {
    name: 'the neighbour worked meanwhile',
    passed: latencyNs.length >= FEWEST_REQUESTS && givenUp === 0,
    detail: `${latencyNs.length} requests arrived between lock and unlock, of which ${givenUp} were given up; at least ${FEWEST_REQUESTS} must have been served`,
  };
}

export function judge(bytes: number, found: Neighboured): Measured<CheckpointInterferenceDetails> {
  const { alone, meanwhile, phases, turns } = found;
  const held = [{ bytes, turns }];
  const checks = [offeredRateMet(alone), workedCheck(found), restoredCheck(held), goneCheck(held)];
  const failed = invalidBy(checks);
  if (alone.latencyNs.length === 0 || meanwhile.latencyNs.length === 0)
    return { ...withoutNumber('invalid', failed.reason ?? 'no request arrived'), checks };
  const degradation = degradationOf(alone, meanwhile);
  return {
    ...failed,
    value: changePercent(p50Ms(alone).value, p50Ms(meanwhile).value),
    ...windowInterval(degradation(ALPHA).ci95),
    ciScope: 'within-process',
    processes: 2,
    headline: null,
    details: {
      bytes,
      turns: turns.length - 1,
      neighbour: VICTIM_NAME,
      alone: timesOf(alone),
      meanwhile: timesOf(meanwhile),
      phases: PHASES.map((phase) => {
        const served = phases[phase];
        const requests = served.latencyNs.length;
        if (requests < FEWEST_REQUESTS) return { phase, degradationPercent: null, degradationCi95: null, requests };
        const { value, ci95 } = degradationOf(alone, served)(ALPHA);
        return { phase, degradationPercent: value, degradationCi95: ci95, requests };
      }),
    },
    checks,
  };
}

export const checkpointInterference: MetricDefinition<CheckpointInterferenceDetails> = {
  id: 'CKPT-006',
  name: 'Checkpoint Interference',
  category: 'checkpoint',
  unit: '%',
  direction: 'lower',
  question: 'What does a tenant lose while its neighbour is moved off the card and back?',
  estimator:
    'increase of the median request latency between lock and unlock of a neighbour that holds 4 GiB, relative to beside the idle neighbour',
  delta: { absolute: 5 },
  needs: ['checkpoints (driver 570)', 'two tenants', 'host memory for what is moved'],
  functionName: 'measureCheckpointInterference',
  where: 'fresh-processes',
  details,
  seconds: { quick: 15, standard: 40, thorough: 120 },
  deadlineSeconds: 7_200,
  async measure(context) {
    const { tier, iterations } = context.options;
    const bytes = BYTES * scaleOf(context);
    const full = noHostRoom(context, bytes, 'a target');
    if (full !== null) return unsupported(full);
    const plan = { bytes, turns: iterations ?? TURNS[tier], aloneMs: ALONE_MS[tier] };
    const measure = async () => {
      const found = await neighboured(context, plan);
      return 'room' in found ? unsupported(noRoom(bytes, found)) : judge(bytes, found);
    };
    return unlessFull('two tenants', measure());
  },
};

/**
 * CKPT-006, %, signed: increase of the median latency of a tenant that serves 200 requests a second, while its neighbour
 * is locked, checkpointed, restored and unlocked; `details.phases[]` has a row per call. `iterations` counts turns.
 */
export const measureCheckpointInterference = measureFunction(checkpointInterference);
