import { describe, expect, it } from 'vitest';
import { conditionText, unlikeConditions } from '../../../lib/metrics/core/compared-at.js';
import { findMetric } from '../../../lib/metrics/registry.js';
import { effects } from '../../../lib/run/effects/comparison-effects.js';
import { result, runDocument } from '../run/fixtures.js';

const MIB = 1024 ** 2;
const live = (blocks: number, row: object) => ({
  sizes: [
    { bytes: 4096, live: 1024, ...row },
    { bytes: 2 * MIB, live: blocks, ...row },
  ],
});
const processes = (most: number) => ({
  rows: [
    { operation: 'allocFree', topology: 'shared', processes: 1 },
    { operation: 'allocFree', topology: 'shared', processes: most },
    { operation: 'launch', topology: 'shared', processes: 64 },
    { operation: 'allocFree', topology: 'separate', processes: 64 },
  ],
});

/** For each id, details with two sizes, as in documents, and the resulting reason. */
const CASES: [id: string, some: object, other: object, reason: string][] = [
  ['OH-002', live(32, { api: 'cuMemAlloc' }), live(8, { api: 'cuMemAlloc' }), 'live blocks is 8 against 32'],
  ['OH-003', live(1024, { order: 'fifo' }), live(512, { order: 'fifo' }), 'live blocks is 512 against 1024'],
  ['OH-006', processes(8), processes(2), 'number of processes is 2 against 8'],
  ['START-005', { gpus: 8 }, { gpus: 1 }, 'number of GPUs is 1 against 8'],
  ['START-006', { largest: 50 }, { largest: 10 }, 'largest is 10 against 50'],
];

describe('results are compared at equal sizes', () => {
  it.each(CASES)('of %s', (id, some, other, reason) => {
    const metric = findMetric(id);
    if (!metric) throw new Error('unreachable');
    const round = (name: string, details: object) => [
      runDocument({
        system: { name, kind: 'native', settings: {}, attestation: [] },
        metrics: [{ ...result(id, { value: 2 }), details: { ...details } }],
      }),
    ];
    expect(effects([metric], [round('a', some), round('b', other)])).toMatchObject([
      { verdict: 'invalid', reason, rounds: 0, ratio: null, difference: null },
    ]);
    expect(effects([metric], [round('a', some), round('b', some)])).toMatchObject([{ rounds: 1 }]);
  });

  it('shows the condition of a value, and nothing for metrics without one', () => {
    const asking = { comparedAt: { name: 'largest', of: ({ largest }: Record<string, unknown>) => largest } };
    expect(conditionText(asking, [{ largest: 50 }, { largest: 10 }, { largest: 50 }])).toBe('largest 50, 10');
    expect(unlikeConditions(asking, [{ largest: 50 }, { largest: 50 }])).toBeNull();
    expect(unlikeConditions(asking, [{ largest: 50 }, {}])).toBe('largest is 50 against undefined');
    expect([conditionText({}, [{ largest: 50 }]), unlikeConditions({}, [{ a: 1 }, { a: 2 }])]).toEqual([null, null]);
  });
});
