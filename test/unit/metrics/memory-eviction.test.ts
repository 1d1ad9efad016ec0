/** What the rows of soft memory limits say of the layer. */
import { expect, it } from 'vitest';
import { brokenSoftLimits, type EvictionRow } from '../../../lib/metrics/isolation/memory-eviction.js';

const GIB = 2 ** 30;
const row: EvictionRow = {
  ...{ firstHolds: 'more than its soft limit', softBytes: 4 * GIB, firstBytes: 6 * GIB, freeBytes: 2 * GIB },
  ...{ askedBytes: 3 * GIB, grantedBytes: 3 * GIB, tookMs: 1, outcome: 'evicted', told: 'gone', passed: true },
};

it.each<[string, EvictionRow, string[]]>([
  ['an eviction that was told', row, []],
  ['a card without pressure', { firstHolds: row.firstHolds, softBytes: GIB, notMeasured: 'room for both' }, []],
  [
    'memory that is lost without an error',
    { ...row, outcome: 'content lost', told: null, passed: false },
    ['soft limit: a tenant that held 6 GiB lost them without an error'],
  ],
  [
    'a request within the soft limit that is refused',
    { ...row, grantedBytes: GIB, outcome: 'kept', told: null, refusal: 'CUDA_ERROR_OUT_OF_MEMORY', passed: false },
    ['soft limit: a tenant got 1 GiB of 3 GiB within 4 GiB beside one that held 6 GiB: CUDA_ERROR_OUT_OF_MEMORY'],
  ],
  [
    'memory within the soft limit that is lost',
    { ...row, firstHolds: 'less than its soft limit', firstBytes: 3 * GIB, outcome: 'killed', passed: false },
    ['soft limit: a tenant that held 3 GiB within 4 GiB lost them to one above its own (killed)'],
  ],
])('of %s', (_, of, violations) => expect(brokenSoftLimits(of)).toEqual(violations));
