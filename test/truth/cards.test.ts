/**
 * Every metric on the cards of test/cards/expected.ts, and with little memory. The whole takes two minutes of processor
 * time per card, so it is measured with GVB_EVERY_CARD=1 only; otherwise each metric is measured on the card that is hardest
 * for its category.
 */
import { describe, expect, it } from 'vitest';
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
  checkpoint: INTEGRATED,
  compatibility: INTEGRATED,
};

const onHardest = (card: Card) => metrics.filter(({ category }) => HARDEST[category] === card).map(({ id }) => id);
const table =
  process.env.GVB_EVERY_CARD === '1'
    ? CARDS.map((card) => ({ card, ids: ALL_IDS, name: card.sim }))
    : [...new Set(Object.values(HARDEST))].map((card) => ({ card, ids: onHardest(card), name: card.sim }));

/** Free beside the first context, or none beside it. */
const MEMORIES = process.env.GVB_EVERY_CARD === '1' ? [256, 512, 700, 1_024, 2_048] : [];

it.each(MEMORIES.flatMap((mib) => [`memory_mib=${mib}`, `memory_mib=${mib + 64},context_mib=64`]))(
  'has a number or a reason for all metrics with %s',
  async (sim) => {
    const { metrics } = await measuredOn({ sim }, ALL_IDS);
    expect(metrics.filter(({ status }) => status !== 'ok' && status !== 'unsupported')).toEqual([]);
  },
);

describe.each(table)('$name', ({ card, ids }) => {
  it(`has a number or a true reason for ${ids.length} metrics`, async () => {
    expectAsExpected(card, ids, await measuredOn(card, ids));
  });
});
