import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { violationsIn, violationsOf } from '../../../lib/results/violations.js';
import { runReport } from '../../../lib/report/formats/terminal.js';
import { renderReport } from '../../../lib/rendering.js';
import { comparison } from '../report/fixtures.js';
import { result, runDocument } from '../run/fixtures.js';

const breaking = (detail: string): MetricResult => result('OH-001', { violations: [{ detail }] });
const over = (pid: number) => `the process (PID ${pid}) held 12 GiB under a limit of 10 GiB`;

describe('violations', () => {
  it('of a run are those of its metrics', () => {
    const document = runDocument({ metrics: [breaking(over(12)), result('OH-002')] });
    expect(violationsOf(document)).toEqual([{ system: 'environment', metric: 'OH-001', detail: over(12) }]);
    expect(runReport(document)).toContain(`\nVIOLATION: environment, OH-001: ${over(12)}\n`);
  });

  it('are merged over rounds with the same violation, with their number', () => {
    const rounds = (...details: (string | null)[]) =>
      details.map((detail) => runDocument({ metrics: [detail === null ? result('OH-001') : breaking(detail)] }));
    const of = (...details: (string | null)[]) => violationsIn(rounds(...details)).map(({ detail }) => detail);
    expect(of(over(1), over(2))).toEqual([over(1)]);
    expect(of(over(1), null, over(3))).toEqual([`${over(1)} (in 2 of 3 rounds)`]);
    expect(of(over(1), 'another')).toEqual([`${over(1)} (in 1 of 2 rounds)`, 'another (in 1 of 2 rounds)']);
  });

  it.each(['markdown', 'html', 'csv', 'junit', 'openmetrics'] as const)('appear in %s', async (format) => {
    const document = {
      ...comparison([{ name: 'layer', metrics: () => [breaking('12 GiB were held')] }]),
      violations: [{ system: 'layer', metric: 'OH-001', detail: '12 GiB were held' }],
    };
    const text = await renderReport(document, format);
    if (format === 'openmetrics') expect(text).toMatch(/_violations\{[^}]*system="layer"[^}]*\} 1\n/);
    else expect(text).toContain('12 GiB were held');
  });
});
