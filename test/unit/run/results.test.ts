import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { metricResultSchema } from '../../../lib/results/document.js';
import { BenchError } from '../../../lib/errors/bench-error.js';
import { withDeadline } from '../../../lib/run/deadline.js';
import { disowned, failedResult, pidMapping, sortedById } from '../../../lib/run/effects/results.js';
import { metric, result } from './fixtures.js';

describe('results', () => {
  it('makes a valid result of an error', () => {
    const failed = failedResult(metric('OH-001'), new Error('boom'));
    expect(v.parse(metricResultSchema, failed)).toMatchObject({ status: 'failed', reason: 'boom', value: null });
  });

  it('makes an invalid result of a number whose system was not verified', () => {
    const lost = failedResult(metric('OH-001'), new BenchError('INVALID_RESULT', 'layer not active: it is lost'));
    expect(lost).toMatchObject({ status: 'invalid', reason: 'layer not active: it is lost', value: null });
  });

  it('sorts by id', () =>
    expect(sortedById([result('OH-010'), result('IS-001'), result('OH-002')]).map(({ id }) => id)).toEqual([
      'OH-002',
      'OH-010',
      'IS-001',
    ]));

  it.each([
    ['same', 'same'],
    ['difference', 'difference'],
    ['perhaps', 'none'],
    [undefined, 'none'],
  ])('reads pidMapping %s of OH-004 as %s', (said, mapping) =>
    expect(pidMapping([result('OH-004', { details: { pidMapping: said } })])).toBe(mapping),
  );
  it('takes facts from any metric', () => {
    const without = result('OH-004', { details: { pidMapping: 'none' } });
    expect(pidMapping([without, result('OH-001', { details: { pidMapping: 'same' } })])).toBe('same');
    expect(pidMapping([result('OH-001', {})])).toBe('none');
  });
});

describe('a deadline', () => {
  const never = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted without why'))));

  it('rejects with its own reason', () =>
    expect(withDeadline(10, new AbortController().signal, never)).rejects.toThrow(/^Timed out after 0.01 s: /));

  it('passes on an answer in time', () =>
    expect(withDeadline(1_000, new AbortController().signal, async () => 42)).resolves.toBe(42));

  it('passes on the abort of the caller', async () => {
    const controller = new AbortController();
    const waiting = withDeadline(60_000, controller.signal, never);
    controller.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('aborted without why');
  });
});

describe('a disowned result', () => {
  it('keeps its reason and no numbers', () => {
    const details = { unitsPerSecond: 40 };
    const kept = disowned(result('OH-001', { samples: [1], blocks: [1], details }), 'layer not active');
    expect(kept).toMatchObject({ status: 'invalid', reason: 'layer not active', value: null, ci95: null, stats: null });
    expect(kept.details).toEqual({});
    expect(kept).not.toHaveProperty('samples');
    expect(kept).not.toHaveProperty('blocks');
  });
});
