import { describe, expect, it } from 'vitest';
import type { MetricResult, ResultWithoutNumber, RunDocument } from '../../../lib/results/document.js';
import { implausibleInit } from '../../../lib/metrics/tenants/early-initialisation.js';
import { effects, pairEffects } from '../../../lib/run/effects/comparison-effects.js';
import { conclusionsOf } from '../../../lib/run/effects/judged.js';
import { severalCardsText } from '../../../lib/results/cards.js';
import { device, metric, result, runDocument } from './fixtures.js';

const launch = metric('OH-001');

const onCard = (index: number) => ({ ...device(index), simulated: false });

/** A system's rounds, with the same result in each. */
const rounds = (name: string, count: number, change: Partial<MetricResult>, document: Partial<RunDocument> = {}) =>
  Array.from({ length: count }, () =>
    runDocument({
      system: { name, kind: 'native', settings: {}, attestation: [] },
      metrics: [result('OH-001', change)],
      ...document,
    }),
  );

describe('the effects of a comparison', () => {
  it('are decided together by system', () => {
    const spread = [1, 1.02, 0.98, 1.01, 0.99];
    const arm = (name: string, launchUs: number, others: readonly string[]) =>
      spread.map((factor) =>
        runDocument({
          system: { name, kind: 'native', settings: {}, attestation: [] },
          metrics: [
            result('OH-001', { value: launchUs * factor }),
            ...others.map((id) => result(id, { value: 2 * factor })),
          ],
        }),
      );
    const others = Array.from({ length: 40 }, (_, i) => `X-${100 + i}`);
    const all = [launch, ...others.map((id) => ({ ...launch, id }))];
    const of = (ids: readonly string[]) =>
      effects(all, [arm('a', 2, ids), arm('b', 2.075, ids)]).find(({ metric }) => metric === 'OH-001');
    expect(of([])).toMatchObject({ verdict: 'slower', established: true, rounds: 5 });
    expect(of(others)).toMatchObject({ verdict: 'inconclusive', established: false });
    expect(of(others)?.roundsNeeded).toBeGreaterThan(5);
  });

  it('are computed between the systems besides the baseline too, in the same form', () => {
    const spread = [1, 1.01, 0.99];
    const arm = (name: string, value: number) => spread.flatMap((factor) => rounds(name, 1, { value: value * factor }));
    const found = pairEffects([launch], [arm('native', 1), arm('a', 4), arm('b', 2)]);
    expect(found).toMatchObject([{ system: 'b', baseline: 'a', verdict: 'faster' }]);
  });

  it('are invalid, without a number, between a simulated and a real GPU, in any round', () => {
    const simulated = { gpu: [{ ...device(0), simulated: true }] };
    const real = (count: number) => rounds('a', count, { value: 2 });
    const later = [...real(4), ...rounds('b', 1, { value: 3 }, simulated)];
    for (const system of [rounds('b', 5, { value: 3 }, simulated), later])
      expect(effects([launch], [real(5), system])).toMatchObject([
        {
          verdict: 'invalid',
          reason: 'measured partly on a simulated and partly on a real GPU',
          rounds: 0,
          ratio: null,
          ratioCi95: null,
          difference: null,
          differenceCi95: null,
          p: null,
          pMannWhitney: null,
        },
      ]);
  });

  describe('of rounds on several cards', () => {
    /** A round is on card 0 or 1, of which the second takes twice as long; `factor` is the system's. */
    const arm = (name: string, cards: readonly number[], factor: number) =>
      cards.flatMap((card, round) =>
        rounds(
          name,
          1,
          { value: factor * (card + 1) * (1 + 0.001 * ((round * 7) % 5)) },
          { gpu: [onCard(card)], provenance: [{ name: 'cuInit', paths: {}, interposed: [] }] as never },
        ),
      );

    it('are those within the cards, however the cards differ', () => {
      const [found] = effects([launch], [arm('native', [0, 1, 0, 1, 1], 1), arm('pod', [0, 1, 0, 1, 1], 1.2)]);
      expect(found).toMatchObject({ verdict: 'slower', rounds: 5, pMannWhitney: null, betweenRounds: null });
      expect(found?.ratio).toBeCloseTo(1.2, 10);
      // Both arms alone vary by a factor of two.
      const [low, high] = found?.ratioCi95 ?? [0, 0];
      expect(low).toBeGreaterThan(1.15);
      expect(high).toBeLessThan(1.25);
    });

    it('leave out rounds without a partner', () => {
      const arms = [arm('native', [0, 1, 0, 0, 1], 1), arm('pod', [0, 1, 1, 0, 0], 1)];
      expect(effects([launch], arms)).toMatchObject([{ verdict: 'same', rounds: 3 }]);
      const { cards = [] } = conclusionsOf([launch], arms);
      const [own = '', other = ''] = [device(0).uuid, device(1).uuid];
      expect(cards).toEqual([
        {
          system: 'pod',
          baseline: 'native',
          paired: [
            { uuid: own, rounds: [1, 4] },
            { uuid: other, rounds: [2] },
          ],
          leftOut: [
            { round: 3, system: other, baseline: own },
            { round: 5, system: own, baseline: other },
          ],
        },
      ]);
      expect(cards.map(severalCardsText)).toEqual([
        `pod is compared with native within 2 cards: ${own} (rounds 1, 4), ${other} (round 2); round 3 is left out: pod ran on ${other}, native on ${own}; round 5 is left out: pod ran on ${own}, native on ${other}`,
      ]);
    });

    it('are not known from fewer than two pairs', () => {
      const [found] = effects([launch], [arm('native', [0, 0, 0], 1), arm('pod', [0, 1, 1], 1)]);
      expect(found).toMatchObject({ verdict: 'invalid', ratio: null, ratioCi95: null });
      expect(found?.reason).toContain('both ran on one card in 1 of 3 rounds, 2 are needed');
    });

    it('are as ever on one card, and between an instance and a card', () => {
      const instance = { gpu: [{ ...onCard(1), uuid: 'MIG-67766273-696d-4000-8000-000000000001' }] };
      const arms = [rounds('native', 3, { value: 2 }, { gpu: [onCard(0)] }), rounds('mig', 3, { value: 2 }, instance)];
      expect(conclusionsOf([launch], arms).cards).toBeUndefined();
      expect(effects([launch], arms)).toMatchObject([{ verdict: 'same', rounds: 3 }]);
      expect(conclusionsOf([launch], [arm('a', [0, 0], 1), arm('b', [0, 0], 1)]).cards).toBeUndefined();
    });
  });

  it('are invalid between values of different numbers of processes', () => {
    const starts = {
      ...launch,
      comparedAt: { name: 'largest', of: ({ largest }: MetricResult['details']) => largest },
    };
    const of = (name: string, largest: number) => rounds(name, 2, { value: 2, details: { largest } });
    const [found] = effects([starts], [of('a', 50), of('b', 10)]);
    expect(found).toMatchObject({ verdict: 'invalid', reason: 'largest is 10 against 50', rounds: 0, ratio: null });
    expect(effects([starts], [of('a', 50), of('b', 50)])).toMatchObject([{ verdict: 'same', rounds: 2 }]);
  });

  it('are invalid if cuInit took less than a hundredth of the native arm’s', () => {
    const start = { ...launch, besideNative: implausibleInit };
    const of = (name: string, valueMs: number) =>
      rounds(name, 2, { value: 2, details: { steps: [{ step: 'init', valueMs }] } });
    const [found] = effects([start], [of('native', 98), of('b', 0.004)]);
    expect(found).toMatchObject({ verdict: 'invalid', rounds: 0, ratio: null });
    expect(found?.reason).toBe("the driver was initialised before cuInit: it took 0.0041 % of the native arm's");
    expect(effects([start], [of('native', 98), of('b', 10)])).toMatchObject([{ verdict: 'same', rounds: 2 }]);
  });

  it('ignore the details of an invalid or failed result', () => {
    const throughput = {
      ...metric('OH-001'),
      delta: { absolute: 1 },
      againstNative: {
        arm: ({ rate }: MetricResult['details']) => (typeof rate === 'number' ? rate : null),
        difference: (system: number, native: number) => 100 * (1 - system / native),
      },
    };
    const of = (name: string, rate: number, status: ResultWithoutNumber['status'] = 'unsupported') =>
      rounds(name, 2, { status, value: null, details: { rate } });
    expect(effects([throughput], [of('a', 50), of('b', 20)])).toMatchObject([{ difference: 60, rounds: 2 }]);
    const [invalid] = effects([throughput], [of('a', 50), of('b', 20, 'invalid')]);
    expect(invalid).toMatchObject({ verdict: 'invalid', difference: null, rounds: 0 });
    expect(effects([throughput], [of('a', 50, 'failed'), of('b', 20)])).toEqual([]);
  });

  it('are as valid between simulated GPUs as between real ones', () => {
    const simulated = { gpu: [{ ...device(0), simulated: true }] };
    const [found] = effects([launch], [rounds('a', 2, {}, simulated), rounds('b', 2, {}, simulated)]);
    expect(found).toMatchObject({ verdict: 'same', rounds: 2 });
  });
});
