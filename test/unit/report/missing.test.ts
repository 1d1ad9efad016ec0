import { describe, expect, it } from 'vitest';
import { missingText } from '../../../lib/report/formats/comparison.js';
import { renderReport } from '../../../lib/rendering.js';
import { differentMessages, messageKey } from '../../../lib/results/text/same-message.js';
import { viewOf } from '../../../lib/results/view.js';
import { comparison } from './fixtures.js';
import { result, runDocument } from '../run/fixtures.js';

const died = (pid: number) =>
  `The worker process was killed by SIGABRT. It last printed: [${pid}] no host device at 0x${pid}abc`;
const failed = (id: string, reason: string) => result(id, { status: 'failed', value: null, ci95: null, reason });

describe('messages', () => {
  it.each([
    [died(4711), died(52)],
    ["the MPS daemon's guardian (PID 123) still runs", "the MPS daemon's guardian (PID 4) still runs"],
    ['a call through 0x7f00aa failed', 'a call through 0x12 failed'],
  ])('that differ only in a PID or an address are one: %s', (a, b) => {
    expect(messageKey(a)).toBe(messageKey(b));
    expect(differentMessages([a, b])).toEqual([a]);
  });

  it.each([
    ['largest is 10 against 50', 'largest is 20 against 50'],
    ['cuInit returned CUDA_ERROR_UNKNOWN (999)', 'cuInit returned CUDA_ERROR_OUT_OF_MEMORY (2)'],
  ])('that differ in meaning are two: %s', (a, b) => expect(differentMessages([a, b])).toEqual([a, b]));
});

describe('the list of what was not measured', () => {
  const metrics = [failed('OH-001', died(4711)), failed('OH-002', died(4712)), failed('OH-003', 'no such GPU')];
  const view = viewOf(runDocument({ metrics }));

  it('has one line per reason, with its metrics', () =>
    expect(view.notMeasured.map(missingText)).toEqual([
      `environment, 2 metrics (OH-001, OH-002): failed: ${died(4711)}`,
      'environment, OH-003: failed: no such GPU',
    ]));

  it('has one line if later rounds repeat the reason and add that they were abandoned', () => {
    const reason = 'layer not active: nothing intercepts.';
    const more = `${reason} Not measured after round 1; --keep-going measures further rounds.`;
    const linesOf = (...reasons: string[]) => {
      const system = { name: 'native', metrics: (round: number) => [failed('OH-001', reasons[round] as string)] };
      return viewOf(comparison([system], reasons.length)).notMeasured.map(missingText);
    };
    const line = `native, OH-001: failed: ${more}`;
    expect(linesOf(reason, more, more)).toEqual([line]);
    expect(linesOf(more, more, reason)).toEqual([line]);
    expect(linesOf(reason, 'another reason.')).toHaveLength(2);
  });

  it('has one row per reason on the page', async () => {
    const page = await renderReport(runDocument({ metrics }), 'html');
    expect(page).toContain('OH-001, OH-002');
    expect(page.match(/killed by SIGABRT/g)).toHaveLength(1);
  });
});
