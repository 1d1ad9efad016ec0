/** Turns on the card, told by tokens. */
import { expect, it } from 'vitest';
import { changesIn, wholeCycles } from '../../../lib/metrics/tenants/turns.js';

/** Tokens of each tenant: ten in each turn of 100, with 50 between two turns. */
const turn = (from: number) => Array.from({ length: 10 }, (_, i) => from + 10 * i);
const TENANTS = [
  [...turn(0), ...turn(300), ...turn(600)],
  [...turn(150), ...turn(450), ...turn(750)],
];

it('finds each change with the tokens on both sides', () => {
  const changes = changesIn(TENANTS).map(({ before, first }) => [before.ns, first.ns, first.tenant]);
  expect(changes).toEqual([
    [90, 150, 1],
    [240, 300, 0],
    [390, 450, 1],
    [540, 600, 0],
    [690, 750, 1],
  ]);
});

it('takes whole cycles, wherever the window begins and ends', () => {
  expect(wholeCycles(TENANTS, { fromNs: 0, toNs: 840 })).toEqual({ fromNs: 150, toNs: 750 });
  expect(wholeCycles(TENANTS, { fromNs: 200, toNs: 700 })).toEqual({ fromNs: 300, toNs: 600 });
});

it('finds none where no tenant begins twice', () => {
  expect(wholeCycles(TENANTS, { fromNs: 200, toNs: 500 })).toBeNull();
  expect(wholeCycles([turn(0), []], { fromNs: 0, toNs: 100 })).toBeNull();
});
