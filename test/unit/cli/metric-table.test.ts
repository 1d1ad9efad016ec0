import { describe, expect, it } from 'vitest';
import { listMetrics } from '../../../lib/inventory.js';
import { metricTable } from '../../../lib/cli/terminal/metric-table.js';
import { metric } from '../run/fixtures.js';

const listed = { ...metric('OH-001'), needs: ['MIG', 'root'], firstRun: true };
const on = (width: number) => ({ width, hasUtf8: true });
const line = (text: string) => text.split('\n').find((each) => each.startsWith('OH-001'));

describe('the list of metrics', () => {
  it('shows unit, direction, question and needs, and marks the set of a first run', () => {
    const text = metricTable([listed, { ...metric('OH-002'), firstRun: false }], on(200));
    expect(line(text)?.split(/ {2,}/)).toEqual([
      ...['OH-001 *', 'Name of OH-001', 'us', 'lower', 'How long?', 'MIG, root'],
    ]);
    expect(text).toMatch(/^OH-002 {2,}Name/m);
    expect(text).toMatch(/^\* is measured by run if nothing is named \(1 of 2\);\nrun all measures every metric\.$/m);
  });

  it.each([60, 80, 120, 200])('keeps every fact and fits in %d columns', (width) => {
    const metrics = listMetrics().map((each) => ({ ...each, firstRun: each.id === 'OH-001' }));
    const text = metricTable(metrics, on(width));
    const lines = text.split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
    expect(text).not.toContain('Omitted');
    const words = text.replace(/\s+/g, ' ');
    for (const wanted of ['higher', 'fresh', 'quota']) expect(words).toContain(wanted);
  });
});
