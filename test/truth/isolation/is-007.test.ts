/** IS-007 on the simulated card: turns longer than a window, whose effect on each window is recorded. */
import { describe, expect, it } from 'vitest';
import { mean, sampleStandardDeviation } from 'simple-statistics';
import { consistencyBy, type Steadiness } from '../../../lib/metrics/isolation/is-007-consistency.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { metricNamed } from '../../metric-named.js';
import { environmentUnder } from '../../native/measured.js';
import { undisturbedRecord } from '../../undisturbed.js';
import { loadsOf, staggered } from './shares.js';

const BIN_NS = 100e6;

describe('IS-007', () => {
  it('finds how unevenly a tenant is served, including windows without service', async () => {
    // The device's clock is the host's, so windows of the record are those of the card.
    const sim =
      'timeslice_us=130000,clock_offset_ns=0,clock_drift_ppm=0,recorded=cuLaunchKernel+cuDevicePrimaryCtxRetain';
    const measure = consistencyBy({ aloneMs: 300, togetherMs: 1_000 });
    const definition = { ...metricNamed('IS-007'), measure };
    const { result, record } = await undisturbedRecord((folder) => {
      const system = staggered(environmentUnder(null, sim, folder));
      return measureMetric(definition, { simulate: true, seed: 1 }, { system });
    });
    expect(result).toMatchObject({ status: 'ok', processes: 4 });
    const { windows, idleWindows } = result.details.together as Steadiness;
    const loads = loadsOf(record);
    const together = loads.slice(1, 4).map((blocks) => blocks.at(-1) ?? []);
    const first = Math.max(...together.map((load) => Math.ceil((load[0]?.begins ?? 0) / BIN_NS)));
    // A kernel of 1 ms that waits for the next turn does not work all of its time: its end counts.
    const served = Array.from(
      { length: windows },
      (_, i) => (together[0] ?? []).filter(({ ends }) => Math.floor(ends / BIN_NS) === first + i).length,
    );
    // How often it must wait for three turns depends on how many of the others have work, as the record shows. A
    // waiting kernel has worked in the previous window, but the record counts it in the one in which it ends.
    const idle = served.filter((launches) => launches === 0).length;
    const waits = served.filter((launches, i) => launches === 0 && served[i - 1] !== 0).length;
    expect(Math.abs(idleWindows - idle)).toBeLessThanOrEqual(waits);
    expect(Math.abs((result.value as number) - sampleStandardDeviation(served) / mean(served))).toBeLessThan(0.1);
  });
});
