/**
 * The short form of test/truth/cards.test.ts: every card, with one metric of each category in one command. Four categories take half a
 * second of processor time together. A metric of the others takes 0.3 to 4 s for processes, tenants, copies or faults, on all cards three
 * minutes, so the cards have these in turn: each category is on two cards or more.
 */
import { expect, it } from 'vitest';
import { metrics } from '../../lib/metrics/registry.js';
import { CARDS } from '../cards/expected.js';
import { expectAsExpected, measuredOn } from '../cards/measured.js';

/** The cheapest of their categories that can have a number on one card; of nccl none can. What LLM-008 has depends on the card most. */
const EVERYWHERE = ['OH-002', 'LLM-008', 'SCHED-003', 'NCCL-001'];
/** The same of categories with a fresh process. */
const FRESH = ['IS-013', 'START-005'];
/** The same of the expensive categories, ordered so that a whole card and an instance meet CKPT-006. */
const EXPENSIVE = ['FRAG-001', 'ERR-003', 'PCIE-001', 'CACHE-002', 'CKPT-006', 'BW-002', 'COMPAT-001'];

it('measures one metric of each category', () => {
  const ids = [...EVERYWHERE, ...FRESH, ...EXPENSIVE];
  const categories = ids.map((id) => metrics.find((metric) => metric.id === id)?.category);
  expect(categories.sort()).toEqual([...new Set(metrics.map(({ category }) => category))].sort());
});

const table = CARDS.map((card, index) => {
  const inTurn = [FRESH, EXPENSIVE].map((ids) => ids[index % ids.length] as string);
  return [card.sim, inTurn.join(' and '), card, [...EVERYWHERE, ...inTurn]] as const;
});

// Commands wait for processes, so two run at a time.
it.concurrent.each(table)('%s has a number of quick metrics, %s, or a true reason', async (_, __, card, ids) => {
  expectAsExpected(card, ids, await measuredOn(card, ids));
});
