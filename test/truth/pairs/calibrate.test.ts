/**
 * `calibrate` on the simulated GPU: its true values and estimates match what the interposer recorded for the same
 * calls.
 */
import { describe, expect, it } from 'vitest';
import { median } from '../../../lib/stats/median.js';
import { command } from '../../cli/command.js';
import { emptyFolder } from '../../native/child.js';
import { grantedOf, hasLoad } from '../../native/granted.js';
import { durationOf, LOOP_READINGS, type Recorded, recordedByProcess } from '../../native/record.js';
import { WIDENING } from '../../native/recovered.js';
import { undisturbed } from '../../undisturbed.js';

interface Row {
  what: string;
  unit: string;
  truth: number;
  estimate: number;
  bias: number;
  halfWidth: number | null;
  recovered: boolean;
}

/** At tier quick `calibrate` starts this many processes without a delay, then one for each delay. */
const WITHOUT = 3;
const DELAYS = [50, 100, 250, 1_000];

/**
 * The interposer's own time of its delay and the recorded hook differ by the hook's loop, in both of two processes.
 */
const TRUTH_READINGS = 2;

const hookNs = (process: Recorded, name: string) => median(process.hooked(name).map(durationOf)).value;

/**
 * For each row, the time that the delay added to the hooks of its function, relative to each process without a delay;
 * `calibrate` takes the one with the median estimate. On a busy machine one of them may have run slower throughout.
 */
function recordedDelays(processes: readonly Recorded[]): Map<string, number[]> {
  const [without, delayed] = [processes.slice(0, WITHOUT), processes.slice(WITHOUT, WITHOUT + DELAYS.length)];
  const names = ['cuCtxGetDevice', 'cuMemGetInfo_v2', 'cuLaunchKernel'];
  return new Map(
    names.flatMap((name) => {
      const bare = without.map((process) => hookNs(process, name));
      return delayed.map(
        (process, i) => [`${name} +${DELAYS[i]} ns`, bare.map((ns) => hookNs(process, name) - ns)] as const,
      );
    }),
  );
}

/** Difference from the closest of the values. */
const distance = (value: number, values: readonly number[]): number =>
  Math.min(...values.map((other) => Math.abs(value - other)));

async function calibrated() {
  const record = emptyFolder();
  const outcome = await command(
    ['calibrate', '--simulate', '--tier', 'quick', '--json', '-'],
    { GVB_INTERPOSE_RECORD: record },
    // Records only this function, not the millions of bare calls that are paired with the hooks.
    `record=${record},recorded=cuLaunchKernel`,
  );
  return { ...outcome, record };
}

/** `calibrate` ends with the first invalid metric. */
const metricsInvalid = (stderr: string) =>
  [...stderr.matchAll(/^error: (\S+) is invalid: (.*)$/gm)].map(([, id = '', reason = '']) => ({
    id,
    reason,
    status: 'invalid' as const,
  }));

describe('calibrate', () => {
  it('reports every true value and estimate as the interposer recorded it, and exits 1 unless it recovered them all', async () => {
    const { code, stdout, record } = await undisturbed(calibrated, ({ stderr }) => metricsInvalid(stderr));
    const rows = JSON.parse(stdout) as Row[];
    expect(rows).toHaveLength(14);
    const processes = recordedByProcess(record);
    const hooked = processes.filter((process) => process.hooked('cuCtxGetDevice').length > 0);
    const delays = recordedDelays(hooked);
    const readingNs = Math.max(...hooked.map((process) => process.readingNs));
    const ofTime = rows.filter(({ unit }) => unit === 'ns');
    expect(ofTime.map(({ what }) => what).sort()).toEqual([...delays.keys()].sort());
    for (const { what, truth, estimate, halfWidth } of ofTime) {
      const recorded = delays.get(what) as number[];
      expect(distance(truth, recorded), `truth of ${what}`).toBeLessThan(TRUTH_READINGS * readingNs);
      // Hooks of two processes differ by some ns: memory layout by the loader.
      const allowed = Math.max(LOOP_READINGS * readingNs, WIDENING * (halfWidth as number));
      expect(distance(estimate, recorded), `estimate of ${what}`).toBeLessThan(allowed);
    }
    const [memory] = rows.filter(({ unit }) => unit === 'bytes');
    expect(memory).toMatchObject({ truth: 4 * 1024 ** 3, estimate: 4 * 1024 ** 3, bias: 0 });
    const [share] = rows.filter(({ unit }) => unit === '%');
    const [granted] = processes.filter(hasLoad).map(grantedOf);
    expect(Math.abs((share?.estimate ?? Number.NaN) - 100 * (granted?.busyShare ?? Number.NaN))).toBeLessThan(0.01);
    expect(code).toBe(rows.every(({ recovered }) => recovered) ? 0 : 1);
  });
});
