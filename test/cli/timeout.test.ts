/** The steps besides metrics that --timeout bounds. The simulated cuInit takes 100 s, like one that hangs. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  command,
  emptyFolder,
  hasDriver,
  parseComparison,
  processesOf,
  simulatedFolder,
  start,
  systemOnCard,
} from './command.js';
import { expectRefusal, refused } from './refused.js';

const hangs = 'init_ms=100000';
const few = ['OH-002', '--simulate', '--iterations', '20', '--timeout', '10'];

// These tests run in parallel, the longest first, because they wait for their deadlines.
describe.concurrent('--timeout', () => {
  it('bounds the cuInit of one system of a comparison, without affecting the others', async () => {
    const systems = ['--system', 'native', '--system', systemOnCard('slow', hangs)];
    // Far longer than the other one takes, even beside other programs.
    const args = ['compare', ...few.with(-1, '25'), ...systems, '--rounds', '1', '--json', '-'];
    const { stdout } = await command([...args, '--output', join(emptyFolder(), 'out')]);
    const [native, slow] = parseComparison(stdout).systems.map(([round]) => round?.metrics[0]);
    expect(native?.status).toBe('ok');
    expect(slow).toMatchObject({ status: 'failed', value: null });
    expect(slow?.reason).toMatch(/^Timed out after 25 s: the worker process did not initialise the driver/);
  });

  it('bounds a cuInit that hangs before anything is measured', async () => {
    const run = start(['run', ...few, '--json', '-'], {}, hangs);
    const { code, stderr } = await run.done;
    expect(stderr).toMatch(
      /^error: Timed out after 10 s: the worker process did not initialise the driver and list its GPUs and was killed\./m,
    );
    expect(code).toBe(1);
    expect(processesOf(run.mark)).toEqual([]);
  });

  it('bounds a cuInit that hangs in calibrate', async () => {
    const run = start(['calibrate', '--simulate', '--tier', 'quick', '--timeout', '10'], {}, hangs);
    const { code, stdout, stderr } = await run.done;
    expect(stderr).toMatch(/^error: Timed out after 10 s: the worker process did not finish the measurement/m);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(processesOf(run.mark)).toEqual([]);
  });

  it.skipIf(hasDriver)('bounds a cuInit that hangs in doctor', async () => {
    const run = start(['doctor', '--timeout', '10', '--json'], { LD_LIBRARY_PATH: simulatedFolder }, hangs);
    const { code, stdout } = await run.done;
    expect(JSON.parse(stdout)).toMatchObject({
      ready: false,
      workerError: expect.stringMatching(
        /^Timed out after 10 s: the worker process did not initialise the driver and list its GPUs and was killed/,
      ) as string,
    });
    expect(code).toBe(1);
    expect(processesOf(run.mark)).toEqual([]);
  });

  it.each([['doctor'], ['run', 'OH-002']])('bounds a libcuda that hangs while it is loaded: %s', async (...args) => {
    const folder = emptyFolder();
    const source = join(folder, 'hanging.c');
    writeFileSync(source, '#include <unistd.h>\n__attribute__((constructor)) static void hang(void) { pause(); }\n');
    execFileSync('cc', ['-shared', '-fPIC', '-o', join(folder, 'libcuda.so.1'), source]);
    const run = start([...args, '--timeout', '2'], { LD_LIBRARY_PATH: folder });
    const { code, stdout, stderr } = await run.done;
    expect(`${stdout}${stderr}`).toMatch(
      /^error: libcuda\.so\.1 cannot be loaded: the process that loaded it did not come back in time\./m,
    );
    expect(code).toBe(1);
    expect(processesOf(run.mark)).toEqual([]);
  });

  it('bounds a set-up command of a custom system', async () => {
    const config = join(emptyFolder(), 'systems.yaml');
    const slow = { kind: 'custom', name: 'slow', perTenantSetup: [['sleep', '1000']] };
    writeFileSync(config, JSON.stringify({ systems: ['native', slow] }));
    const args = ['compare', ...few, '--config', config, '--rounds', '1', '--json', '-'];
    const { stdout } = await command([...args, '--output', join(emptyFolder(), 'out')]);
    const metric = parseComparison(stdout).systems[1]?.[0]?.metrics[0];
    expect(metric).toMatchObject({ status: 'failed', value: null });
    expect(metric?.reason).toMatch(/ran past its 10 s and was killed/);
  });
});

it.each([['doctor'], ['calibrate', '--simulate']])('--timeout of %s must be a number of seconds', async (...args) =>
  expectRefusal(
    await refused([...args, '--timeout', '0']),
    /Expected --timeout to be a number of seconds above 0 and up to 86400 but received 0/,
  ),
);
