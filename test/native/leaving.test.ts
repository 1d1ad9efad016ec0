/** Environments and processes that end while the driver still works for them. Each case was a crash or a hang. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WAIT_MS } from '../limits.js';
import { addonFile, simulatedFolder } from './child.js';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gvb-leaving-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a module's text under the simulated driver; its worker_thread executes `thread`. */
function run(name: string, settings: string, main: string, thread = '', env: NodeJS.ProcessEnv = {}) {
  const prelude = `
    import { Worker, isMainThread, parentPort } from 'node:worker_threads';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { createRequire } from 'node:module';
    const addon = createRequire(import.meta.url)(${JSON.stringify(addonFile)});
    const target = { simulatedDriver: ${JSON.stringify(simulatedFolder)}, device: null, path: 'runtime' };
    const terminateIn = async (ms) => {
      const worker = new Worker(new URL(import.meta.url));
      await new Promise((resolve) => worker.once('message', resolve));
      await sleep(ms);
      await worker.terminate();
    };
    `;
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, `${prelude}\nif (isMainThread) {${main}} else {${thread}}\n`);
  return spawnSync(process.execPath, [file], {
    encoding: 'utf8',
    timeout: WAIT_MS,
    env: { PATH: process.env.PATH, HOME: folder, GVB_SIM: `region=leaving-${name},${settings}`, ...env },
  });
}

describe('ending while a measurement runs', () => {
  it('frees nothing the executor still reads when the process exits slowly', () => {
    const source = join(folder, 'slow.c');
    const library = join(folder, 'slow.so');
    writeFileSync(
      source,
      '#include <unistd.h>\n__attribute__((destructor)) static void bye(void) { usleep(100000); }\n',
    );
    const built = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source], { encoding: 'utf8' });
    expect(built.stderr).toBe('');
    const main = `
      const session = await addon.openSession(target);
      addon.allocationBlock(session, { api: 'cuMemAlloc', bytes: 4096, live: 2, count: 1000000, warmup: 0, bare: false }).catch(() => {});
      setTimeout(() => process.exit(7), 60);`;
    // Freed memory is overwritten, so that a read of it shows.
    const { status, signal } = run('exit', 'init_ms=1,context_ms=1,alloc_us=5', main, '', {
      LD_PRELOAD: library,
      MALLOC_PERTURB_: '165',
    });
    expect({ status, signal }).toEqual({ status: 7, signal: null });
  });

  it('passes the turn on if a worker_thread ends while its session opens', () => {
    const main = `
      await terminateIn(300);
      const session = await addon.openSession(target);
      await addon.closeSession(session);
      console.log(JSON.stringify({ session }));`;
    const thread = `addon.openSession(target); parentPort.postMessage('opening');`;
    const { status, stdout, stderr } = run('opening', 'init_ms=1,context_ms=1500', main, thread);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const { session } = JSON.parse(stdout);
    expect(session).toBeGreaterThan(0);
  });

  it('survives a driver call that outlasts the worker_thread and the wait for it', () => {
    const main = `
      await terminateIn(200);
      await sleep(4000);
      console.log('alive');`;
    const thread = `addon.inspect(target); parentPort.postMessage('inspecting');`;
    const { status, stdout, stderr } = run('late', 'init_ms=13000', main, thread);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'alive\n', stderr: '' });
  });
});
