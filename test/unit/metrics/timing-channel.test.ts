/** IS-015 judges slots: what they show, and when they show nothing about the neighbour. */
import { describe, expect, it } from 'vitest';
import { judge, type Played } from '../../../lib/metrics/isolation/is-015-timing-channel.js';

type Half = Played['halves'][0];

const PLAN = { slotMs: 100, mostLeads: 1, series: ['launchNs'], activities: ['launchStorm'] } as const;
const EACH = 20;

/** Slots of both kinds in turn; in those of the neighbour's work, the launches take this long. */
const half = (launchNs: number): Half =>
  Array.from({ length: 2 * EACH }, (_, i) => {
    const kind = i % 2 === 0 ? null : 'launchStorm';
    const took = kind === null ? 1_000 : launchNs;
    return { kind, signals: [took, took] };
  });

function judged(working: number, silent: number, change: Partial<Played> = {}) {
  const played = { late: 0, missing: new Map(), entered: undefined, ...change };
  const halves: Played['halves'] = [half(working), half(working)];
  const control: Played['control'] = [half(silent), half(silent)];
  return judge({ halves, control, ...played }, { ...PLAN, slotsEach: 2 * EACH }, 1);
}

describe('IS-015', () => {
  it('publishes the bits of all slots of a second if every slot is told apart', () => {
    const result = judged(2_000, 1_000);
    expect(result).toMatchObject({ value: 10, details: { verdict: 'fails', activity: 'launches', slots: 80 } });
    expect(result.status).toBeUndefined();
    // None of 40 wrong: at most 8.8 %, by C. J. Clopper & E. S. Pearson.
    expect(result.ci95?.[0]).toBeCloseTo(5.7, 1);
  });

  it('publishes 0 and passes if no slot is told apart', () => {
    expect(judged(1_000, 1_000)).toMatchObject({ value: 0, details: { verdict: 'passes' } });
  });

  it('is invalid if the slots differ with a silent neighbour', () => {
    const { status, reason } = judged(2_000, 2_000);
    expect(status).toBe('invalid');
    expect(reason).toMatch(/^a silent neighbour is not seen: permuted labels give as few errors with a probability of/);
  });

  it('is invalid if many slots began late', () => {
    expect(judged(2_000, 1_000, { late: 40 }).status).toBeUndefined();
    expect(judged(2_000, 1_000, { late: 41 })).toMatchObject({
      status: 'invalid',
      reason: 'slots began in time: 41 of 160 began late',
    });
  });

  it('has no number if the neighbour did nothing', () => {
    const missing = new Map([['launchStorm', 'no memory']] as const);
    expect(judged(2_000, 1_000, { missing })).toMatchObject({
      value: null,
      status: 'invalid',
      reason: 'the neighbour did nothing: launches: no memory',
    });
  });
});
