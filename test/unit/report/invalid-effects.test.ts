/** A metric that one round makes invalid has no effect: the rounds that are left must not look like a result. */
import { describe, expect, it } from 'vitest';
import { answerOf } from '../../../lib/answer/answer.js';
import { callEffects } from '../../../lib/metrics/core/call-effects.js';
import { renderReport } from '../../../lib/rendering.js';
import { callCosts } from '../../../lib/report/tables/costs.js';
import { comparisonReport } from '../../../lib/report/formats/comparison.js';
import type { ComparisonDocument, MetricResult } from '../../../lib/results/document.js';
import { viewOf } from '../../../lib/results/view.js';
import { comparison, measured, without } from './fixtures.js';

const REASON = 'most calls are answered without the driver';
/** No other number of the document begins like this. */
const VALUE = 8642;
const NUMBER = /8\.?642|8[ ,.]?64\d/;

const withPair = (result: MetricResult): MetricResult => ({
  ...result,
  details: {
    pairs: [{ name: 'cuMemAlloc_v2', call: 'cuMemAlloc_v2', intercepted: true, overheadNs: VALUE, bareNs: 1 }],
  },
});
const inOneRound = (id: string, round: number): MetricResult =>
  round === 1 ? without(id, 'invalid', REASON) : withPair(measured(id, VALUE, round));
const good = (id: string, typical: number) => (round: number) => measured(id, typical, round);

const ofLayer = (): ComparisonDocument =>
  comparison([
    { name: 'native', metrics: (round) => [good('OH-002', 20)(round)] },
    { name: 'a', metrics: (round) => [inOneRound('OH-002', round)] },
  ]);
const ofBaseline = (): ComparisonDocument =>
  comparison([
    { name: 'native', metrics: (round) => [inOneRound('OH-002', round)] },
    { name: 'a', metrics: (round) => [good('OH-002', 20)(round)] },
  ]);

describe('a value whose effect is invalid', () => {
  it.each([
    ['of the layer', ofLayer],
    ['of the baseline', ofBaseline],
  ])('is shown in no format that people read: %s', async (_, made) => {
    const document = made();
    expect(document.effects).toMatchObject([{ metric: 'OH-002', verdict: 'invalid', ratio: null }]);
    expect(comparisonReport(document)).not.toMatch(NUMBER);
    const page = await renderReport(document, 'markdown');
    expect(page.split('\n').filter((line) => NUMBER.test(line))).toEqual([]);
    for (const format of ['markdown', 'html', 'openmetrics', 'bencher', 'junit'] as const) {
      const text = await renderReport(document, format);
      expect({ format, found: NUMBER.exec(text.replace(/data:[^"]*|<script[^]*?<\/script>/g, ''))?.[0] }).toEqual({
        format,
        found: undefined,
      });
    }
    expect(JSON.stringify(answerOf(document))).not.toMatch(NUMBER);
  });

  it('still has its reason', async () => {
    expect(comparisonReport(ofLayer())).toContain(REASON);
    const [cell] = viewOf(ofLayer()).categories.flatMap(({ rows }) => rows.flatMap(({ cells }) => cells.slice(1)));
    expect(cell).toMatchObject({ value: null, ci95: null, tail: null, spread: null, values: [] });
  });

  it('has no pair either, though rounds that were measured have one', () => {
    const document = ofLayer();
    expect(callEffects(document.systems)).toHaveLength(1);
    expect(callCosts(viewOf(document))).toEqual([]);
    const good = comparison(
      ['native', 'a'].map((name) => ({ name, metrics: (round) => [withPair(measured('OH-002', VALUE, round))] })),
    );
    expect(callCosts(viewOf(good))).toHaveLength(2);
  });
});
