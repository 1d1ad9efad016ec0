import { describe, expect, it } from 'vitest';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import { closest } from '../../../lib/errors/closest.js';
import { selectMetrics } from '../../../lib/run/plan/select.js';
import { metric } from './fixtures.js';

const all: MetricDefinition[] = [metric('OH-001'), metric('OH-002'), metric('OH-010'), metric('IS-001', 'isolation')];
const ids = (...selectors: string[]) => selectMetrics(selectors, all).map(({ id }) => id);

describe('selecting metrics', () => {
  it('takes all metrics by default', () => expect(ids()).toEqual(['OH-001', 'OH-002', 'OH-010', 'IS-001']));
  it('takes ids in either case', () => expect(ids('oh-002')).toEqual(['OH-002']));
  it('takes globs', () => expect(ids('oh-00?')).toEqual(['OH-001', 'OH-002']));
  it('takes category names in either case', () => expect(ids('Isolation')).toEqual(['IS-001']));
  it('keeps the order of the registry and each metric once', () =>
    expect(ids('IS-001', 'OH-00*', 'OH-001')).toEqual(['OH-001', 'OH-002', 'IS-001']));
  it('does not match a prefix', () => expect(() => ids('OH-0')).toThrow());

  it.each([
    ['OH-003x', "Expected a metric id, a glob or a category but received 'OH-003x': did you mean OH-001?"],
    ['overhaed', "Expected a metric id, a glob or a category but received 'overhaed': did you mean overhead?"],
    ['XX-*', "Expected a metric id, a glob or a category but received 'XX-*': gpu-virt-bench list shows them."],
    ['', "Expected a metric id, a glob or a category but received '': gpu-virt-bench list shows them."],
  ])('refuses %j', (selector, message) => expect(() => ids(selector)).toThrow(message));

  it('takes a list in braces', () => expect(ids('OH-{001,010}')).toEqual(['OH-001', 'OH-010']));

  it('takes ids and globs of metrics of programs', () => {
    const programs = ['decode@batch=1/wall', 'decode@batch=8/wall', 'decode@batch=8/tps', 'a.b/wall'];
    const of = (selector: string) =>
      selectMetrics(
        [selector],
        programs.map((id) => metric(id)),
      ).map(({ id }) => id);
    expect(of('decode@batch=8/tps')).toEqual(['decode@batch=8/tps']);
    expect(of('*/wall')).toEqual(['decode@batch=1/wall', 'decode@batch=8/wall', 'a.b/wall']);
    expect(of('decode@batch=8/*')).toEqual(['decode@batch=8/wall', 'decode@batch=8/tps']);
  });

  it.each(['(*)+'.repeat(12) + 'x', '+(*)'.repeat(12) + 'x', '{*,*}'.repeat(20) + 'x', '*'.repeat(101)])(
    'refuses a pattern that could take exponential time: %s',
    (selector) => expect(() => ids(selector)).toThrow(/^Expected a metric id, a glob or a category but received/),
  );

  it('refuses one unknown selector among known ones', () =>
    expect(() => ids('OH-001', 'nonsense')).toThrow(/nonsense/));
});

describe('the closest word', () => {
  it('finds a swapped letter', () => expect(closest('ovrehead', ['isolation', 'overhead'])).toBe('overhead'));
  it('is null if none is similar', () => expect(closest('banana', ['isolation', 'overhead'])).toBeNull());
});
