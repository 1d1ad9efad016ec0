import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { passing } from '../waiting.js';
import { emptyFolder, parseComparison, parseDocument, processesOf, start, workersOf } from './command.js';

/** Far longer than any test waits. */
const long = ['run', 'OH-001', 'OH-002', '--simulate', '--iterations', '10000000', '--seed', '1'];
const nobodyLeft = (mark: string) => passing(() => expect(processesOf(mark)).toEqual([]));

describe('interruption', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('writes the partial document on %s', async (signal) => {
    const target = join(emptyFolder(), 'x.json');
    const run = start([...long, '--json', target]);
    await run.said('Device 0');
    run.child.kill(signal);
    const { code, stderr } = await run.done;
    expect(parseDocument(readFileSync(target, 'utf8'))).toMatchObject({ completed: false, metrics: [] });
    expect(stderr).toMatch(/^warning: Interrupted: 0 of 2 metrics were measured\.$/m);
    expect(code).toBe(130);
    await nobodyLeft(run.mark);
  });

  it('kills unresponsive workers on a second SIGINT, and still writes the document', async () => {
    const target = join(emptyFolder(), 'x.json');
    const run = start([...long, '--json', target]);
    await run.said('Device 0');
    // A stopped worker cannot react to SIGTERM, so the coordinator waits for it.
    for (const { pid } of workersOf(run.mark)) process.kill(pid, 'SIGSTOP');
    run.child.kill('SIGINT');
    await run.said('Interrupted: stopping');
    run.child.kill('SIGINT');
    const { code, stderr } = await run.done;
    expect(stderr).toMatch(/^Killing the workers, /m);
    expect(parseDocument(readFileSync(target, 'utf8'))).toMatchObject({ completed: false, metrics: [] });
    expect(code).toBe(130);
    await nobodyLeft(run.mark);
  });

  /** A teardown that takes as long as the test lets it. */
  const slowTeardown = (folder: string) => {
    const files = { began: join(folder, 'began'), may: join(folder, 'may'), systems: join(folder, 'systems.yaml') };
    const wait = 'touch "$0"; while ! test -e "$1"; do sleep 0.1; done';
    const slow = { kind: 'custom', name: 'slow', teardown: [['sh', '-c', wait, files.began, files.may]] };
    writeFileSync(files.systems, JSON.stringify({ systems: ['native', slow] }));
    return files;
  };

  it('finishes a system’s clean-up and its outputs after a second SIGINT', async () => {
    const [folder, temporary] = [emptyFolder(), emptyFolder()];
    const { began, may, systems } = slowTeardown(folder);
    const args = ['compare', 'OH-001', '--simulate', '--iterations', '10000000', '--config', systems];
    const run = start([...args, '--output', join(folder, 'out')], { TMPDIR: temporary });
    await run.said('Device 0');
    run.child.kill('SIGINT');
    await passing(() => expect(existsSync(began)).toBe(true));
    run.child.kill('SIGINT');
    await run.said('Killing the workers');
    writeFileSync(may, '');
    expect((await run.done).code).toBe(130);
    expect(parseComparison(readFileSync(join(folder, 'out/summary.json'), 'utf8'))).toMatchObject({ completed: false });
    expect(readdirSync(temporary)).toEqual([]);
    await nobodyLeft(run.mark);
  });

  it('exits at once on a third SIGINT', async () => {
    const folder = emptyFolder();
    const { began, systems } = slowTeardown(folder);
    const args = ['compare', 'OH-001', '--simulate', '--iterations', '10000000', '--config', systems];
    const run = start([...args, '--output', join(folder, 'out')], { TMPDIR: emptyFolder() });
    await run.said('Device 0');
    run.child.kill('SIGINT');
    await passing(() => expect(existsSync(began)).toBe(true));
    run.child.kill('SIGINT');
    await run.said('Killing the workers');
    run.child.kill('SIGINT');
    expect((await run.done).code).toBe(130);
    await nobodyLeft(run.mark);
  });

  it('completes an output that was started before the second SIGINT', async () => {
    const pipe = join(emptyFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const run = start([...long, '--json', pipe]);
    await run.said('Device 0');
    run.child.kill('SIGINT');
    // Then it writes, and waits for a reader.
    await passing(() => expect(workersOf(run.mark)).toEqual([]));
    run.child.kill('SIGINT');
    await run.said('Killing the workers');
    expect(parseDocument(readFileSync(pipe, 'utf8'))).toMatchObject({ completed: false });
    expect((await run.done).code).toBe(130);
  });

  it('keeps the earlier rounds if a worker was still starting', async () => {
    const folder = emptyFolder();
    const waits = join(folder, 'waits');
    const slow = { kind: 'custom', name: 'slow', perTenantSetup: [['sh', '-c', 'touch "$0" && sleep 1000', waits]] };
    writeFileSync(join(folder, 'systems.yaml'), JSON.stringify({ systems: ['native', slow] }));
    const args = ['compare', 'OH-002', '--simulate', '--tier', 'quick', '--config', join(folder, 'systems.yaml')];
    const run = start([...args, '--output', join(folder, 'out')]);
    await passing(() => expect(existsSync(waits)).toBe(true));
    run.child.kill('SIGINT');
    expect((await run.done).code).toBe(130);
    const { completed, systems } = parseComparison(readFileSync(join(folder, 'out/summary.json'), 'utf8'));
    expect({ completed, rounds: systems.map((rounds) => rounds.length) }).toEqual({ completed: false, rounds: [1, 0] });
    await nobodyLeft(run.mark);
  });

  it('leaves no worker behind when it is killed', async () => {
    const run = start(long);
    await run.said('Device 0');
    expect(workersOf(run.mark)).toHaveLength(1);
    run.child.kill('SIGKILL');
    await run.done;
    await nobodyLeft(run.mark);
  });
});

