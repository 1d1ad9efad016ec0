import { describe, expect, it } from 'vitest';
import { clientFault, type ClientRecord, Heartbeat } from '../../../lib/load/client-health.js';
import { nowMs } from '../../../lib/load/clock.js';

const repeat = (value: number, count: number) => Array.from({ length: count }, () => value);
const open: ClientRecord = {
  ...{ loop: 'open', lateMs: repeat(0.1, 200), latencyMs: repeat(100, 200), busy: 0.2, outOfSockets: 0 },
};
const closed: ClientRecord = { ...open, loop: 'closed' };

describe('a client', () => {
  it.each<[string, ClientRecord]>([
    ['sends in time', open],
    ['reacts in time', closed],
    ['is late by 2 % of the latency', { ...open, lateMs: repeat(2, 200) }],
    ['is late twice in 200', { ...open, lateMs: [...repeat(0, 198), 50, 50] }],
    ['waits for arrivals turn by turn, which is no work', { ...open, busy: 1 }],
    ['has no answer to compare with', { ...open, lateMs: repeat(1_000, 200), latencyMs: [] }],
    ['ended before the first beat', { ...closed, lateMs: [] }],
  ])('kept up that %s', (_, record) => expect(clientFault(record)).toBeNull());

  it.each<[string, ClientRecord, string]>([
    [
      'is late by more than 2 % of the mean latency',
      { ...open, lateMs: repeat(2.1, 200) },
      'the client was late by 2.10 ms on average, 2.1 % of the mean latency (at most 2 % is allowed): lower ratePerSecond, or free processors for the client',
    ],
    [
      'is late for more than 1 % of arrivals',
      { ...open, lateMs: [...repeat(0, 197), 11, 11, 11] },
      '3 of 200 requests were sent more than 10.0 ms late, a tenth of the median latency (at most 1 % may be): lower ratePerSecond, or free processors for the client',
    ],
    [
      'reacts late in a closed loop',
      { ...closed, lateMs: repeat(5, 10) },
      'the client was late by 5.00 ms on average, 5 % of the mean latency (at most 2 % is allowed): free processors for the client',
    ],
    [
      'is busy all the time in a closed loop',
      { ...closed, busy: 0.95 },
      "the client's event loop was busy for 95 % of the time (at most 90 % is allowed): lower concurrency",
    ],
    [
      'has no socket left',
      { ...open, outOfSockets: 4 },
      '4 requests found no free socket or file descriptor on the client: raise ulimit -n, or ask for fewer at a time',
    ],
  ])('did not keep up that %s', (_, record, reason) => expect(clientFault(record)).toBe(reason));
});

describe('a heartbeat', () => {
  it('notices that the process was delayed', async () => {
    const heartbeat = new Heartbeat();
    for (const end = nowMs() + 120; nowMs() < end;);
    await expect.poll(() => heartbeat.lateMs.length).toBeGreaterThan(0);
    const busy = heartbeat.stop();
    // Due after 20 ms, plus one for the timer.
    expect(heartbeat.lateMs[0]).toBeGreaterThan(120 - 20 - 1.1);
    expect(busy).toBeGreaterThan(0);
    expect(busy).toBeLessThanOrEqual(1);
  });

  it('ends', async () => {
    const heartbeat = new Heartbeat();
    heartbeat.stop();
    await new Promise((later) => setTimeout(later, 60));
    expect(heartbeat.lateMs).toEqual([]);
  });
});
