/** CKPT-004 on the simulated card: the pause that the driver recorded, and targets that were not stopped. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CheckpointPauseDetails } from '../../../lib/metrics/checkpoint/ckpt-004-pause.js';
import { impossibleValue } from '../../../lib/metrics/core/impossible.js';
import { metricNamed } from '../../metric-named.js';
import { type ProcessRecord, recordsIn } from '../../native/record.js';
import { packageRoot } from '../../../lib/package-root.js';
import { temporaryFolder } from '../../temporary.js';
import { COSTS, onCard } from './card.js';

const MS = 1e6;
/** What a process may need from its driver's return to its own clock. */
const LATE_MS = 50;

/** From the last synchronisation that returned before the lock to the first after, of each target. */
function recordedPauses(folder: string): number[] {
  const records = recordsIn(folder);
  const controlled = records.flatMap(({ calls }) => calls.filter(({ name }) => name.startsWith('cuCheckpointProcess')));
  const unlocks = controlled.filter(({ name }) => name === 'cuCheckpointProcessUnlock').map(({ entered }) => entered);
  const syncsOf = ({ calls }: ProcessRecord) => calls.filter(({ name }) => name === 'cuStreamSynchronize');
  return unlocks.map((unlocked) => {
    const pauses = records.map(syncsOf).flatMap((syncs) => {
      const after = syncs.findIndex(({ left }) => left > unlocked);
      const [last, first] = [syncs[after - 1], syncs[after]];
      return last && first ? [(first.left - last.left) / MS] : [];
    });
    return Math.max(...pauses);
  });
}

const HONEST = `
const [, call, , pid] = process.argv.slice(2);
const addon = require('${packageRoot}/node_modules/node-gyp-build')('${packageRoot}');
const simulatedDriver = process.env.LD_LIBRARY_PATH;
addon.checkpointCall({ simulatedDriver, path: 'runtime', pid: Number(pid), call, timeoutMs: 0 }).then(({ code, name }) => {
  if (code !== 0) console.error(name);
  process.exit(code === 0 ? 0 : 1);
});
`;

/** A program of that name in PATH, in place of NVIDIA's, which finds other functions than those that are documented. */
function putInPath(program: string): void {
  const folder = temporaryFolder('utility');
  writeFileSync(join(folder, 'cuda-checkpoint'), `#!${process.execPath}\n${program}`, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
}

const byUtility = async (program: string) => {
  putInPath(program);
  const { result, record } = await onCard('CKPT-004', {}, { iterations: 1 });
  expect(result).toMatchObject({ status: 'ok', processes: 1 });
  const [row] = (result.details as unknown as CheckpointPauseDetails).byUtility;
  return { row, record };
};

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('CKPT-004', () => {
  it('measures one more target by the cuda-checkpoint program', async () => {
    const { row, record } = await byUtility(HONEST);
    const { checkpoint_fixed_us, checkpoint_us_per_mib, restore_fixed_us, restore_us_per_mib } = COSTS;
    const least = {
      checkpointMs: (checkpoint_fixed_us + 64 * checkpoint_us_per_mib) / 1e3,
      restoreMs: (restore_fixed_us + 64 * restore_us_per_mib) / 1e3,
    };
    if (row === undefined || 'unsupported' in row) throw new Error(`no row: ${row?.unsupported}`);
    expect(row.checkpointMs).toBeGreaterThan(least.checkpointMs);
    expect(row.restoreMs).toBeGreaterThan(least.restoreMs);
    expect(row.pauseMs).toBeGreaterThan(row.checkpointMs + row.restoreMs);
    expect(recordedPauses(record)).toHaveLength(2);
  });

  it.each([
    ['does nothing', '', /--action lock succeeded, but the process is running/],
    ['fails', `console.error('Insufficient driver'); process.exit(7);`, /exit code 7: Insufficient driver/],
  ])('takes no time from such a program that %s', async (_, program, reason) => {
    const { row } = await byUtility(program);
    expect(row).toEqual({ unsupported: expect.stringMatching(reason) as string });
  });

  it('agrees with the results that the driver recorded, and with the calls', async () => {
    const { result, record } = await onCard('CKPT-004', {}, { iterations: 2 });
    expect(result).toMatchObject({ status: 'ok', processes: 2 });
    const { bytes, pauses, byUtility } = result.details as unknown as CheckpointPauseDetails;
    expect(bytes).toBe(64 * 2 ** 20);
    expect(byUtility).toEqual([
      { unsupported: expect.stringMatching(/no cuda-checkpoint in PATH: .*NVIDIA/) as string },
    ]);
    const recorded = recordedPauses(record);
    expect(recorded).toHaveLength(2);
    const byLength = (a: number, b: number) => a - b;
    const own = pauses.map(({ pauseMs }) => pauseMs).sort(byLength);
    for (const [i, ms] of recorded.sort(byLength).entries())
      expect(Math.abs((own[i] as number) - ms)).toBeLessThan(LATE_MS);
    const least =
      (COSTS.checkpoint_lock_us + COSTS.checkpoint_fixed_us + COSTS.restore_fixed_us) / 1e3 +
      (64 * (COSTS.checkpoint_us_per_mib + COSTS.restore_us_per_mib)) / 1e3;
    for (const { pauseMs, longestGapMs, unlockToResultMs, usualGapMs } of pauses) {
      expect(pauseMs).toBeGreaterThan(least);
      expect(longestGapMs).toBeGreaterThanOrEqual(pauseMs);
      // The simulated process goes on when the unlock begins.
      expect(unlockToResultMs).toBeGreaterThan(0);
      expect(usualGapMs).toBeLessThan(pauseMs / 10);
    }
  });

  it('is invalid if the contents come back changed', async () => {
    const { result } = await onCard('CKPT-004', { checkpoint_corrupts: 1 }, { iterations: 1 });
    expect(result).toMatchObject({ status: 'invalid' });
    expect(result.reason).toMatch(/checksums/);
  });

  it('refuses a pause in which the link cannot have moved the bytes', async () => {
    const { result } = await onCard('CKPT-004', {}, { iterations: 1 });
    const definition = metricNamed('CKPT-004');
    expect(impossibleValue(definition, result)).toBeNull();
    expect(impossibleValue(definition, { ...result, value: 0.5 })).toMatch(/the link carries no more/);
  });
});
