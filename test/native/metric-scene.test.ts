/** A metric's scene with a fake launcher: which tenants are prepared, proven and removed. */
import { describe, expect, it } from 'vitest';
import { loadAddon } from '../../lib/native/load.js';
import type { MeasureContext } from '../../lib/metrics/core/metric.js';
import { allOrFirstError, inScene } from '../../lib/metrics/tenants/scene.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import { SOLE_TENANT, type Tenant } from '../../lib/systems/system.js';
import { FakeLauncher } from '../fake-launcher.js';

const CONTEXT = { function: 'cuDevicePrimaryCtxRetain', owner: '/lib/libcuda.so.1' };

/** Records the events and their tenants in order. */
function setting(unproven: number[] = [], clockLateNs = 0) {
  const events: string[] = [];
  const clock = () => ({ nowNs: loadAddon().now() - clockLateNs });
  const launcher = new FakeLauncher({ answers: { enter: () => ({ context: CONTEXT }), clock } });
  const noted = (what: string) => (tenant: Tenant) => Promise.resolve(void events.push(`${what} ${tenant.id}`));
  const context = {
    options: { device: null, path: 'runtime' },
    signal: new AbortController().signal,
    simulatedDriver: null,
    leftBehind: (what: string) => void events.push(what),
    system: { ...environmentSystem({}), launcher, prepareTenant: noted('prepare'), reap: noted('reap') },
    prove: (worker: { alive: boolean }, tenant: Tenant) => {
      if (!worker.alive) return Promise.reject(new Error('it has ended'));
      if (unproven.includes(tenant.id)) return Promise.reject(new Error(`tenant ${tenant.id} is not under the system`));
      return noted('prove')(tenant);
    },
  } as unknown as MeasureContext;
  return { context, events, launcher };
}

describe('the scene of a metric', () => {
  it('prepares each tenant once, proves each worker, and removes each tenant when all have ended', async () => {
    const { context, events, launcher } = setting();
    const contexts = await inScene(context, async (scene) => {
      for (const id of [1, 1, 2]) await scene.enter({ id });
      return scene.scene.contexts;
    });
    expect(contexts).toEqual([CONTEXT, CONTEXT, CONTEXT]);
    expect(events).toEqual(['prepare 1', 'prepare 2', 'prove 1', 'prove 1', 'prove 2', 'reap 1', 'reap 2']);
    const endings = await Promise.all(launcher.started.map(({ ended }) => ended));
    expect(endings.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  });

  it('immediately proves a tenant whose clock differs from the others', async () => {
    const { context, events } = setting([1], 50_000_000);
    const used = inScene(context, async (scene) => {
      await scene.enter({ id: 1 });
      events.push('released');
    });
    await expect(used).rejects.toThrow('tenant 1 is not under the system');
    expect(events).toEqual(['prepare 1', 'reap 1']);
  });

  it('starts each tenant under its own limits', async () => {
    const { context, launcher } = setting();
    const { system } = context;
    const environment = ({ limits }: Tenant = SOLE_TENANT) => ({ LIMIT: String(limits?.memoryBytes) });
    await inScene({ ...context, system: { ...system, environment } }, async (scene) => {
      await scene.enter({ id: 1, limits: { memoryBytes: 1024 } }, 'victim');
      await scene.enter({ id: 2, limits: { memoryBytes: 4096 } }, 'aggressor');
      expect(scene.scene.tenants.map(({ role }) => role)).toEqual(['victim', 'aggressor']);
    });
    expect(launcher.started.map((started) => started.environment)).toEqual([{ LIMIT: '1024' }, { LIMIT: '4096' }]);
  });

  it('returns nothing from a worker that was not under the system, and removes all tenants', async () => {
    const { context, events } = setting([2]);
    const used = inScene(context, async (scene) => {
      for (const id of [1, 2]) await scene.enter({ id });
      return 'a number';
    });
    await expect(used).rejects.toThrow('tenant 2 is not under the system');
    expect(events.slice(-2)).toEqual(['reap 1', 'reap 2']);
  });

  it('keeps the results if a worker died after it was proven', async () => {
    const { context, events } = setting();
    const ending = await inScene(context, async (scene) => {
      await scene.enter({ id: 1 }, 'victim');
      const aggressor = await scene.enter({ id: 2 }, 'aggressor');
      await scene.prove(aggressor);
      aggressor.signal('SIGKILL');
      return aggressor.exit;
    });
    expect(ending).toMatchObject({ signal: 'SIGKILL' });
    expect(events).toEqual(['prepare 1', 'prepare 2', 'prove 2', 'prove 1', 'reap 1', 'reap 2']);
  });

  it('returns nothing if a worker died before it was proven', async () => {
    const { context } = setting();
    const used = inScene(context, async (scene) => {
      const tenant = await scene.enter({ id: 1 });
      tenant.signal('SIGKILL');
      await tenant.exit;
    });
    await expect(used).rejects.toThrow('it has ended');
  });

  it('runs a program in a tenant that is prepared and removed like any other', async () => {
    const { context, events, launcher } = setting();
    await inScene(context, async (scene) => {
      const tenant = await scene.startCommand({ id: 1 }, ['train'], 'aggressor');
      expect(launcher.started[0]?.command).toEqual(['train']);
      return tenant.stop();
    });
    expect(events).toEqual(['prepare 1', 'reap 1']);
  });
});

describe('several tasks', () => {
  it('reject with the first error once all have settled', async () => {
    const settled: string[] = [];
    const task = async (name: string, ms: number, fails: boolean) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      settled.push(name);
      if (fails) throw new Error(name);
    };
    const tasks = [task('slow', 30, false), task('late', 20, true), task('early', 1, true)];
    await expect(allOrFirstError(tasks)).rejects.toThrow('late');
    expect(settled.sort()).toEqual(['early', 'late', 'slow']);
  });

  it('resolve if none fails', async () => {
    expect(await allOrFirstError([Promise.resolve(1), Promise.resolve(2)])).toBeUndefined();
    expect(await allOrFirstError([])).toBeUndefined();
  });
});
