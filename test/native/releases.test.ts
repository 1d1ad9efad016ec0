/** Releases that come too early for a process, with fake processes: real ones are late only on a busy machine. */
import { describe, expect, it } from 'vitest';
import type { MeasureContext } from '../../lib/metrics/core/metric.js';
import { release } from '../../lib/metrics/core/releases.js';
import { loadAddon } from '../../lib/native/load.js';
import { FakeLauncher } from '../fake-launcher.js';

const COUNT = 3;
/** The shortest lead time with this many processes. */
const LEAD_NS = 35e6;
const LEADS = [1, 4, 16, 64];
/** A process that is asked late has less of its lead left, but never more: the clocks differ at most by this. */
const CLOCKS_NS = 10e6;

const context = {
  options: { device: null, path: 'runtime' },
  signal: new AbortController().signal,
  simulatedDriver: null,
  prove: () => Promise.resolve(),
} as unknown as MeasureContext;

/** `readyFrom`: the lead from which on every process is ready. */
async function releaseThree(readyFrom: number, after = (_process: number) => ({ began: 10, first: 500 })) {
  const leads: number[] = [];
  const launcher = new FakeLauncher({
    clockOffsetNs: 7_000,
    answers: {
      startUp: ({ startAtNs }) => {
        const at = startAtNs as number;
        const rest = at + 7_000 - loadAddon().now();
        const lead = LEADS.find((length) => length * LEAD_NS + CLOCKS_NS >= rest) as number;
        const process = (leads.push(lead) - 1) % COUNT;
        const late = process === 0 && lead < readyFrom;
        const { began, first } = after(process);
        return { readyAtNs: late ? at + 1 : at - 100, beganAtNs: at + began, firstResultAtNs: at + first };
      },
    },
  });
  const outcome = await release(context, launcher.how, COUNT).catch((error: unknown) => ({ error }));
  const stopped = await Promise.all(launcher.started.map(({ ended }) => ended));
  return { outcome, leads: leads.filter((_, i) => i % COUNT === 0), stopped };
}

describe('a release', () => {
  it('is one for which all processes are ready, by our clock', async () => {
    const { outcome, leads, stopped } = await releaseThree(1);
    expect(outcome).toMatchObject({ firstResults: [500, 500, 500], total: 500, late: 10, common: 490, tries: 1 });
    expect(leads).toEqual([1]);
    expect(stopped).toHaveLength(COUNT);
  });

  it('has no common time if one process had its result before another began', async () => {
    const { outcome } = await releaseThree(1, (process) => ({ began: 100 * process, first: 100 * process + 50 }));
    expect(outcome).toMatchObject({ firstResults: [50, 150, 250], late: 200, common: null });
  });

  it('that came too early for one process is repeated with new processes and more lead time', async () => {
    const { outcome, leads, stopped } = await releaseThree(16);
    expect(outcome).toMatchObject({ firstResults: [500, 500, 500], tries: 3 });
    expect(leads).toEqual([1, 4, 16]);
    expect(stopped).toHaveLength(3 * COUNT);
  });

  it('that is always too early is invalid', async () => {
    const { outcome, leads, stopped } = await releaseThree(Infinity);
    expect(outcome).toMatchObject({
      error: {
        code: 'INVALID_RESULT',
        message: expect.stringMatching(/^1 of 3 processes were not ready at their release/) as string,
      },
    });
    expect(stopped).toHaveLength(COUNT * leads.length);
  });
});
