/** IS-015 on simulated cards whose loads take longer after certain calls of a neighbour, and on one where none do. */
import { describe, expect, it } from 'vitest';
import {
  type ChannelPlan,
  type TimingChannelDetails,
  timingChannelBy,
} from '../../../lib/metrics/isolation/is-015-timing-channel.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { metricNamed } from '../../metric-named.js';
import { environmentUnder } from '../../native/measured.js';
import { undisturbed } from '../../undisturbed.js';

type Activities = NonNullable<ChannelPlan['activities']>;

/**
 * Loads alone, whose times are the card's and not the host's; enough slots that an idle neighbour in some is no matter. A neighbour that
 * copies makes memory ready before each slot, which a host may take half a second for, at the first touch of its pages.
 */
const PLAN = { slotsEach: 16, mostLeads: 40, series: ['volatileCycles', 'acquireCycles'] } as const;
const SLOT_MS = 40;
/** A host may copy 16 MiB as slowly as that. */
const COPY_SLOT_MS = 160;

const channel = (sim: string, activities: Activities) => {
  const slotMs = activities.includes('copyToDevice') ? COPY_SLOT_MS : SLOT_MS;
  return undisturbed(
    () =>
      measureMetric(
        { ...metricNamed('IS-015'), measure: timingChannelBy({ ...PLAN, slotMs, activities }) },
        { simulate: true, seed: 1 },
        { system: environmentUnder(null, sim) },
      ),
    (result) => [result],
    ({ id, details }) => (details as TimingChannelDetails).missing.map(({ reason }) => ({ id, reason })),
  );
};

const rowsOf = ({ details }: { details: Record<string, unknown> }) => (details as TimingChannelDetails).activities;

/** What an observer learns who cannot tell the slots apart: nothing. */
const NOTHING = { correct: 50, bitsPerSecond: 0, p: 1 };

describe('IS-015', () => {
  it.each<[string, string, Activities, string]>([
    ['launches', 'launch_leak_ns=500', ['launchStorm', 'contextStorm'], 'context creation'],
    ['allocations', 'alloc_leak_ns=500', ['launchStorm', 'allocStorm'], 'launches'],
    ['context creation', 'context_leak_ns=500', ['allocStorm', 'contextStorm'], 'allocations'],
    ['copies to the device', 'copy_leak_ns=500', ['launchStorm', 'copyToDevice'], 'launches'],
  ])('finds %s by %s', async (found, sim, activities, other) => {
    const result = await channel(sim, activities);
    expect(result).toMatchObject({ status: 'ok', ciScope: 'within-process', processes: 2 });
    const details = result.details as TimingChannelDetails;
    expect(details).toMatchObject({ verdict: 'fails', activity: found, missing: [], slots: 48 });
    const rows = rowsOf(result);
    const of = (name: string) => rows.find(({ activity }) => activity === name);
    expect(of(found)?.signal).toMatch(/^ld\./);
    expect(of(found)?.correct).toBeGreaterThan(80);
    expect(of(found)?.control).toMatchObject(NOTHING);
    expect(of(other)).toMatchObject({ ...NOTHING, control: NOTHING });
    expect(result.value).toBeLessThanOrEqual(1_000 / details.slotMs);
    expect(result.value).toBe(of(found)?.bitsPerSecond);
    expect(result.ci95?.[0]).toBeGreaterThan(0);
  });

  it('finds nothing on a card whose loads take the same time beside a neighbour, and does not fail', async () => {
    const result = await channel('', ['launchStorm', 'allocStorm', 'contextStorm']);
    expect(result).toMatchObject({ status: 'ok', value: 0, ci95: [0, expect.any(Number)] });
    expect(result.details).toMatchObject({ verdict: 'inconclusive' });
    for (const row of rowsOf(result)) expect(row).toMatchObject({ ...NOTHING, control: NOTHING });
  });
});