// These tests run in parallel, because one of them waits for its deadline.
describe.concurrent('a lost worker', () => {
  it('fails only its current metric', async () => {
    const target = join(emptyFolder(), 'x.json');
    // Each launch takes so long that the worker is killed before OH-001 is measured, however late that is.
    const args = ['run', 'OH-001', 'OH-002', '--simulate', '--seed', '1', '--json', target];
    const run = start(args, {}, 'launch_ns=300000000');
    await run.said('Device 0');
    const [worker] = workersOf(run.mark);
    expect(worker).toBeDefined();
    process.kill(worker?.pid as number, 'SIGKILL');
    const { code } = await run.done;
    const { metrics, completed, plan } = parseDocument(readFileSync(target, 'utf8'));
    const [lost, measured] = plan.metrics.map((id) => metrics.find((metric) => metric.id === id));
    expect(lost).toMatchObject({ status: 'failed', reason: expect.stringMatching(/killed by SIGKILL/), value: null });
    expect(measured).toMatchObject({ status: 'ok' });
    expect(completed).toBe(true);
    expect(code).toBe(1);
  });

  it('times out at the deadline', async () => {
    // Calls that sleep: a deadline far above the duration of a start must not cost that much processor time.
    const run = start([...long, '--timeout', '10', '--json', '-'], {}, 'launch_ns=100000000,alloc_us=100000');
    const { stdout, code } = await run.done;
    for (const { status, reason } of parseDocument(stdout).metrics)
      expect({ status, reason }).toEqual({
        status: 'failed',
        reason: expect.stringMatching(/^Timed out after 10 s: /),
      });
    expect(code).toBe(1);
    await nobodyLeft(run.mark);
  });

  it('fails with the code of a device lost mid-run, and the next worker continues', async () => {
    const args = ['run', 'OH-001', 'OH-002', '--simulate', '--json', '-'];
    const { stdout, code } = await start(args, {}, 'fail=cuLaunchKernel:719@10').done;
    const [lost, measured] = parseDocument(stdout).metrics;
    expect(lost).toMatchObject({ id: 'OH-001', status: 'failed', value: null });
    expect(lost?.reason).toMatch(/^cuLaunchKernel returned CUDA_ERROR_LAUNCH_FAILED \(719\)/);
    expect(measured).toMatchObject({ id: 'OH-002', status: 'ok' });
    expect(code).toBe(1);
  });
});

it('leaves no file under the final name when it is killed', async () => {
  const target = join(emptyFolder(), 'x.json');
  const run = start([...long, '--json', target]);
  await run.said('Device 0');
  run.child.kill('SIGKILL');
  await run.done;
  expect(existsSync(target)).toBe(false);
});
