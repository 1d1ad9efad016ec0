import { describe, expect, it } from 'vitest';
import { makePlan } from '../../../lib/run/plan/plan.js';
import { shuffled } from '../../../lib/stats/random.js';
import { metric } from './fixtures.js';

const numbers = Array.from({ length: 20 }, (_, i) => i);

describe('the plan', () => {
  it('adds up the seconds of its tier, and one for the start of a round', () => {
    const metrics = [metric('OH-001'), metric('OH-002', 'overhead', { quick: 2, standard: 20, thorough: 200 })];
    expect(makePlan(metrics, 'quick', 1).estimatedSeconds).toBe(4);
    expect(makePlan(metrics, 'thorough', 1).estimatedSeconds).toBe(301);
  });

  it('depends only on the seed', () => {
    expect(shuffled(numbers, 7)).toEqual(shuffled(numbers, 7));
    expect(shuffled(numbers, 7)).not.toEqual(shuffled(numbers, 8));
  });

  it.each([1, 2, 3, 4, 5])('puts metrics that may harm the card last, for any seed (%d)', (seed) => {
    const harmless = ['OH-001', 'OH-002', 'OH-003'].map((id) => metric(id));
    const harmful = ['IS-005', 'IS-010'].map((id) => ({ ...metric(id, 'isolation'), runsLast: true as const }));
    const order = makePlan([...harmful, ...harmless], 'quick', seed).metrics.map(({ id }) => id);
    expect(order).toHaveLength(5);
    expect(order.slice(3).sort()).toEqual(['IS-005', 'IS-010']);
  });

  it('keeps metrics that share a process together, at places that differ with the seed', () => {
    const shared = ['OH-001', 'OH-002', 'OH-003'].map((id) => metric(id));
    const alone = ['OH-004', 'IS-008', 'LLM-004'].map((id) => ({ ...metric(id), where: 'fresh-processes' as const }));
    const places = new Set<number>();
    const orders = new Set<string>();
    for (let seed = 0; seed < 200; seed++) {
      const order = makePlan([...alone, ...shared], 'quick', seed).metrics;
      const first = order.findIndex(({ where }) => where === 'process');
      const ids = order.map(({ id }) => id);
      const block = ids.splice(first, shared.length);
      expect([...block].sort()).toEqual(shared.map(({ id }) => id));
      expect(ids.sort()).toEqual(alone.map(({ id }) => id).sort());
      places.add(first);
      orders.add(block.join());
    }
    expect(places).toEqual(new Set([0, 1, 2, 3]));
    expect(orders.size).toBe(6);
  });

  it('keeps every metric', () => expect(shuffled(numbers, 3).sort((a, b) => a - b)).toEqual(numbers));

  it('puts each metric first about equally often', () => {
    const counts = [0, 0, 0, 0, 0];
    for (let seed = 0; seed < 5_000; seed++) {
      const first = shuffled([0, 1, 2, 3, 4], seed)[0] as number;
      counts[first] = (counts[first] as number) + 1;
    }
    // Each count is about 1 000, with a standard deviation of 28.
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(140);
  });
});
