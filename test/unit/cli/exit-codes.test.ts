import { describe, expect, it } from 'vitest';
import { exitCodes, firstOf } from '../../../lib/cli/options/exit-codes.js';
import { disturbedText, exitCodeOfResults, unwrittenCodes } from '../../../lib/cli/options/result-codes.js';
import type { MetricResult, RunDocument } from '../../../lib/results/document.js';
import { result, runDocument } from '../run/fixtures.js';

describe('of several exit codes', () => {
  const { interrupted, usage, notAttested, isolationBreach, gateFailed, failed, ok } = exitCodes;
  it.each([
    [[failed, gateFailed], gateFailed],
    [[gateFailed, isolationBreach], isolationBreach],
    [[isolationBreach, notAttested], notAttested],
    [[notAttested, usage], usage],
    [[usage, interrupted, failed], interrupted],
    [[ok, failed], failed],
    [[ok], ok],
    [[], ok],
  ])('%j is %d', (codes, first) => expect(firstOf(codes)).toBe(first));
});

describe('the exit code of a document', () => {
  const { system } = runDocument();
  const invalid = (reason: string) => ({ metrics: [result('OH-001', { status: 'invalid', value: null, reason })] });
  it.each<[string, Partial<RunDocument>, number]>([
    ['with every number', {}, 0],
    ['whose workers were not looked at again, and nothing else', { system: { ...system, notCheckedAfter: 'x' } }, 1],
    ['with a failed metric', { metrics: [result('OH-001', { status: 'failed', value: null })] }, 1],
    ['with an invalid number', invalid('the clock belongs to /opt/slow.so'), 1],
    ['under no active layer', invalid('layer not active: x'), 5],
    ['with a limit that was shown not to hold', { metrics: [result('OH-001', { violations: [{ detail: 'x' }] })] }, 4],
    ['with an unsupported metric', { metrics: [result('OH-001', { status: 'unsupported', value: null })] }, 0],
    ['that was interrupted, under no active layer', { completed: false, ...invalid('layer not active: x') }, 130],
  ])('%s', (_, change, code) =>
    expect(exitCodeOfResults(runDocument({ metrics: [result('OH-001')], ...change }))).toBe(code),
  );

  describe('where a busy host keeps a metric from a number', () => {
    const disturbed = invalid('The device answered only 3 clock exchanges.');
    const host = (passed: boolean) => ({
      health: { ...runDocument().health, before: [{ name: 'host CPU at rest', passed, detail: '100.0 % busy' }] },
    });
    it.each<[string, Partial<RunDocument>, number, RegExp | null]>([
      [
        'that was seen busy',
        { ...disturbed, ...host(false) },
        0,
        /processors busy, and so OH-001 could not be measured/,
      ],
      ['that was at rest', { ...disturbed, ...host(true) }, 1, null],
      ['and another reason is given', { ...invalid('impossible: -1 us'), ...host(false) }, 1, null],
      [
        'and another metric failed',
        { metrics: [...disturbed.metrics, result('OH-002', { status: 'failed', value: null })], ...host(false) },
        1,
        /so OH-001 could not be measured/,
      ],
      [
        'and a limit did not hold',
        { metrics: [{ ...(disturbed.metrics[0] as MetricResult), violations: [{ detail: 'x' }] }], ...host(false) },
        4,
        /OH-001/,
      ],
    ])('%s', (_, change, code, says) => {
      const document = runDocument(change);
      expect(exitCodeOfResults(document)).toBe(code);
      expect(disturbedText(document)).toEqual(says === null ? null : expect.stringMatching(says));
    });
  });

  it('is 1 if an output could not be written, unless another code has precedence', () => {
    const unwritten = unwrittenCodes([new Error('x')]);
    expect(exitCodeOfResults(runDocument({ metrics: [] }), unwritten)).toBe(1);
    expect(exitCodeOfResults(runDocument({ completed: false }), unwritten)).toBe(130);
    expect(unwrittenCodes([])).toEqual([]);
  });
});
