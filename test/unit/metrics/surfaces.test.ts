/** What IS-005 says of memory that another tenant could read. */
import { expect, it } from 'vitest';
import { leakText } from '../../../lib/metrics/isolation/is-005-memory-isolation.js';
import { shareOnChip } from '../../../lib/metrics/isolation/shared/surfaces.js';

const leak = (surface: string, bytes: number, lookedAtBytes: number) =>
  leakText({ surface, transition: 'exit', control: 'passed', outcome: 'leaks', bytes, lookedAtBytes });

it('is a size where every byte was scanned once', () =>
  expect(leak('cuMemAlloc', 3 * 2 ** 30, 5 * 2 ** 30)).toBe(
    "cuMemAlloc (exit): 3 GiB of another tenant's memory could be read",
  ));

it('is a share of what was scanned on the chip, where the same memory was scanned again and again', () =>
  expect(leak('shared memory', 13_679_370_240, 26_521_123_840)).toBe(
    "shared memory (exit): another tenant's tag was in 52 % of what was scanned (12.74 GiB of 24.7 GiB, the same memory again and again)",
  ));

it.each([
  ['registers', 3_902_073_344, 233_623_781_376, '1.7 %'],
  ['local memory', 1, 1, '100 %'],
  ['registers', 1, undefined, null],
  ['cuMemAlloc', 1, 1, null],
])('share of %s: %d of %s', (surface, bytes, lookedAt, share) =>
  expect(shareOnChip(surface, bytes, lookedAt)).toBe(share),
);
