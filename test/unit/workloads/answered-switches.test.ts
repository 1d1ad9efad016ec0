/** The first answer after each switch of tenants that take turns. */
import { describe, expect, it } from 'vitest';
import { RequestFailure } from '../../../lib/load/request-failure.js';
import type { RequestRecord } from '../../../lib/load/request-record.js';
import { AnswerTimes } from '../../../lib/workloads/scene/answer-times.js';
import { withAnswers } from '../../../lib/workloads/scene/answered-switches.js';

const MS = 1e6;

const switchTo = (tenant: string, lockMs: number, unlockMs: number) => ({
  ...{ tenant, lockNs: lockMs * MS, unlockNs: unlockMs * MS },
  ...{ lockMs: 1, checkpointMs: 1, restoreMs: 1, unlockMs: 1, wholeMs: unlockMs - lockMs },
});

const answers = (...atMs: number[]): AnswerTimes => {
  const times = new AnswerTimes();
  for (const ms of atMs) times.note(ms * MS);
  return times;
};

describe('the first answer after a switch', () => {
  const victims = [
    { name: 'one', tenant: '1', answers: answers(90, 250, 112, 130) },
    { name: 'two', tenant: '2', answers: answers(215) },
  ];

  it('is that of the tenant that was let on, from the first lock', () => {
    const [first, second] = withAnswers([switchTo('1', 100, 110), switchTo('2', 200, 210)], victims);
    expect([first?.victim, first?.answerMs]).toEqual(['one', 12]);
    expect([second?.victim, second?.answerMs]).toEqual(['two', 15]);
  });

  it('is none where it came in a later turn, or from a tenant that is not measured', () => {
    const [late, other] = withAnswers([switchTo('2', 100, 110), switchTo('3', 200, 210)], victims);
    expect([late?.victim, late?.answerMs]).toEqual([null, null]);
    expect([other?.victim, other?.answerMs]).toEqual([null, null]);
  });
});

describe('answers of a load', () => {
  const record = (of: Partial<RequestRecord>): RequestRecord =>
    ({ failure: null, tokens: null, endMs: 500, ...of }) as RequestRecord;
  const stream = { firstMs: 100, gapsMs: [50, 200] } as RequestRecord['tokens'];

  it('are the tokens of a stream, and otherwise its end', () => {
    const times = new AnswerTimes();
    times.noteRequest(record({ tokens: stream }));
    times.noteRequest(record({}));
    expect([90, 120, 200, 400, 600].map((from) => times.firstIn(from * MS, Infinity))).toEqual([
      ...[100 * MS, 150 * MS, 350 * MS, 500 * MS],
      null,
    ]);
  });

  it('are not those of a request that failed', () => {
    const times = new AnswerTimes();
    times.noteRequest(record({ failure: new RequestFailure('timeout', 'no answer began') }));
    expect(times.firstIn(0, Infinity)).toBeNull();
  });
});
