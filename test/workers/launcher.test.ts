import { describe, expect, it } from 'vitest';
import { Scene } from '../../lib/workers/scene.js';
import { startUpInFreshProcess } from '../../lib/workers/start-up.js';
import { Worker } from '../../lib/workers/worker.js';
import { loadAddon } from '../../lib/native/load.js';
import { FakeLauncher, type FakeOptions } from '../fake-launcher.js';
import { WAIT_MS } from '../limits.js';

const OFFSET_NS = 5_000_000_000;
const target = { simulatedDriver: '/sim', device: null, path: 'runtime' as const };
const request = { deadlineMs: WAIT_MS };

function fake(answers: FakeOptions['answers'] = {}) {
  return new FakeLauncher({ answers, root: '/elsewhere', clockOffsetNs: OFFSET_NS });
}

describe('a launcher', () => {
  it('starts workers with the prefix, translated paths and only the given environment', async () => {
    const launcher = fake();
    const worker = await Worker.start({ start: launcher.how });
    const [process_] = launcher.started;
    expect(process_?.command).toEqual([
      'prefix',
      `/elsewhere${process.execPath}`,
      '--no-memory-reducer',
      expect.stringMatching(/^\/elsewhere\/.*worker\/main\.js$/),
    ]);
    expect(process_?.environment).toEqual({ ONLY: 'this' });
    await worker.stop();
    expect(await worker.exit).toEqual({ how: 'ended with exit code 0', exitCode: 0, signal: null });
  });

  it('measures its clock offset, so that spawn and main are timed by one clock', async () => {
    const before = process.hrtime.bigint();
    const worker = await Worker.start({ start: fake().how });
    const passed = Number(process.hrtime.bigint() - before);
    expect(worker.timing.spawnToMainNs).toBeGreaterThan(0);
    expect(worker.timing.spawnToMainNs).toBeLessThan(passed);
    await worker.stop();
  });

  it('translates the path of the driver and the times of a start', async () => {
    const launcher = fake({ startUp: () => ({ firstResultAtNs: loadAddon().now() - OFFSET_NS }) });
    const start = { ...target, contextApi: 'cuCtxCreate' as const, recreations: 0, startAtNs: null, keep: false };
    const before = loadAddon().now();
    const { spawnToResultNs } = await startUpInFreshProcess(start, { start: launcher.how });
    expect(launcher.started[0]?.requests).toEqual([
      { method: 'startUp', params: { ...start, simulatedDriver: '/elsewhere/sim' } },
    ]);
    expect(spawnToResultNs).toBeGreaterThan(0);
    expect(spawnToResultNs).toBeLessThanOrEqual(loadAddon().now() - before);
  });

  it('kills a process that does not answer in time', async () => {
    const launcher = fake({ hang: () => new Promise(() => {}) });
    const worker = await Worker.start({ start: launcher.how });
    await expect(worker.request('hang', null, { deadlineMs: 1 })).rejects.toThrow(/^Timed out after 0\.001 s/);
    expect(launcher.started[0]?.signals).toEqual(['SIGTERM']);
    expect(await worker.exit).toMatchObject({ signal: 'SIGTERM' });
  });

  it('passes signals on to its processes', async () => {
    const launcher = fake({ hang: () => new Promise(() => {}) });
    const worker = await Worker.start({ start: launcher.how });
    const asked = worker.request('hang', null, request);
    worker.signal('SIGSEGV');
    await expect(asked).rejects.toThrow('The worker process was killed by SIGSEGV.');
    expect(launcher.started[0]?.signals).toEqual(['SIGSEGV']);
  });
});

describe('a scene', () => {
  const sceneOf = async (launcher: FakeLauncher, count: number) => {
    const scene = new Scene(new AbortController().signal);
    for (let i = 0; i < count; i++) await scene.startWorker(launcher.how, i === 0 ? 'victim' : 'aggressor');
    return scene;
  };

  it('releases each worker with its own task at one time, by each clock', async () => {
    const launcher = fake({ work: ({ startAtNs, what }) => ({ startAtNs, what }) });
    const scene = await sceneOf(launcher, 2);
    const [victim, aggressor] = scene.workers;
    if (!victim || !aggressor) throw new Error('two workers were started');
    const task = (what: string) => ({ method: 'work', params: { what } });
    const released = await scene.release(
      new Map([
        [victim, task('serve')],
        [aggressor, task('disturb')],
      ]),
      WAIT_MS,
    );
    const startAtNs = released.startAtNs - OFFSET_NS;
    expect(released.outcomes).toEqual([
      { status: 'fulfilled', value: { startAtNs, what: 'serve' } },
      { status: 'fulfilled', value: { startAtNs, what: 'disturb' } },
    ]);
    expect(scene.tenants.map(({ role }) => role)).toEqual(['victim', 'aggressor']);
    await scene.stop();
  });

  it('keeps the results of the others if one dies, and the death as a result', async () => {
    let asked = 0;
    const launcher = fake({
      work: (_, process) => {
        if (asked++ > 0) return 'done';
        process.signal('SIGKILL');
        return undefined;
      },
    });
    const scene = await sceneOf(launcher, 3);
    const task = { method: 'work', params: {} };
    const { outcomes } = await scene.release(new Map(scene.workers.map((worker) => [worker, task])), WAIT_MS);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(await scene.workers[0]?.exit).toMatchObject({ signal: 'SIGKILL' });
    expect(await scene.each(task, WAIT_MS).catch((error: Error) => error.message)).toMatch(/was killed by SIGKILL/);
    await scene.stop();
  });

  it('has programs as tenants, with their lines as marks of progress', async () => {
    const launcher = new FakeLauncher({ program: true });
    const scene = new Scene(new AbortController().signal);
    const before = loadAddon().now();
    const tenant = scene.startCommand(['train', '--fast'], launcher.how, 'aggressor');
    const [program] = launcher.started;
    expect(program?.command).toEqual(['prefix', 'train', '--fast']);
    program?.stdout.write('step 1\nstep 2\n');
    await expect.poll(() => tenant.log).toMatch(/step 2/);
    tenant.signal('SIGTERM');
    expect(await tenant.exit).toMatchObject({ signal: 'SIGTERM' });
    const { startNs, endNs, marksNs } = tenant.activity;
    expect(startNs).toBeGreaterThanOrEqual(before);
    expect(marksNs.every((ns) => ns >= startNs && ns <= endNs)).toBe(true);
    expect(marksNs).toHaveLength(2);
    await scene.stop();
  });
});
