import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { command, parseDocument, processesOf, start, warningsOf } from './command.js';

/** A library that every Node maps anyway: preloading it has no effect. */
const harmless = /\s(\/\S*libm[.-]\S*)$/m.exec(readFileSync('/proc/self/maps', 'utf8'))?.[1] as string;
const few = ['run', 'OH-002', '--simulate', '--iterations', '50', '--json', '-'];

describe('under LD_PRELOAD', () => {
  it('passes it to workers and shows that it is mapped', async () => {
    const { stdout, code } = await command(few, { LD_PRELOAD: harmless });
    const { system } = parseDocument(stdout);
    expect(system.settings.LD_PRELOAD).toBe(harmless);
    expect(system.attestation).toContainEqual({
      proof: 'LD_PRELOAD entry is mapped',
      passed: true,
      detail: `${harmless} is mapped from ${harmless}`,
    });
    expect(system.layer).toBeUndefined();
    expect(code).toBe(0);
  });

  it('preloads only workers, not the coordinator, and passes on no variable of its own', async () => {
    const run = start(['run', 'OH-001', '--simulate', '--iterations', '10000000'], { LD_PRELOAD: harmless });
    await run.said('Device 0');
    const environments = processesOf(run.mark).map(({ pid, command: line }) => ({
      worker: line.includes('worker/main'),
      text: readFileSync(`/proc/${pid}/environ`, 'utf8'),
    }));
    const [worker, ...moreWorkers] = environments.filter((process) => process.worker);
    expect(moreWorkers).toEqual([]);
    expect(worker?.text).toContain(`\0LD_PRELOAD=${harmless}\0`);
    expect(worker?.text).not.toContain('GVB_CALLER_LD_PRELOAD');
    expect(worker?.text).not.toContain('GVB_FIRST_START_PID');
    const coordinators = environments.filter(({ worker: isWorker }) => !isWorker);
    expect(coordinators.filter(({ text }) => !text.includes('\0LD_PRELOAD='))).toHaveLength(1);
    run.child.kill('SIGINT');
    expect((await run.done).code).toBe(130);
    await expect.poll(() => processesOf(run.mark)).toEqual([]);
  });

  const systems = ['--system', 'native:name=a', '--system', 'native:name=b'];
  it.each([
    ['run', 'OH-001'],
    ['compare', 'OH-001', ...systems],
  ])('%s leaves no process behind when its first process is killed', async (...args) => {
    const run = start([...args, '--simulate', '--iterations', '10000000'], { LD_PRELOAD: harmless });
    await run.said('Device 0');
    run.child.kill('SIGKILL');
    await run.done;
    await expect.poll(() => processesOf(run.mark)).toEqual([]);
  });

  it('warns of a library that was not loaded', async () => {
    const { stderr, stdout } = await command(few, { LD_PRELOAD: '/nonexistent/libvgpu.so' });
    expect(stderr).toMatch(
      /^warning: LD_PRELOAD names \/nonexistent\/libvgpu\.so, which the dynamic loader did not load/m,
    );
    expect(warningsOf(parseDocument(stdout))).toHaveLength(1);
  });

  it('passes exit codes through', async () =>
    expect(await command(['run', 'nonsense'], { LD_PRELOAD: harmless })).toMatchObject({ code: 2, stdout: '' }));
});
