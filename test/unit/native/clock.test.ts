import { describe, expect, it } from 'vitest';
import { judgeClock } from '../../../lib/native/clock.js';
import type { ClockReading } from '../../../lib/native/addon-types.js';
import { withClock } from '../../../lib/systems/proof/attest-worker.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import { clock, description, inspection } from '../run/fixtures.js';

const LAYER = '/opt/slow.so';

/** CLOCK_MONOTONIC_RAW with changes. */
const rate = (change: Partial<ClockReading['rates'][number]>): ClockReading =>
  clock({ rates: [{ clock: 'RAW', libraryNs: 1e9, systemNs: 1e9, counterNs: 1e9, bracketNs: 500, ...change }] });

describe('judgeClock', () => {
  it("accepts libc's clock, and names its reference", () => {
    expect(judgeClock(clock())).toEqual({
      passed: true,
      detail: "libc's, at the rate of the raw system call over 1.00 s; counter not checked: it does not keep time",
      invalid: null,
    });
    expect(judgeClock(rate({}))).toMatchObject({ passed: true, detail: expect.stringMatching(/processor's counter$/) });
  });

  it.each<[string, ClockReading, RegExp]>([
    [
      'a function of another library, even at the right rate',
      clock({ functions: [{ name: 'clock_gettime', owner: LAYER, own: false }] }),
      /^the clock belongs to \/opt\/slow\.so$/,
    ],
    [
      'one that runs at half the rate',
      { ...rate({ libraryNs: 5e8 }), functions: [{ name: 'clock_gettime', owner: LAYER, own: false }] },
      /^the clock belongs to \/opt\/slow\.so \(RAW ran at 0\.5000 of the rate of the raw system call\)$/,
    ],
    [
      'a rate that is wrong although libc owns the function',
      rate({ libraryNs: 5e8 }),
      /^the clock is changed by an unknown library \(RAW ran at 0\.5000 of the rate of the raw system call\)$/,
    ],
    [
      'a system call that agrees and a counter that does not',
      rate({ counterNs: 2e9 }),
      /RAW ran at 0\.5000 of the rate of the processor's counter/,
    ],
    ['a fifth of a millisecond gone from a second', rate({ libraryNs: 1e9 - 2e5 }), /RAW ran at 0\.9998/],
  ])('refuses %s', (_, reading, reason) => {
    const { passed, invalid } = judgeClock(reading);
    expect(passed).toBe(false);
    expect(invalid).toMatch(reason);
  });

  it.each([
    ['what lies between the readings', rate({ libraryNs: 1e9 + 90_000, bracketNs: 1e5 })],
    ['what NTP steers', rate({ counterNs: 1.0005e9 })],
  ])('tolerates %s', (_, reading) => expect(judgeClock(reading).invalid).toBeNull());
});

it("a worker with a foreign clock gives no number under any system, and its system's own reason comes first", async () => {
  const foreign = inspection({ clock: clock({ functions: [{ name: 'clock_gettime', owner: LAYER, own: false }] }) });
  const seen = description({ inspection: foreign });
  const attestation = await environmentSystem({}).attest(seen);
  const judged = withClock(attestation, seen, 'after');
  expect(judged.invalid).toBe(`the clock belongs to ${LAYER}`);
  expect(judged.proofs.at(-1)).toMatchObject({ proof: "the clock is the system's, after", passed: false });
  expect(withClock({ ...attestation, invalid: 'layer not active' }, seen, 'before').invalid).toBe(
    `layer not active; and the clock belongs to ${LAYER}`,
  );
});
