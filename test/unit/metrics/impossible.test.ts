/** Values that other tools published and that cannot be: constants, zeros in place of results, shares above all there is. */
import { describe, expect, it } from 'vitest';
import { impossibleValue } from '../../../lib/metrics/core/impossible.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { metricNamed } from '../../metric-named.js';

type Details = MetricResult['details'];

const why = (id: string, value: number | null, details: Details = {}) => {
  const definition = metricNamed(id);
  return impossibleValue(definition, { value, unit: definition.unit, details });
};

const turns = (gib: number, seconds: number, againSeconds: number) => ({ bytes: gib * 2 ** 30, seconds, againSeconds });
const x16 = { link: { ceilingGbs: 63.008 } };

it.each<[id: string, value: number | null, details: Details, reason: string]>([
  ['IS-014', 0.5, {}, '0.5 boolean'],
  ['IS-015', 12, { slotMs: 100 }, '12 bits/s'],
  ['IS-015', -1, { slotMs: 100 }, '-1 bits/s'],
  ['BW-001', 430, {}, '430 %'],
  ['BW-001', -3, {}, '-3 %'],
  ['BW-002', 1.01, {}, '1.01 ratio'],
  ['BW-002', 0.2, {}, '0.2 ratio'],
  ['BW-003', 0, {}, '0 ratio'],
  ['BW-003', 9, {}, '9 ratio'],
  ['BW-004', 100.5, {}, '100.5 %'],
  ['PCIE-001', 0, x16, '0 GB/s'],
  ['PCIE-001', 252, x16, '252.0 GB/s, and the link carries no more than 63.0'],
  ['PCIE-002', 450, {}, '450.0 GB/s, and the link carries no more than 121.0'],
  ['PCIE-003', 140, {}, '140 %'],
  ['PCIE-004', 0, {}, '0 ratio'],
  ['PCIE-004', 2, { ...x16, sources: [{ gbs: 50 }, { gbs: 90 }] }, '90.0 GB/s, and the link carries no more than 63.0'],
  ['CKPT-001', 0, {}, '0 ms'],
  ['CKPT-002', 252, x16, '252.0 GB/s, and the link carries no more than 63.0'],
  ['CKPT-003', 450, {}, '450.0 GB/s, and the link carries no more than 121.0'],
  ['CKPT-002', 2, { ...x16, sizes: [turns(16, 0.1, 0.5)] }, '171.8 GB/s, and the link carries no more than 63.0'],
  ['CKPT-003', 6, { ...x16, sizes: [turns(0, 0.2, 0.2), turns(4, 1, 0)] }, '4 GiB in no time'],
  ['CKPT-005', 0, {}, '0 %'],
  ['CKPT-005', 140, {}, '140 %'],
  ['SCHED-001', 0, {}, '0 us'],
  ['SCHED-001', -2, {}, '-2 us'],
  ['SCHED-002', 0, {}, '0 us'],
  ['SCHED-003', 0, {}, '0 %'],
  ['SCHED-003', 104, {}, '104 %'],
  ['FRAG-001', 170, {}, 'an index of 170 %'],
  ['FRAG-002', 0, {}, '0 ratio'],
  ['FRAG-003', 130, {}, '130 % of what there was at first'],
  ['FRAG-003', -5, {}, '-5 % of what there was at first'],
  ['ERR-001', 0, {}, '0 us'],
  ['ERR-003', 101, {}, '101 %'],
  ['SCHED-004', null, {}, 'ok without a value'],
  ['SCHED-004', Number.NaN, {}, 'ok without a value'],
  ['SCHED-004', Number.POSITIVE_INFINITY, {}, 'a number beyond 1e+100'],
])('%s of %s with %j is impossible', (id, value, details, reason) => expect(why(id, value, details)).toBe(reason));

describe('what is possible', () => {
  it.each<[id: string, value: number, details: Details]>([
    ['IS-014', 0, {}],
    ['IS-015', 10, { slotMs: 100 }],
    ['BW-001', 104, {}],
    ['BW-002', 0.25, {}],
    ['BW-003', 1.02, {}],
    ['BW-004', -1, {}],
    ['PCIE-001', 63, x16],
    ['PCIE-003', -4, {}],
    ['PCIE-004', 2, { ...x16, sources: [{ gbs: 50 }, { unsupported: 'refused' }] }],
    ['PCIE-004', 2, { ...x16, sources: 'none' }],
    ['CKPT-002', 2.2, { ...x16, sizes: [turns(0, 0, 0), turns(16, 8.5, 8.4), { bytes: 1, leftOut: 'too large' }] }],
    ['CKPT-003', 6.4, { ...x16, sizes: 'none' }],
    ['CKPT-005', 100.35, {}],
    ['SCHED-003', 12.5, {}],
    ['SCHED-004', -0.01, {}],
    ['FRAG-001', -1, {}],
    ['FRAG-003', 100.4, {}],
    ['ERR-003', 0, {}],
  ])('%s of %d with %j', (id, value, details) => expect(why(id, value, details)).toBeNull());
});
