import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { findMetricOf, metricsOf, programMetricsIn } from '../../../lib/metrics/core/stored-definitions.js';
import { metricResultSchema } from '../../../lib/results/document.js';
import { result, runDocument } from '../run/fixtures.js';

const of = (...metrics: Parameters<typeof result>[]) =>
  runDocument({ metrics: metrics.map((each) => result(...each)) });

describe('metrics of programs in a document', () => {
  it('are read from their results, each once', () => {
    const first = of(['w/tps', { unit: 'tokens/s', direction: 'higher', details: { delta: { relative: 0.03 } } }]);
    const second = of(['w/tps', { unit: 'tokens/s', direction: 'higher' }], ['OH-001']);
    expect(programMetricsIn([second, first])).toMatchObject([
      { id: 'w/tps', category: 'workload', unit: 'tokens/s', direction: 'higher', delta: { relative: 0.03 } },
    ]);
  });

  it('have a default δ if no result has a valid one', () => {
    const wrong = of(['w/a', { details: { delta: { relative: -1 } } }], ['w/b', { details: { delta: 'x' } }]);
    expect(programMetricsIn([wrong]).map(({ delta }) => delta)).toEqual([{ relative: 0.02 }, { relative: 0.02 }]);
  });

  it('are listed with those of this tool', () => {
    const all = metricsOf(of(['w/wall']));
    expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(['OH-001', 'w/wall']));
    expect(findMetricOf(of(['w/wall']), 'w/wall')?.id).toBe('w/wall');
    expect(findMetricOf(of(['w/wall']), 'w/cpu')).toBeUndefined();
    expect(findMetricOf(of(), 'oh-001')?.id).toBe('OH-001');
  });
});

describe('an id of a metric', () => {
  const isId = (id: string) => v.is(metricResultSchema, result(id));
  it.each([
    'OH-001',
    'w/wall',
    'a.b_c+d-e/time.p99',
    'w@batch=8,precision=fp16/host-memory',
    'scene/victim/wall/alone',
  ])('is %s', (id) => expect(isId(id)).toBe(true));
  it.each([
    'OH-1',
    'w',
    'w/',
    '/wall',
    'w//b',
    'w/a/b/c/d',
    '../w/a',
    'w@/a',
    'w@b c/a',
    `${'x'.repeat(41)}/a`,
    'w/a\n',
  ])('is not %j', (id) => expect(isId(id)).toBe(false));
});
