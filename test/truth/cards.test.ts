/**
 * Every metric on the cards of test/cards/expected.ts. The whole table takes two minutes of processor time per card, so it
 * is measured with GVB_EVERY_CARD=1 only; otherwise each metric is measured on the card that is hardest for its category.
 */
import { describe, it } from 'vitest';
import { metrics } from '../../lib/metrics/registry.js';
import { ALL_IDS, type Card, CARDS, cardNamed } from '../cards/expected.js';
import { expectAsExpected, measuredOn } from '../cards/measured.js';

const SMALL = cardNamed('card=gtx-1650-4gb');
const INSTANCE = cardNamed('card=a100-40gb,mig=1g.5gb');
const FEW_THREADS = cardNamed('card=rtx-5090');
const INTEGRATED = cardNamed('card=gb10');

/** Little memory, few threads and little shared memory, memory and links of which NVML says nothing, one copy engine. */
const HARDEST: Readonly<Record<string, Card>> = {
  overhead: INTEGRATED,
  isolation: SMALL,
  llm: FEW_THREADS,
  scheduling: FEW_THREADS,
  'error-recovery': SMALL,
  bandwidth: INSTANCE,
  cache: INSTANCE,
  pcie: INSTANCE,
  nccl: SMALL,
  fragmentation: SMALL,
  'start-up': INTEGRATED,
  compatibility: INTEGRATED,
};

const onHardest = (card: Card) => metrics.filter(({ category }) => HARDEST[category] === card).map(({ id }) => id);
const table =
  process.env.GVB_EVERY_CARD === '1'
    ? CARDS.map((card) => ({ card, ids: ALL_IDS, name: card.sim }))
    : [...new Set(Object.values(HARDEST))].map((card) => ({ card, ids: onHardest(card), name: card.sim }));

describe.each(table)('$name', ({ card, ids }) => {
  it(`has a number or a true reason for ${ids.length} metrics`, async () => {
    expectAsExpected(card, ids, await measuredOn(card, ids));
  });
});
