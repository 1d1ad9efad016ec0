/**
 * SCHED-001: slices and switches of the simulated card. Its timeline passes turns at exact times whatever the machine
 * does (native/test/card_test.cpp), so the slices and switches that the device's stamps show are compared with the
 * card's settings.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { measureMetric } from '../../../lib/metrics/measure.js';
import { contextSwitchBy } from '../../../lib/metrics/scheduling/sched-001-context-switch-latency.js';
import { environmentSystem } from '../../../lib/systems/environment.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder } from '../../native/child.js';
import { environment } from '../../native/measured.js';

const layer = join(emptyFolder(), 'lazy-layer.so');
beforeAll(() => {
  const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
});

const WINDOW_MS = 250;

const measured = (sim: string, variables: NodeJS.ProcessEnv = {}) =>
  measureMetric(
    { ...metricNamed('SCHED-001'), measure: contextSwitchBy(WINDOW_MS) },
    { simulate: true, tier: 'quick' },
    { system: environmentSystem({ ...environment(null, sim), ...variables }) },
  );

/** Step of the device's clock in us. */
const STEP_US = 0.032;

describe('SCHED-001', () => {
  it.each([
    [1_300, 170],
    [2_600, 55],
  ])('finds slices of %i us and switches of %i us', async (sliceUs, switchUs) => {
    const result = await measured(`timeslice_us=${sliceUs},switch_us=${switchUs}`);
    expect(result.status).toBe('ok');
    expect(Math.abs((result.value as number) - switchUs)).toBeLessThanOrEqual(STEP_US);
    const { slices, sharePercent, atOncePercent, idlePauses, sliceLengths, tickNs } = result.details as {
      slices: { p50: number; min: number; max: number };
      sharePercent: [number, number];
      atOncePercent: number;
      idlePauses: number;
      sliceLengths: { percent: number; ms: number }[];
      tickNs: number;
    };
    for (const ms of [slices.min, slices.p50, slices.max, ...sliceLengths.map((point) => point.ms)])
      expect(Math.abs(1e3 * ms - sliceUs)).toBeLessThanOrEqual(2 * STEP_US);
    expect({ atOncePercent, idlePauses, tickNs }).toEqual({ atOncePercent: 0, idlePauses: 0, tickNs: 32 });
    const each = (100 * sliceUs) / (2 * (sliceUs + switchUs));
    for (const percent of sharePercent) expect(Math.abs(percent - each)).toBeLessThan(2);
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
