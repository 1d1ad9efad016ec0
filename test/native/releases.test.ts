/** Releases that come too early for a process: the workers are replaced, as real ones are late only on a busy machine. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MeasureContext } from '../../lib/metrics/metric.js';
import type * as releases from '../../lib/metrics/releases.js';

/** `readyFrom`: the length of the lead with which every process is ready. */
const state = { readyFrom: 1, leads: [] as number[], stopped: 0 };

/** In place of the module's. */
const replacement = {
  Tenants: class {
    workers: object[] = [];

    addFresh() {
      this.workers.push({});
      return Promise.resolve();
    }

    togetherSettled(_method: string, _params: object, _deadlineMs: number, leads: number) {
      state.leads.push(leads);
      const late = leads < state.readyFrom ? 1 : -1;
      const value = (readyAtNs: number) => ({ readyAtNs, beganAtNs: 1_010, firstResultAtNs: 1_500 });
      const outcomes = this.workers.map((_, i) => ({
        status: 'fulfilled',
        value: value(i === 0 ? 1_000 + late : 900),
      }));
      return Promise.resolve({ startAtNs: 1_000, outcomes });
    }

    stop() {
      state.stopped++;
      return Promise.resolve();
    }
  },
};

const context = {
  options: { device: null, path: 'runtime' },
  signal: new AbortController().signal,
  simulatedDriver: null,
  prove: () => Promise.resolve(),
} as unknown as MeasureContext;

let release: typeof releases.release;
const releaseThree = () => release(context, { environment: {} }, 3);

// Test files share a process and its modules: those of the others are as before.
beforeAll(async () => {
  vi.resetModules();
  vi.doMock('../../lib/workers/tenants.js', () => replacement);
  ({ release } = await import('../../lib/metrics/releases.js'));
});

afterAll(() => {
  vi.doUnmock('../../lib/workers/tenants.js');
  vi.resetModules();
});

describe('a release', () => {
  beforeEach(() => Object.assign(state, { readyFrom: 1, leads: [], stopped: 0 }));

  it('is one where all processes are ready', async () => {
    expect(await releaseThree()).toMatchObject({ firstResults: [500, 500, 500], total: 500, late: 10, tries: 1 });
    expect(state).toMatchObject({ leads: [1], stopped: 1 });
  });

  it('that came too early for one process is repeated with new processes and more time before it', async () => {
    state.readyFrom = 16;
    expect(await releaseThree()).toMatchObject({ firstResults: [500, 500, 500], tries: 3 });
    expect(state).toMatchObject({ leads: [1, 4, 16], stopped: 3 });
  });

  it('that is always too early is invalid', async () => {
    state.readyFrom = Infinity;
    await expect(releaseThree()).rejects.toMatchObject({
      code: 'INVALID_RESULT',
      message: expect.stringMatching(/^Of 3 processes 1 were not ready at their release/),
    });
    expect(state.stopped).toBe(state.leads.length);
  });
});
