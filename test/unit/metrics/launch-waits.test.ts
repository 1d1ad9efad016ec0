import { describe, expect, it } from 'vitest';
import { demandCheck, waitsIn } from '../../../lib/metrics/overhead/launch-waits.js';

/** A hundred launches of 5 us, except for those in `slow`, which took 12 ms; those in `preempted` were preempted. */
const turn = (slow: readonly number[], preempted: readonly number[] = []) => ({
  tookNs: Array.from({ length: 100 }, (_, place) => (slow.includes(place) ? 12e6 : 5e3)),
  preempted: [...preempted],
});

describe('launches with a limit', () => {
  it('stayed below the budget if none took a quantum', () =>
    expect(demandCheck([turn([]), turn([])])).toMatchObject({
      passed: true,
      detail: "longest launch with the limit 0.005 ms, a limiter's quantum is 10 ms",
    }));

  it('did not if one waited', () => {
    const { passed, detail } = demandCheck([turn([]), turn([7])]);
    expect(passed).toBe(false);
    expect(detail).toMatch(/^longest launch with the limit 12.000 ms.*; 1 took that long, 0 of them preempted$/);
  });

  it('did if the scheduler preempted them', () => {
    expect(demandCheck([turn([]), turn([7], [7, 9])]).passed).toBe(true);
    expect(waitsIn([turn([7, 8], [7])])).toEqual([{ preempted: true }, { preempted: false }]);
  });

  it('did not if more than one in a hundred was preempted, because a limiter may yield', () =>
    expect(demandCheck([turn([7, 8, 9], [7, 8, 9]), turn([])]).passed).toBe(false));
});
