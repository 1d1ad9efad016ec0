/** The check that the host holds what left the card. */
import { describe, expect, it } from 'vitest';
import { hostCheck } from '../../../lib/metrics/checkpoint/checks.js';
import type { HeldTarget } from '../../../lib/metrics/checkpoint/held-targets.js';
import { GIB, MIB } from '../../../lib/metrics/core/units.js';

const target = (bytes: number, ...hostBytes: (number | null)[]): HeldTarget => ({
  bytes,
  turns: hostBytes.map((each) => ({ hostBytes: each })) as HeldTarget['turns'],
});

describe('the host holds the memory', () => {
  it('passes where each target grew by what it held', () => {
    expect(hostCheck([target(GIB, GIB, 0.95 * GIB), target(16 * MIB, 15 * MIB)])).toMatchObject({ passed: true });
  });

  it('asks nothing of a target that held nothing, whose heap may shrink', () => {
    expect(hostCheck([target(0, -MIB, 0), target(GIB, GIB)])).toMatchObject({ passed: true });
    expect(hostCheck([target(0, -MIB)])).toMatchObject({ passed: 'not checked', detail: 'no target held memory' });
  });

  it('fails where contents are not kept, however small the target', () => {
    expect(hostCheck([target(GIB, GIB, 0.5 * GIB)])).toMatchObject({
      passed: false,
      detail: "a target of 1 GiB grew by 512 MiB of the host's memory",
    });
    expect(hostCheck([target(16 * MIB, -MIB)])).toMatchObject({
      passed: false,
      detail: "a target of 16 MiB grew by 0 B of the host's memory",
    });
  });

  it('does not pass what cannot be read', () => {
    expect(hostCheck([target(GIB, null)])).toMatchObject({ passed: 'not checked' });
  });
});
