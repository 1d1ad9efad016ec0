/**
 * SCHED-001: slices and switches of the simulated card, by its own record of the turns that it passed. That a turn and a
 * switch are as long as they are set is checked in native/test/card_test.cpp.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { contextSwitchBy } from '../../../lib/metrics/scheduling/sched-001-context-switch-latency.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import { median } from '../../../lib/stats/median.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder } from '../../native/child.js';
import { environment } from '../../native/measured.js';
import { type RecordedCall, recordedByProcess } from '../../native/record.js';
import { undisturbedRecord } from '../../undisturbed.js';

const layer = join(emptyFolder(), 'lazy-layer.so');
beforeAll(() => {
  const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
});

/** Several times what the fewest switches take, because a busy machine may start one tenant late. */
const WINDOW_MS = 600;

const measured = (sim: string, variables: NodeJS.ProcessEnv = {}, record?: string) =>
  measureMetric(
    { ...metricNamed('SCHED-001'), measure: contextSwitchBy(WINDOW_MS) },
    { simulate: true, tier: 'quick' },
    { system: environmentSystem({ ...environment(null, sim, record), ...variables }) },
  );

const lengthUs = ({ begins, ends }: RecordedCall) => (ends - begins) / 1e3;

/** What the card passed while the traces of both processes ran: whoever looked at it recorded the turns that were over. */
function recorded(record: string) {
  const calls = recordedByProcess(record).flatMap((process) => process.calls);
  const traces = calls.filter(({ kernel }) => kernel === 'gvb_trace_block');
  const from = Math.max(...traces.map(({ begins }) => begins));
  const to = Math.min(...traces.map(({ ends }) => ends));
  const turns = calls
    .filter(({ name, begins, ends }) => name === 'turn' && begins > from && ends < to)
    .sort((a, b) => a.begins - b.begins);
  const switches = turns.slice(1).map(({ begins }, i) => (begins - (turns[i] as RecordedCall).ends) / 1e3);
  const parties = [...new Set(turns.map(({ bytes }) => bytes))];
  const spanUs = (to - from) / 1e3;
  const shares = parties.map((party) => {
    const own = turns.filter(({ bytes }) => bytes === party).reduce((sum, turn) => sum + lengthUs(turn), 0);
    return (100 * own) / spanUs;
  });
  return { traces: traces.length, turns: turns.map(lengthUs), switches, shares };
}

/** Step of the device's clock. */
const STEP_US = 0.032;

describe('SCHED-001', () => {
  it.each([
    [1_300, 170],
    [2_600, 55],
  ])('finds slices of %i us and switches of %i us', async (sliceUs, switchUs) => {
    const { result, record } = await undisturbedRecord((folder) =>
      measured(`timeslice_us=${sliceUs},switch_us=${switchUs}`, {}, folder),
    );
    expect(result.status).toBe('ok');
    const { traces, turns, switches, shares } = recorded(record);
    expect(traces).toBe(2);
    expect(turns.length).toBeGreaterThan(WINDOW_MS / 12);
    expect(Math.abs((result.value as number) - median(switches).value)).toBeLessThanOrEqual(STEP_US);
    const { slices, sharePercent, atOncePercent, idlePauses, sliceLengths, tickNs } = result.details as {
      slices: { p50: number; min: number; max: number };
      sharePercent: [number, number];
      atOncePercent: number;
      idlePauses: number;
      sliceLengths: { percent: number; ms: number }[];
      tickNs: number;
    };
    const [shortest, longest] = [Math.min(...turns), Math.max(...turns)];
    const near = (ms: number, us: number) => expect(Math.abs(1e3 * ms - us)).toBeLessThanOrEqual(2 * STEP_US);
    near(slices.min, shortest);
    near(slices.p50, median(turns).value);
    near(slices.max, longest);
    near(sliceLengths[0]?.ms as number, shortest);
    near(sliceLengths.at(-1)?.ms as number, longest);
    expect({ atOncePercent, idlePauses, tickNs }).toEqual({ atOncePercent: 0, idlePauses: 0, tickNs: 32 });
    // A turn at either end is not in the record's.
    const end = (100 * longest) / (turns.length * (longest + median(switches).value));
    const sorted = (percents: number[]) => percents.sort((x, y) => x - y);
    for (const [i, percent] of sorted(sharePercent).entries())
      expect(Math.abs(percent - (sorted(shares)[i] as number))).toBeLessThan(2 * end);
    expect(result.details.twoContextsOfAProcess).toMatchObject({ launches: 500 });
  });

  it('has no value where contexts run concurrently', async () => {
    const result = await measured('mps=1');
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result.reason).toBe('contexts run concurrently: there is no switch between them');
  });

  it('has none where the switch is too short for the clock, or one process had the card until it was done', async () => {
    const short = await measured('switch_us=0.05');
    expect(short).toMatchObject({ status: 'invalid', value: null });
    expect(short.reason).toMatch(/^the clock is fine enough: steps of 32 ns/);
    const whole = await measured('turns_end=2');
    expect(whole).toMatchObject({ status: 'invalid', value: null });
    expect(whole.reason).toMatch(/^the two tenants were not on the card at the same time|^only 1 switches/);
  });

  it('has none under a layer that does not launch', async () => {
    const result = await measured('', { LD_PRELOAD: layer, GVB_TEST_LAZY: 'kernel=gvb_trace_blocks' });
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toContain('the device wrote 0');
  });
});
