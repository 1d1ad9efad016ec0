/** Shares of a limited tenant, for loads with known bins. */
import { describe, expect, it } from 'vitest';
import { exceeded } from '../../../lib/metrics/isolation/shared/exceeded.js';
import { rateSinceLaunch, sharesPercent } from '../../../lib/metrics/isolation/tenant-load.js';
import type { Load } from '../../../lib/native/addon-types.js';

const MS = 1e6;
/** Bins of 10 ms; the unlimited tenant does 1 a nanosecond, and this one 1 in the bins that it has. */
function load(launchedMs: number, startedMs: number, bins: number[], bracketMs = 0): Load {
  const work = bins.reduce((sum, bin) => sum + bin, 0) * 10 * MS;
  return {
    bins: bins.map((bin) => bin * 10 * MS),
    work,
    startedNs: startedMs * MS,
    endedNs: 10 * bins.length * MS,
    hostOriginNs: 7 * MS,
    hostStartedNs: (7 + launchedMs) * MS,
    hostBracketNs: bracketMs * MS,
  } as Partial<Load> as Load;
}
const shares = (...of: Parameters<typeof load>) => sharesPercent(load(...of), 10, 1);

describe('shares of a tenant', () => {
  it('are those of the bins after the first launch', () =>
    expect(shares(1, 1.2, [0.5, 1, 0, 1])).toEqual([100, 0, 100]));

  it('are 0 while the first kernel is held back, of which the load has no bins', () =>
    expect(shares(-31, 4, [0.6, 1])).toEqual([0, 0, 0, 60, 100]));

  it('are not 0 for less than the clocks are related to', () =>
    expect(shares(-12, 4, [0.6, 1], 24)).toEqual([60, 100]));

  it('never begin after the first kernel', () => expect(shares(9, 4, [0.6, 1], 100)).toEqual([100]));

  it('are none of a load that ended within a bin', () => expect(shares(1, 1.2, [0.5])).toEqual([]));

  it('have a mean from the first launch on', () => expect(rateSinceLaunch(load(-20, 0, [1, 1]))).toBe(0.5));
});

describe('a compute limit', () => {
  it('holds with a tenth above it', () => expect(exceeded(33, 30, 'seconds 1 to 3')).toEqual([]));

  it('is exceeded by more', () =>
    expect(exceeded(33.1, 30, 'seconds 1 to 3')).toEqual([
      '33.1 % of the work without a limit under a limit of 30 % (seconds 1 to 3)',
    ]));
});
