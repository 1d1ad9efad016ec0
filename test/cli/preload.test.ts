import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { command, emptyFolder, parseDocument, processesOf, start, warningsOf } from './command.js';

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

  it('keeps standard streams and exit codes', async () => {
    const { code, stdout, stderr } = await command(['run', 'nonsense'], { LD_PRELOAD: harmless });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain("received 'nonsense'");
  });

  it.each([['ends with 0'], ['crashes', '-DCRASHES'], ['hangs', '-DHANGS']])(
    'a layer that %s at the end of a process changes neither exit code nor document',
    async (_, ...flags) => {
      const layer = join(emptyFolder(), 'ending.so');
      const source = fileURLToPath(new URL('../native/fixtures/ending.c', import.meta.url));
      execFileSync('cc', ['-shared', '-fPIC', ...flags, '-o', layer, source]);
      expect((await command(['run', 'nonsense'], { LD_PRELOAD: layer })).code).toBe(2);
      const { code, stdout } = await command(few, { LD_PRELOAD: layer });
      expect([code, parseDocument(stdout).metrics[0]?.status]).toEqual([0, 'ok']);
    },
  );
});
