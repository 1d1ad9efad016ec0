/** Tenants on the simulated GPU: released together, measured in their common window, gone afterwards. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { commonWindow, type SentWindow, withTenants } from '../../lib/metrics/tenants/tenants.js';
import type { MeasureContext } from '../../lib/metrics/core/metric.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import { processesOf } from '../cli/command.js';
import { WAIT_MS } from '../limits.js';
import { emptyFolder, simulatedFolder } from './child.js';

const mark = randomUUID();
const region = `tenants-${mark.slice(0, 13)}`;
afterEach(() => rmSync(`/dev/shm/gvb-sim-${process.getuid?.()}-${region}`, { force: true }));

function context(signal = new AbortController().signal): MeasureContext {
  const settings = `region=${region},init_ms=1,context_ms=1,alloc_us=50,free_us=30`;
  const environment = { PATH: process.env.PATH, HOME: emptyFolder(), GVB_TEST_MARK: mark, GVB_SIM: settings };
  const options = { device: null, path: 'runtime' } as MeasureContext['options'];
  return {
    options,
    signal,
    system: environmentSystem(environment),
    prove: () => Promise.resolve(),
    simulatedDriver: simulatedFolder,
  } as Partial<MeasureContext> as MeasureContext;
}

/** Long enough that both work at the same time on a busy machine. */
const WINDOW_NS = 500e6;
const params = { operation: 'allocFree', bytes: 0, windowNs: WINDOW_NS, warmup: 2, mostSamples: 10_000 };

describe('tenants', () => {
  it('start together, and have a common window in which all were at work', async () => {
    const windows = await withTenants(context(), { topology: 'shared' }, async ({ scene, growTo }) => {
      await growTo(2);
      expect(scene.workers).toHaveLength(2);
      return scene.together<SentWindow>({ method: 'window', params }, WAIT_MS);
    });
    expect(windows).toHaveLength(2);
    for (const { startedNs, endedNs, operations } of windows) {
      // A busy machine may delay the start, but it is never early.
      expect(startedNs).toBeGreaterThanOrEqual(0);
      expect(endedNs).toBeGreaterThanOrEqual(WINDOW_NS);
      expect(operations).toBeGreaterThan(0);
    }
    const common = commonWindow(windows);
    expect(common).not.toBeNull();
    for (const samples of common?.samples ?? []) {
      const sorted = [...samples].sort((a, b) => a - b);
      expect(sorted[Math.floor(sorted.length / 2)]).toBeGreaterThanOrEqual(80_000);
    }
    await expect.poll(() => processesOf(mark)).toEqual([]);
  });

  it('all end if one cannot start', async () => {
    const { system } = context();
    let asked = 0;
    const broken = {
      ...context(),
      system: {
        ...system,
        environment: () => {
          asked++;
          return { ...system.environment(), ...(asked === 2 && { GVB_SIM: 'alloc_us=nonsense' }) };
        },
      },
    };
    const populate = withTenants(broken, { topology: 'shared' }, ({ growTo }) => growTo(3));
    await expect(populate).rejects.toMatchObject({ code: 'SIM_SETTINGS' });
    await expect.poll(() => processesOf(mark)).toEqual([]);
  });

  it('end at once with the reason of an abort, and remove their state', async () => {
    const controller = new AbortController();
    const given: number[] = [];
    const { system, ...rest } = context(controller.signal);
    const stateful = {
      ...rest,
      system: {
        ...system,
        prepareTenant: () => Promise.resolve(),
        reap: ({ id }: { id: number }) => Promise.resolve(void given.push(id)),
      },
    };
    const working = withTenants(stateful, { topology: 'separate' }, async ({ scene, growTo }) => {
      await growTo(2);
      setTimeout(() => controller.abort(new Error('enough')), 50);
      return scene.together({ method: 'window', params: { ...params, windowNs: 20_000_000_000 } }, WAIT_MS);
    });
    await expect(working).rejects.toThrow('enough');
    expect(given.sort()).toEqual([1, 2]);
    await expect.poll(() => processesOf(mark)).toEqual([]);
  });

  it("remove their state even if one tenant's stays, and keep the results", async () => {
    const given: number[] = [];
    const left: string[] = [];
    const { system, ...rest } = context();
    const stateful: MeasureContext = {
      ...rest,
      leftBehind: (what) => void left.push(what),
      system: {
        ...system,
        reap: async ({ id }) => {
          given.push(id);
          if (id === 1) throw new Error('the file stayed');
        },
      },
    };
    const use = async ({ growTo }: { growTo: (count: number) => Promise<void> }) => {
      await growTo(2);
      return 'measured';
    };
    expect(await withTenants(stateful, { topology: 'separate' }, use)).toBe('measured');
    expect(given.sort()).toEqual([1, 2]);
    expect(left).toEqual(['the file stayed']);
  });
});

describe('the common window', () => {
  const window = (startedNs: number, endedNs: number, atNs: number[], tookNs: number[]): SentWindow => ({
    startedNs,
    endedNs,
    operations: atNs.length,
    verified: 0,
    usedBefore: null,
    usedAfter: null,
    atNs,
    tookNs,
  });

  it('contains the operations that began and ended in it', () =>
    expect(commonWindow([window(0, 100, [0, 10, 50, 95], [5, 10, 10, 5]), window(10, 90, [10, 80], [10, 10])])).toEqual(
      { fromNs: 10, toNs: 90, samples: [Float64Array.of(10, 10), Float64Array.of(10, 10)] },
    ));

  it.each([
    ['nobody shared any', [window(0, 10, [0], [1]), window(10, 20, [10], [1])]],
    ['one made no progress in it', [window(0, 100, [0, 50], [1, 1]), window(0, 100, [0], [100.5])]],
  ])('is none where %s', (_, windows) => expect(commonWindow(windows)).toBeNull());
});
