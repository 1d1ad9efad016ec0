/** CKPT-007 on the simulated card: swaps whose calls the driver recorded, and pairs that cannot be. */
import { describe, expect, it } from 'vitest';
import { type SwapPairDetails, turnsCheck } from '../../../lib/metrics/checkpoint/ckpt-007-swap-pair.js';
import { impossibleValue } from '../../../lib/metrics/core/impossible.js';
import { metricNamed } from '../../metric-named.js';
import { recordsIn } from '../../native/record.js';
import { COSTS, onCard } from './card.js';

const CARD = { memory_mib: 512 };
const MIB = 2 ** 20;

/** From the lock to the end of the unlock of every swap, by the driver's clock: the last calls of the controller. */
function recordedSwaps(folder: string, count: number): number[] {
  const calls = recordsIn(folder)
    .flatMap(({ calls: all }) => all)
    .filter(({ name }) => /^cuCheckpointProcess(Lock|Unlock)$/.test(name))
    .sort((a, b) => a.entered - b.entered);
  const unlocks = calls.filter(({ name }) => name.endsWith('Unlock')).slice(0, count);
  return unlocks.map((unlock) => {
    const lock = calls[calls.indexOf(unlock) - 1];
    return (unlock.left - (lock?.entered ?? NaN)) / 1e9;
  });
}

describe('CKPT-007', () => {
  it('agrees with the calls that the driver recorded', async () => {
    const { result, record } = await onCard('CKPT-007', CARD, { iterations: 2 });
    expect(result).toMatchObject({ status: 'ok', processes: 2 });
    const { bytes, swaps, coldStartSeconds, ofColdStart, linkSeconds, ofLink } =
      result.details as unknown as SwapPairDetails;
    expect(2 * bytes).toBeGreaterThan((CARD.memory_mib - COSTS.context_mib) * MIB);
    const recorded = recordedSwaps(record, 2);
    for (const [i, { seconds, firstResultMs }] of swaps.entries()) {
      const called = recorded[i] as number;
      expect(seconds).toBeGreaterThan(called);
      // What passes between the calls and processes, beside the first work.
      expect(seconds - called - firstResultMs / 1e3).toBeLessThan(0.2 * called);
      const copies = ((COSTS.checkpoint_us_per_mib + COSTS.restore_us_per_mib) * bytes) / MIB;
      expect(called).toBeGreaterThan((COSTS.checkpoint_fixed_us + COSTS.restore_fixed_us + copies) / 1e6);
    }
    expect(ofColdStart).toBeCloseTo((result.value as number) / coldStartSeconds, 6);
    expect(ofLink).toBeCloseTo((result.value as number) / (linkSeconds as number), 6);
    const definition = metricNamed('CKPT-007');
    expect(impossibleValue(definition, result)).toBeNull();
    expect(impossibleValue(definition, { ...result, value: 0.001 })).toMatch(/the link carries no more/);
  });

  it('is invalid if the contents come back changed', async () => {
    const { result } = await onCard('CKPT-007', { ...CARD, checkpoint_corrupts: 1 }, { iterations: 1 });
    expect(result).toMatchObject({ status: 'invalid' });
    expect(result.reason).toMatch(/checksums/);
  });

  it('has no number if the memory does not leave the card', async () => {
    const { result } = await onCard('CKPT-007', { ...CARD, checkpoint_keeps: 1 }, { iterations: 1 });
    expect(result.value).toBeNull();
    expect(result.status).not.toBe('ok');
  });

  it('is unsupported if the host has no room, with both sizes', async () => {
    const { result } = await onCard('CKPT-007', { memory_mib: 4_000_000 }, { iterations: 1 });
    expect(result).toMatchObject({ status: 'unsupported' });
    expect(result.reason).toMatch(
      /^the host has too little memory: a pair of tenants takes .* of which .* may be taken$/,
    );
  });
});

describe('the memory in use during swaps', () => {
  const pair = (before: number, most: number | null) => ({
    bytes: 100,
    totalBytes: 200,
    swaps: [{ usedBytes: { before, most } }],
  });

  it('may not be that of both', () => {
    expect(turnsCheck(pair(120, 121))).toMatchObject({ passed: true });
    expect(turnsCheck(pair(120, 180))).toMatchObject({ passed: false });
    expect(turnsCheck(pair(199, 201))).toMatchObject({ passed: false });
    expect(turnsCheck(pair(120, null))).toMatchObject({ passed: 'not checked' });
  });
});
