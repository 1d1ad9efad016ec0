/** OH-005's headline for functions and a profile whose average was computed by hand. */
import { describe, expect, it } from 'vitest';
import { profileMean } from '../../../lib/metrics/overhead/profile-mean.js';
import { readShippedProfile, shippedProfiles } from '../../../lib/results/shipped-profiles.js';
import type { CallProfile } from '../../../lib/results/call-profile.js';

const profile = (calls: Record<string, number>) =>
  ({ phases: [{ name: 'a', seconds: 1, steps: 1, calls }] }) as unknown as CallProfile;
const row = (name: string, overheadNs: number, ci95: [number, number] | null, differences: number[]) => ({
  name,
  overheadNs,
  ci95,
  differences: Float64Array.from(differences),
});

describe('the average over a profile', () => {
  it('weights by calls and adds errors as squares', () => {
    const rows = [row('cuInit', 10, [7, 13], [9, 10, 11, 12]), row('cuMemGetInfo_v2', 100, [96, 108], [90, 110])];
    const found = profileMean(rows, profile({ cuInit: 3, cuMemGetInfo_v2: 1 }));
    // Weights of 3/4 and 1/4: the ends deviate by 2.25 and 1, and by 2.25 and 2.
    expect(found).toMatchObject({ value: 32.5, measuredShare: 1, unmeasured: [] });
    expect(found?.ci95?.[0]).toBeCloseTo(32.5 - Math.hypot(2.25, 1), 9);
    expect(found?.ci95?.[1]).toBeCloseTo(32.5 + Math.hypot(2.25, 2), 9);
    expect([...(found?.samples ?? [])]).toEqual([29.25, 35]);
  });

  it('reports what it leaves out, and has no interval if a function has none', () => {
    const found = profileMean(
      [row('cuInit', 10, null, [10])],
      profile({ cuMemFree_v2: 1, cuInit: 3, cuMemAlloc_v2: 4 }),
    );
    expect(found).toMatchObject({ value: 10, ci95: null, measuredShare: 3 / 8 });
    expect(found?.unmeasured).toEqual(['cuMemAlloc_v2', 'cuMemFree_v2']);
  });

  it('is null if nothing was measured', () => {
    expect(profileMean([row('cuInit', 10, null, [10])], profile({ cuMemFree_v2: 1 }))).toBeNull();
  });
});

describe('the shipped profiles', () => {
  it.each(shippedProfiles)('%s is valid, natively recorded on a real GPU, and names its program', async (name) => {
    const read = await readShippedProfile(name);
    expect(read).toMatchObject({ name, origin: { simulated: false, gpus: ['NVIDIA H200'], ended: 'exit code 0' } });
    expect(read.origin.command).toEqual(['python3', 'bench/profiled.py', name]);
    expect(read.phases).toHaveLength(1);
    expect(read.phases[0]?.steps).toBeGreaterThanOrEqual(100);
  });
});
