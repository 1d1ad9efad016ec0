/** Scenes of real processes: what a tenant is, and that its end does not affect the others. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { loadAddon } from '../../lib/native/load.js';
import { overlap, overlapAtWork } from '../../lib/workers/activity.js';
import type { CommandTenant } from '../../lib/workers/command-tenant.js';
import { localStart } from '../../lib/workers/local.js';
import { Scene } from '../../lib/workers/scene.js';
import { WAIT_MS } from '../limits.js';
import { processesOf } from '../processes.js';

const fake = fileURLToPath(new URL('./fixtures/fake-worker.mjs', import.meta.url));
const mark = randomUUID();
const start = localStart({ PATH: process.env.PATH, GVB_TEST_MARK: mark });
const fakeStart = { ...start, argvPrefix: [process.execPath, fake] };
const scenes: Scene[] = [];

function newScene(signal = new AbortController().signal): Scene {
  const scene = new Scene(signal);
  scenes.push(scene);
  return scene;
}

afterEach(async () => {
  await Promise.all(scenes.splice(0).map((scene) => scene.stop()));
  await expect.poll(() => processesOf(mark)).toEqual([]);
});

const program = (scene: Scene, text: string, role: 'victim' | 'aggressor' = 'aggressor'): CommandTenant =>
  scene.startCommand([process.execPath, '-e', text], start, role);

describe('a program as a tenant', () => {
  it('has a mark for each line that it prints, between its start and its end', async () => {
    const before = loadAddon().now();
    const tenant = program(newScene(), "for (const i of [1, 2, 3]) console.log('step', i); console.error('noise')");
    expect(await tenant.exit).toEqual({ how: 'ended with exit code 0', exitCode: 0, signal: null });
    const { startNs, endNs, marksNs } = tenant.activity;
    expect(marksNs).toHaveLength(3);
    expect(startNs).toBeGreaterThanOrEqual(before);
    for (const ns of marksNs) expect(ns >= startNs && ns <= endNs).toBe(true);
    expect(tenant.activity.endNs).toBe(endNs);
    expect(tenant.log).toMatch(/step 3\n/);
    expect(tenant.log).toMatch(/noise\n/);
  });

  it('has a mark for a last line without a line break', async () => {
    const tenant = program(newScene(), "process.stdout.write('one\\ntwo')");
    await tenant.exit;
    expect(tenant.activity.marksNs).toHaveLength(2);
  });

  it('has no mark if it prints nothing, since nothing shows that it worked', async () => {
    const scene = newScene();
    const silent = program(scene, "console.error('only here')");
    const other = program(scene, "console.log('working'); setInterval(() => {}, 1000)");
    await silent.exit;
    await expect.poll(() => other.activity.marksNs.length).toBe(1);
    expect(silent.activity.marksNs).toEqual([]);
    expect(overlap([silent.activity, other.activity])).not.toBeNull();
    expect(overlapAtWork([silent.activity, other.activity])).toBeNull();
  });

  it('has its exit code or signal as its result', async () => {
    const scene = newScene();
    const failing = program(scene, 'process.exit(3)');
    const crashing = program(scene, "process.kill(process.pid, 'SIGSEGV')");
    const absent = scene.startCommand(['/nonexistent/program'], start, 'aggressor');
    expect(await failing.exit).toEqual({ how: 'ended with exit code 3', exitCode: 3, signal: null });
    expect(await crashing.exit).toEqual({ how: 'was killed by SIGSEGV', exitCode: null, signal: 'SIGSEGV' });
    const { how, ...rest } = await absent.exit;
    expect(how).toMatch(/^could not be started \(.*ENOENT.*\)$/);
    expect(rest).toEqual({ exitCode: null, signal: null });
    expect(absent.pid).toBeNull();
  });

  it('is killed with its scene and its children if it ignores SIGTERM', async () => {
    const scene = newScene();
    const text = `process.on('SIGTERM', () => {});
      require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
      console.log('up'); setInterval(() => {}, 1000)`;
    const tenant = program(scene, text);
    await expect.poll(() => tenant.activity.marksNs.length).toBe(1);
    await scene.stop();
    expect(await tenant.exit).toMatchObject({ signal: 'SIGKILL' });
    await expect.poll(() => processesOf(mark)).toEqual([]);
  });

  it('is not started in a scene that was aborted', () => {
    const scene = newScene(AbortSignal.abort(new Error('enough')));
    expect(() => program(scene, '')).toThrow('enough');
  });
});

describe('the death of one tenant', () => {
  it('does not affect other workers and programs', async () => {
    const scene = newScene();
    const victim = await scene.startWorker(fakeStart);
    const aggressor = await scene.startWorker(fakeStart, 'aggressor');
    const bystander = program(scene, "setInterval(() => console.log('tick'), 1)");
    await expect(aggressor.request({ method: 'crash', params: {} }, WAIT_MS)).rejects.toMatchObject({
      code: 'WORKER',
      message: 'The worker process was killed by SIGSEGV.',
    });
    expect(await aggressor.exit).toEqual({ how: 'was killed by SIGSEGV', exitCode: null, signal: 'SIGSEGV' });
    const seen = bystander.activity.marksNs.length;
    expect(await victim.request({ method: 'echo', params: { still: 'here' } }, WAIT_MS)).toEqual({ still: 'here' });
    await expect.poll(() => bystander.activity.marksNs.length).toBeGreaterThan(seen);
    expect(scene.tenants.map(({ role }) => role)).toEqual(['victim', 'aggressor', 'aggressor']);
  });

  it('is one of the outcomes of a release', async () => {
    const scene = newScene();
    const tenants = [];
    for (let i = 0; i < 3; i++) tenants.push(await scene.startWorker(fakeStart));
    const tasks = new Map(tenants.map((tenant, i) => [tenant, { method: i === 1 ? 'crash' : 'echo', params: { i } }]));
    const { outcomes, startAtNs } = await scene.release(tasks, WAIT_MS);
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: { i: 0, startAtNs } },
      { status: 'rejected', reason: expect.objectContaining({ code: 'WORKER' }) as Error },
      { status: 'fulfilled', value: { i: 2, startAtNs } },
    ]);
  });

  it('by a signal of the caller names the signal', async () => {
    const scene = newScene();
    const tenant = await scene.startWorker(fakeStart);
    tenant.signal('SIGKILL');
    expect(await tenant.exit).toEqual({ how: 'was killed by SIGKILL', exitCode: null, signal: 'SIGKILL' });
    await expect(tenant.request({ method: 'echo', params: {} }, WAIT_MS)).rejects.toThrow('was killed by SIGKILL');
  });
});
