/** CKPT-004: how long a process that works continuously gives no result. */
import * as v from 'valibot';
import type { Check, MetricResult } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { count, quantity, rows, text } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MetricDefinition, unsupported, withoutNumber } from '../core/metric.js';
import { GIB } from '../core/units.js';
import { describedLink, linkDetails } from '../pcie/link.js';
import { restoredCheck } from './checks.js';
import { noHostRoom, noRoom, scaleOf } from './held-targets.js';
import { copiesCheck, movedTooFast } from './moved.js';
import { type Paused, pauseIn, pausesOf, resultsAway } from './pauses.js';
import { ms } from './target-study.js';

const BYTES = 4 * GIB;
const TARGETS = { quick: 2, standard: 6, thorough: 12 } as const;

const columns = {
  pauseMs: quantity('ms', 'From the last result before to the first after'),
  lockMs: quantity('ms', 'Time of the lock'),
  checkpointMs: quantity('ms', 'Time of the checkpoint'),
  restoreMs: quantity('ms', 'Time of the restore'),
  unlockMs: quantity('ms', 'Time of the unlock'),
  unlockToResultMs: quantity('ms', 'From the call of the unlock to the first result'),
  longestGapMs: quantity('ms', 'The longest time between two results that the target saw'),
  usualGapMs: quantity('ms', 'The median time between two results: the resolution of the pause'),
};

const details = v.strictObject({
  bytes: count('Bytes that each target holds'),
  pauses: rows(v.strictObject(columns), 'A row per target'),
  byUtility: rows(
    v.union([v.strictObject(columns), v.strictObject({ unsupported: text('Why there is none') })]),
    'One more target, moved by the cuda-checkpoint program: each time is that of a process from its start to its end. Not in the value',
  ),
  link: linkDetails,
});

export type CheckpointPauseDetails = v.InferOutput<typeof details>;

const NO_RESULT = 'gave no result before or after';

/** Null if there was no result before or after. */
function rowOf(paused: Paused) {
  const seen = pauseIn(paused);
  const { lock, checkpoint, restore, unlock } = paused.move;
  const calls = { lockMs: ms(lock), checkpointMs: ms(checkpoint), restoreMs: ms(restore), unlockMs: ms(unlock) };
  return seen === null ? null : { ...seen, ...calls };
}

/** A target that goes on working was not stopped, whatever was answered. */
function stillCheck(paused: readonly Paused[]): Check {
  const results = paused.reduce((sum, each) => sum + resultsAway(each), 0);
  return {
    name: 'no result while the memory is away',
    passed: results === 0,
    detail: results === 0 ? `of ${paused.length} targets` : `${results} results came between checkpoint and unlock`,
  };
}

function impossible({ value, details: own }: Pick<MetricResult, 'value' | 'details'>): string | null {
  const parsed = v.safeParse(v.object({ bytes: v.number() }), own);
  return value === null || !parsed.success ? null : movedTooFast(2 * parsed.output.bytes, value, own);
}

export const pause: MetricDefinition<CheckpointPauseDetails> = {
  id: 'CKPT-004',
  name: 'Checkpoint Pause',
  category: 'checkpoint',
  unit: 'ms',
  direction: 'lower',
  question: 'How long does a process stand still while its GPU memory is moved away and back?',
  estimator: 'median over fresh processes that hold 4 GiB, of the time from the last result before to the first after',
  delta: { relative: 0.1 },
  needs: ['checkpoints (driver 570)', 'fresh processes', 'host memory for what is moved'],
  functionName: 'measureCheckpointPause',
  where: 'fresh-processes',
  impossible,
  details,
  seconds: { quick: 20, standard: 60, thorough: 120 },
  deadlineSeconds: 7_200,
  async measure(context) {
    const bytes = BYTES * scaleOf(context);
    const full = noHostRoom(context, bytes, 'a target');
    if (full !== null) return unsupported(full);
    const pauses = await pausesOf(context, bytes, context.options.iterations ?? TARGETS[context.options.tier]);
    if ('room' in pauses) return unsupported(noRoom(bytes, pauses));
    const { paused, byUtility, link } = pauses;
    const found = paused.flatMap((each) => rowOf(each) ?? []);
    const all = 'move' in byUtility ? [...paused, byUtility] : paused;
    const checks = [
      stillCheck(all),
      restoredCheck(all.map(({ verified }) => ({ bytes, turns: [{ verified }] }))),
      copiesCheck(
        link,
        bytes,
        all.map(({ move }) => move),
      ),
    ];
    const utilityRow = 'missing' in byUtility ? { unsupported: byUtility.missing } : rowOf(byUtility);
    const own = {
      bytes,
      pauses: found,
      byUtility: [utilityRow ?? { unsupported: `the target ${NO_RESULT}` }],
      link: describedLink(link),
    };
    if (found.length < paused.length) {
      const reason = `${paused.length - found.length} of ${paused.length} targets ${NO_RESULT}`;
      return { ...withoutNumber('invalid', invalidBy(checks).reason ?? reason, own), checks };
    }
    const headline = Float64Array.from(found, ({ pauseMs }) => pauseMs);
    return {
      ...invalidBy(checks),
      ...median(headline),
      processes: paused.length,
      ciScope: 'between-processes',
      headline,
      details: own,
      checks,
    };
  },
};

/**
 * CKPT-004, ms: for how long a process with 4 GiB that works continuously has no result while it is checkpointed and
 * restored; `details.pauses[]` has the calls and the time from the unlock to the first result, and
 * `details.byUtility[]` the same by the cuda-checkpoint program where PATH has it.
 */
export const measureCheckpointPause = measureFunction(pause);
