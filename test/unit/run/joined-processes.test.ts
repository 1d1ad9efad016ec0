import { describe, expect, it } from 'vitest';
import type { OkResult } from '../../../lib/results/document.js';
import { healthWarnings } from '../../../lib/run/health-summary.js';
import { joinedDocument, joinedResult } from '../../../lib/run/effects/joined-processes.js';
import { metric, result, runDocument, without } from './fixtures.js';

const definition = { ...metric('OH-007'), furtherProcesses: { seconds: 1, disturbed: /^cells off the line/ } };
const process = (value: number, change: Partial<OkResult> = {}) =>
  result('OH-007', { value, samples: [value], blocks: [value], details: { live: 1_024 }, ...change });
const disturbed = without(result('OH-007'), 'invalid', 'cells off the line: residual CV 25 %');

describe('a result over processes', () => {
  it('is the geometric mean of their values, with the interval between them', () => {
    const joined = joinedResult(definition, [process(1), process(4), process(2)]);
    expect(joined).toMatchObject({
      status: 'ok',
      processes: 3,
      processValues: [1, 4, 2],
      ciScope: 'between-processes',
      blocks: [1, 4, 2],
      stats: { count: 3, min: 1, max: 4 },
    });
    expect(joined.value).toBeCloseTo(2, 12);
    // The t interval of the logarithms 0, 2 and 1 in powers of two, with two degrees of freedom.
    const half = 4.302653 / Math.sqrt(3);
    expect(joined.ci95?.map(Math.log2)).toEqual([expect.closeTo(1 - half, 5), expect.closeTo(1 + half, 5)]);
  });

  it('is the mean if a value is not above 0', () =>
    expect(joinedResult(definition, [process(-1), process(4)])).toMatchObject({ value: 1.5, processValues: [-1, 4] }));

  it('has no value if a process failed, for the reason of that process', () => {
    const inactive = without(result('OH-007'), 'invalid', 'layer not active: libvgpu.so is not mapped');
    const joined = joinedResult(definition, [process(1), inactive, process(1)]);
    expect(joined).toMatchObject({ status: 'invalid', value: null, ci95: null, stats: null });
    expect(joined.reason).toBe('layer not active: libvgpu.so is not mapped (process 2 of 3)');
    for (const field of ['processValues', 'samples', 'blocks']) expect(joined).not.toHaveProperty(field);
    expect(joinedResult(definition, [process(1), without(result('OH-007'), 'failed', 'killed')]).status).toBe('failed');
  });

  it('leaves out a process that the machine disturbed, and says so', () => {
    const joined = joinedResult(definition, [disturbed, process(2), process(2)]);
    expect(joined).toMatchObject({ status: 'ok', value: 2, processes: 2 });
    expect(joined).not.toHaveProperty('reason');
    expect(joined.checks).toContainEqual({
      name: 'every process gave a value',
      passed: false,
      detail: '2 of 3; cells off the line: residual CV 25 % (process 1 of 3)',
    });
  });

  it('has no value if the machine disturbed half of its processes', () =>
    expect(joinedResult(definition, [process(1), disturbed])).toMatchObject({
      status: 'invalid',
      reason: 'cells off the line: residual CV 25 % (process 2 of 2); 1 of 2 processes were disturbed',
    }));

  it('has no value if processes measured under different conditions', () => {
    const comparedAt = { name: 'live blocks', of: ({ live }: Record<string, unknown>) => live };
    const joined = joinedResult({ ...definition, comparedAt }, [process(1), process(1, { details: { live: 8 } })]);
    expect(joined).toMatchObject({
      status: 'invalid',
      reason: expect.stringMatching(/^live blocks is 1024 against 8/),
    });
  });

  it('keeps the rows of the process that measured everything, and every violation', () => {
    const violations = [{ detail: '12 GiB were held under a limit of 10 GiB' }];
    const joined = joinedResult(definition, [process(1, { violations }), process(1, { details: { rows: [1] } })]);
    expect(joined).toMatchObject({ details: { rows: [1] }, violations });
  });
});

describe('the document of a round', () => {
  const noisy = { name: 'outliers at most 5 %', passed: false, detail: '9 % of 100 samples' };
  const round = (value: number, proven: number) => {
    const after = [{ ...noisy, detail: `OH-007 (${value} %)` }];
    return runDocument({
      durationMs: 10,
      coordinatorCpuPercent: value,
      metrics: [process(value, { checks: [noisy] })],
      system: { ...runDocument().system, processes: { proven, of: 1 } },
      health: { before: [], after },
      warnings: ['a layer is old', ...healthWarnings(after)],
    });
  };

  it('adds up times and processes, and has one warning for all processes', () => {
    const joined = joinedDocument(round(1, 1), [round(4, 0)], [definition], false);
    expect(joined).toMatchObject({
      durationMs: 20,
      coordinatorCpuPercent: 2.5,
      system: { processes: { proven: 1, of: 2 } },
    });
    expect(joined.metrics[0]).toMatchObject({ value: 2, processValues: [4, 1] });
    expect(joined.metrics[0]).not.toHaveProperty('samples');
    expect(joined.warnings).toEqual(['a layer is old', expect.stringContaining('OH-007 (9 % of 100 samples)')]);
  });

  it('keeps samples that were asked for', () =>
    expect(joinedDocument(round(1, 1), [round(4, 1)], [definition], true).metrics[0]?.samples).toEqual([4, 1]));
});
