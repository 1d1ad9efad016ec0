/** CKPT-006 on the simulated card: a neighbour's requests as the driver recorded them, and neighbours that never ran. */
import { describe, expect, it } from 'vitest';
import { type CheckpointInterferenceDetails, judge } from '../../../lib/metrics/checkpoint/ckpt-006-interference.js';
import type { Neighboured } from '../../../lib/metrics/checkpoint/neighbours.js';
import { PERIOD_NS, pooled } from '../../../lib/metrics/isolation/victim-requests.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { median } from '../../../lib/stats/median.js';
import { recordsIn } from '../../native/record.js';
import { onCard } from './card.js';

const detailsOf = ({ details }: MetricResult) => details as unknown as CheckpointInterferenceDetails;
const STEPS = 20;
/** What a request has beside its calls, such as the way to them, in ms. */
const BESIDE_MS = 0.5;

/** Median time from the arrival to the result of the requests of the last turn, and of those before it, in ms. */
function recordedRequests(folder: string) {
  const records = recordsIn(folder);
  const all = records.flatMap(({ calls }) => calls);
  const last = (name: string) => all.filter((call) => call.name === name).sort((a, b) => a.entered - b.entered);
  // The guardian locks the target once more at the end.
  const [, lock] = last('cuCheckpointProcessLock');
  const [, unlock] = last('cuCheckpointProcessUnlock');
  const [first] = last('cuCheckpointProcessUnlock');
  const requests = records.flatMap(({ calls }) => {
    const own = calls.filter(({ name, kernel }) => name === 'cuStreamSynchronize' || kernel === 'gvb_request_ste');
    return own.flatMap((call, i) => {
      const steps = own.slice(Math.max(0, i - STEPS), i);
      const isRequest = steps.length === STEPS && steps.every(({ kernel }) => kernel === 'gvb_request_ste');
      if (call.name !== 'cuStreamSynchronize' || !isRequest) return [];
      return [{ entered: steps[0]?.entered as number, left: call.left }];
    });
  });
  // The first one after the request for the window is not timed; the others arrive in steps of the period.
  const [, ...timed] = requests.filter(({ entered }) => entered > (first?.left ?? NaN));
  const started = Math.min(...timed.map(({ entered }, i) => entered - i * PERIOD_NS));
  const latencies = timed.map(({ left }, i) => {
    const arrived = started + i * PERIOD_NS;
    return { arrived, ms: (left - arrived) / 1e6 };
  });
  const within = (from = NaN, to = NaN) =>
    median(latencies.filter(({ arrived }) => arrived > from && arrived < to).map(({ ms }) => ms)).value;
  return {
    alone: within(first?.left, lock?.entered),
    meanwhile: within(lock?.entered, unlock?.left),
  };
}

describe('CKPT-006', () => {
  it('agrees with the recorded requests beside a checkpoint that loads the bus', async () => {
    const { result, record } = await onCard('CKPT-006', { pcie_gbs: 0.3, checkpoint_gbs: 0.3 }, { iterations: 1 });
    expect(result).toMatchObject({ status: 'ok', processes: 2 });
    const { alone, meanwhile, phases } = detailsOf(result);
    const recorded = recordedRequests(record);
    expect(Math.abs(alone.p50Ms - recorded.alone)).toBeLessThan(BESIDE_MS);
    expect(Math.abs(meanwhile.p50Ms - recorded.meanwhile)).toBeLessThan(BESIDE_MS);
    expect(result.value).toBeGreaterThan(0);
    expect(result.value).toBeCloseTo(100 * (meanwhile.p50Ms / alone.p50Ms - 1), 6);
    expect(phases.map(({ phase }) => phase)).toEqual(['lock', 'copy out', 'copy in', 'unlock']);
    for (const { phase, degradationPercent } of phases)
      if (phase.startsWith('copy')) expect(degradationPercent).toBeGreaterThan(0);
  });

  it('is invalid if the contents come back changed', async () => {
    const { result } = await onCard('CKPT-006', { checkpoint_corrupts: 1 }, { iterations: 1 });
    expect(result).toMatchObject({ status: 'invalid' });
    expect(result.reason).toMatch(/checksums/);
  });

  it('is invalid if the neighbour never ran meanwhile', () => {
    const [none] = [pooled([])];
    const served = { ...none, latencyNs: Array<number>(100).fill(1e6), serviceNs: Array<number>(100).fill(1e6) };
    const phases = { lock: none, 'copy out': none, 'copy in': none, unlock: none };
    const found: Neighboured = { alone: served, meanwhile: none, phases, turns: [] };
    expect(judge(0, found)).toMatchObject({
      status: 'invalid',
      value: null,
      reason: expect.stringMatching(/^the neighbour worked meanwhile: 0 requests/),
    });
  });
});
