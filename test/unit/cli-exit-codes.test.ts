import { describe, expect, it } from 'vitest';
import { exitCodes, firstOf } from '../../lib/cli/exit-codes.js';
import { exitCodeOfResults, unwrittenCodes } from '../../lib/cli/result-codes.js';
import type { RunDocument } from '../../lib/results/document.js';
import { result, runDocument } from './run-fixtures.js';

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

  it('is 1 if an output could not be written, unless another code has precedence', () => {
    const unwritten = unwrittenCodes([new Error('x')]);
    expect(exitCodeOfResults(runDocument({ metrics: [] }), unwritten)).toBe(1);
    expect(exitCodeOfResults(runDocument({ completed: false }), unwritten)).toBe(130);
    expect(unwrittenCodes([])).toEqual([]);
  });
});
