/** CKPT-001: how long a lock takes, of an idle process and of one with submitted work. */
import * as v from 'valibot';
import { median } from '../../stats/median.js';
import { count, described, quantity, rows, text } from '../core/details.js';
import type { Check } from '../../results/document.js';
import { invalidBy, type LineChart, type MetricDefinition } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { type BusyLocks, busyLocks } from './busy-locks.js';
import { type HeldTarget, heldTargets } from './held-targets.js';

const details = v.strictObject({
  locks: count('Locks of idle targets behind the value'),
  sizes: rows(
    v.strictObject({
      bytes: count('Bytes that each target held'),
      lockMs: quantity('ms', 'Median time of a lock'),
      unlockMs: quantity('ms', 'Median time of an unlock after a restore'),
    }),
    'A row per size',
  ),
  busy: rows(
    v.strictObject({
      workMs: quantity('ms', 'Device work that was submitted before the lock'),
      lockMs: quantity('ms', 'Time of the lock'),
      remainingMs: quantity('ms', 'What remained of the work when the lock was called'),
      extraMs: quantity('ms', 'lockMs - remainingMs'),
    }),
    'A lock of a target with submitted work, which it waits for',
  ),
  timeout: described(
    v.strictObject({
      timeoutMs: quantity('ms', 'Time limit that the driver was given, shorter than the work'),
      lockMs: quantity('ms', 'Time of the lock'),
      name: text('What it returned'),
      code: described(v.number(), 'Its code'),
    }),
    'A lock that does not wait for the end of the work',
  ),
});

export type CheckpointLockDetails = v.InferOutput<typeof details>;

const NOT_READY = 600;

function timeoutCheck({ timeout, afterTimeout }: BusyLocks): Check {
  const { code, name, lockMs } = timeout;
  return {
    name: 'a lock gives up at its time limit, and the process goes on',
    passed: code === NOT_READY && afterTimeout.state === 0 && afterTimeout.intact,
    detail: `${name} (${code}) after ${lockMs.toFixed(1)} ms; then ${afterTimeout.state === 0 ? 'running' : `in state ${afterTimeout.state}`}`,
  };
}

function sizeRows(targets: readonly HeldTarget[]) {
  const sizes = [...new Set(targets.map(({ bytes }) => bytes))].sort((a, b) => a - b);
  return sizes.map((bytes) => {
    const turns = targets.filter((target) => target.bytes === bytes).flatMap((target) => target.turns);
    const middle = (phase: 'lockMs' | 'unlockMs') => median(turns.map((turn) => turn[phase])).value;
    return { bytes, lockMs: middle('lockMs'), unlockMs: middle('unlockMs') };
  });
}

const phaseChart = (what: string, y: string): LineChart => ({
  title: `Time of ${what} against bytes`,
  axes: { x: 'bytes held', y: 'ms' },
  scales: { x: 'bytes' },
  rows: 'sizes',
  point: { x: 'bytes', y },
});

export const lockTime: MetricDefinition<CheckpointLockDetails> = {
  id: 'CKPT-001',
  name: 'Checkpoint Lock Time',
  category: 'checkpoint',
  unit: 'ms',
  direction: 'lower',
  question: 'How long does it take to stop a process before its GPU memory is moved?',
  estimator: 'median of cuCheckpointProcessLock on idle processes, by a warm controller',
  delta: { relative: 0.1 },
  needs: ['checkpoints (driver 570)', 'fresh processes'],
  functionName: 'measureCheckpointLock',
  where: 'fresh-processes',
  lineCharts: [phaseChart('a lock', 'lockMs'), phaseChart('an unlock', 'unlockMs')],
  details,
  seconds: { quick: 20, standard: 60, thorough: 300 },
  deadlineSeconds: 7_200,
  async measure(context) {
    const { targets } = await heldTargets(context);
    const busy = await busyLocks(context);
    const locks = targets.flatMap(({ turns }) => turns.map(({ lockMs }) => lockMs));
    const checks = [timeoutCheck(busy)];
    return {
      ...invalidBy(checks),
      ...median(locks),
      processes: targets.length,
      ciScope: 'between-processes',
      headline: Float64Array.from(locks),
      details: { locks: locks.length, sizes: sizeRows(targets), busy: busy.rows, timeout: busy.timeout },
      checks,
    };
  },
};

/**
 * CKPT-001, ms: time of cuCheckpointProcessLock on idle processes that hold 0 to 90 % of the memory; `details.busy` has
 * locks that wait for submitted work, `details.timeout` one that gives up.
 */
export const measureCheckpointLock = measureFunction(lockTime);
