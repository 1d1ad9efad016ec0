import { describe, expect, it } from 'vitest';
import type { Measured } from '../../lib/metrics/core/metric.js';
import { figuresOf, windowInterval } from '../../lib/metrics/core/sample-stats.js';
import { runReport } from '../../lib/report/formats/terminal.js';
import { statisticsText } from '../../lib/report/text/statistics.js';
import { missingIntervals } from '../../lib/results/intervals-missing.js';
import { viewOf } from '../../lib/results/view.js';
import { result, runDocument } from './run/fixtures.js';

const few = '6 samples, and an interval needs 10';
const document = runDocument({
  metrics: [
    result('LLM-003', { ci95: null, noInterval: few }),
    result('OH-001'),
    result('LLM-008', { ci95: null, noInterval: few }),
    result('IS-008', { ci95: null, noInterval: 'all are equal' }),
  ],
});
const lines = [`LLM-003, LLM-008: ${few}`, 'IS-008: all are equal'];

describe('values without an interval', () => {
  it('are named once for each reason', () => expect(missingIntervals(document)).toEqual(lines));

  it('are named in the terminal and in reports of a run', () => {
    for (const line of lines) {
      expect(runReport(document)).toContain(line);
      expect(statisticsText(viewOf(document))).toContain(`No interval for ${line}.`);
    }
  });
});

describe('the reason', () => {
  const measured = { value: 3, ci95: null, headline: null, details: {}, checks: [] };

  const reason = (of: Measured) => {
    const figures = figuresOf(of);
    return 'noInterval' in figures ? figures.noInterval : undefined;
  };

  it('is that of windows where there are no samples', () => {
    expect(reason({ ...measured, ...windowInterval(undefined) })).toMatch(/^fewer than 10 .* windows/);
    expect(windowInterval([1, 2])).toEqual({ ci95: [1, 2] });
    expect(reason({ ...measured, ...windowInterval(null), value: null })).toBeUndefined();
    expect(reason(measured)).toBeUndefined();
  });
});
