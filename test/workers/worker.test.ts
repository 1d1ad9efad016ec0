import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CudaError } from '../../lib/native/errors.js';
import { ProcessGroup } from '../../lib/workers/process-group.js';
import { localStart } from '../../lib/workers/local.js';
import { Worker, type WorkerOptions } from '../../lib/workers/worker.js';
import { WAIT_MS } from '../limits.js';

const fake = fileURLToPath(new URL('./fixtures/fake-worker.mjs', import.meta.url));
const fakeStart = { ...localStart({}), argvPrefix: [process.execPath, fake] };
const started: Worker[] = [];

async function start(mode = 'obedient', options: Partial<WorkerOptions> = {}): Promise<Worker> {
  const worker = await Worker.start({
    start: { ...fakeStart, environment: { PATH: process.env.PATH, FAKE_MODE: mode } },
    ...options,
  });
  started.push(worker);
  return worker;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((worker) => worker.kill()));
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const request = { deadlineMs: WAIT_MS };

describe('a worker process', () => {
  it('answers requests', async () => {
    const worker = await start();
    expect(await worker.request('echo', { a: [1, 'ü\n'] }, request)).toEqual({ a: [1, 'ü\n'] });
  });

  it('gets exactly the given environment', async () => {
    const worker = await start('obedient', {
      start: { ...fakeStart, environment: { FAKE_MODE: 'obedient', ONLY: 'this' } },
    });
    expect(await worker.request('environment', null, request)).toEqual({ FAKE_MODE: 'obedient', ONLY: 'this' });
  });

  it('runs without the garbage collection of an idle V8', async () => {
    const command = (await (await start()).request('command', null, request)) as string[];
    expect(command).toEqual([process.execPath, '--no-memory-reducer', expect.stringMatching(/worker\/main\.js$/)]);
  });

  it('measures its start-up time', async () => {
    const before = process.hrtime.bigint();
    const { timing } = await start();
    expect(timing.addonLoadNs).toBe(12);
    expect(timing.spawnToMainNs).toBeGreaterThan(0);
    expect(timing.spawnToMainNs).toBeLessThan(Number(process.hrtime.bigint() - before));
  });

  it('passes on progress, in order', async () => {
    const worker = await start();
    const seen: unknown[] = [];
    expect(await worker.request('steps', null, { ...request, onProgress: (value) => seen.push(value) })).toBe('done');
    expect(seen).toEqual([1, 2, 3]);
  });

  it('separates its protocol from the output of a layer, even in the middle of a line', async () => {
    const worker = await start();
    expect(await worker.request('noisy', null, request)).toBe('heard');
    expect(worker.log).toContain('layer: unfinished line');
  });

  it('keeps at most 64 KiB of that output', async () => {
    const worker = await start();
    await worker.request('chatter', null, request);
    expect(worker.log.length).toBe(64 * 1024);
  });

  it('re-creates the error of the worker', async () => {
    const worker = await start();
    const data = {
      kind: 'cuda',
      message: 'cuInit returned …',
      code: 100,
      name: 'CUDA_ERROR_NO_DEVICE',
      call: 'cuInit',
    };
    const error = await worker.request('fail', data, request).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CudaError);
    expect(error).toMatchObject({
      code: 100,
      name: 'CUDA_ERROR_NO_DEVICE',
      call: 'cuInit',
      message: 'cuInit returned …',
    });
    expect(await worker.request('echo', 1, request)).toBe(1);
  });

  it('reports its exit code and last output', async () => {
    const worker = await start();
    await expect(worker.request('exit', 3, request)).rejects.toMatchObject({
      code: 'WORKER',
      message: 'The worker process ended with exit code 3. It last printed: about to leave',
    });
    expect(worker.alive).toBe(false);
    await expect(worker.request('echo', 1, request)).rejects.toThrow(/exit code 3/);
  });

  it('reports the signal that killed it', async () => {
    const worker = await start();
    await expect(worker.request('crash', null, request)).rejects.toThrow('The worker process was killed by SIGSEGV.');
  });

  it('is killed at its deadline', async () => {
    const worker = await start();
    await expect(worker.request('hang', null, { deadlineMs: 50 })).rejects.toMatchObject({
      code: 'WORKER',
      message: expect.stringMatching(
        /^Timed out after 0.05 s: the worker process did not answer hang and was killed\./,
      ),
    });
    expect(alive(worker.pid)).toBe(false);
  });

  it('is abandoned if not even SIGKILL ends it', async () => {
    // Like a process in a driver call that never returns: it reports no exit.
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const child = Object.assign(new EventEmitter(), { pid: undefined, unref: vi.fn(), stdin, stdout, stderr });
    const group = new ProcessGroup(child as unknown as ConstructorParameters<typeof ProcessGroup>[0], {
      term: 10,
      kill: 10,
    });
    await group.kill();
    expect(await group.ended).toEqual({
      how: 'was killed by SIGKILL and has not ended: it may hang in the driver',
      exitCode: null,
      signal: null,
    });
    expect(child.unref).toHaveBeenCalledOnce();
  });

  it('is killed with the reason of an abort', async () => {
    const worker = await start();
    const controller = new AbortController();
    const waiting = worker.request('hang', null, { ...request, signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(alive(worker.pid)).toBe(false);
  });

  it('does not start under a signal that has fired', () =>
    expect(start('obedient', { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow('too late'));

  it('ends with its descendants', async () => {
    const worker = await start();
    const grandchild = (await worker.request('grandchild', null, request)) as number;
    expect(alive(grandchild)).toBe(true);
    await worker.kill();
    await expect.poll(() => alive(grandchild)).toBe(false);
  });

  it('is killed if it ignores both the end of its input and SIGTERM', async () => {
    const worker = await start('stubborn');
    const { pid } = worker;
    await worker.stop();
    expect(alive(pid)).toBe(false);
  });

  it('reports its output if it cannot start', () =>
    expect(start('stillborn')).rejects.toThrow(
      'The worker process ended with exit code 7. It last printed: ld.so: cannot start',
    ));

  it('has a deadline for starting', () =>
    expect(start('mute', { startTimeoutMs: 300 })).rejects.toThrow(
      /^Timed out after 0.3 s: the worker process did not start and was killed\./,
    ));

  it('reports that its command does not exist', () =>
    expect(start('obedient', { start: { ...fakeStart, argvPrefix: ['/nonexistent/runner'] } })).rejects.toThrow(
      /could not be started .*ENOENT/,
    ));
});
