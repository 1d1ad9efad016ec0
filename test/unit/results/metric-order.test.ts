import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { metrics } from '../../../lib/metrics/registry.js';
import { byMetricId } from '../../../lib/results/metric-order.js';
import { viewOf, rowsOf } from '../../../lib/results/view.js';
import { sortedById } from '../../../lib/run/effects/results.js';
import { result, runDocument } from '../run/fixtures.js';

const ids = metrics.map(({ id }) => id);

describe('the order of metric ids', () => {
  it('is that of the registry, which list prints', () => expect([...ids].sort(byMetricId)).toEqual(ids));

  it('is that of docs/metrics.md', () => {
    const text = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
    expect([...text.matchAll(/^\| \*\*([A-Z]+-\d{3})\*\*/gm)].map(([, id]) => id)).toEqual(ids);
  });

  it('is that of documents and of their tables', () => {
    const found = [...ids].sort().map((id) => result(id));
    expect(sortedById(found).map(({ id }) => id)).toEqual(ids);
    expect(rowsOf(viewOf(runDocument({ metrics: found }))).map(({ id }) => id)).toEqual(ids);
  });

  it('puts a new subject after those that are listed, and metrics of programs last', () =>
    expect(['a/wall', 'ZZ-001', 'a/cost10', 'a/cost9', 'COMPAT-001', 'OH-010'].sort(byMetricId)).toEqual([
      ...['OH-010', 'COMPAT-001', 'ZZ-001', 'a/cost9', 'a/cost10', 'a/wall'],
    ]));
});
