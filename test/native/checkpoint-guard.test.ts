/** Whoever is killed, no live process that was restored is ended: the simulator leaves a file where one is. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { moments } from '../moments.js';
import { type Seen, until } from '../region-processes.js';
import { RestoringRun } from '../restoring-run.js';

/** Little memory, so that there are four targets: a run whose controller is replaced measures all of them. */
const COSTS =
  'init_ms=0,context_ms=0,context_mib=1,memory_mib=96,checkpoint_lock_us=5000,checkpoint_fixed_us=60000,checkpoint_us_per_mib=10,' +
  'restore_fixed_us=60000,restore_us_per_mib=10,unlock_us=5000';

const running = () =>
  new RestoringRun(['run', 'CKPT-003', '--simulate', '--iterations', '1', '--json', '/dev/null'], COSTS);

// These tests run in parallel, because they wait for what the guardians do.
describe.concurrent('a run that is killed while it checkpoints', () => {
  it.each(moments(400))('leaves no process, and ends none that is live and restored (%i ms after the first)', (ms) =>
    running().isKilled(ms),
  );

  it('leaves none after Ctrl-C either', () => running().isInterrupted(1));
});

describe.concurrent('a run whose controller is killed', () => {
  it.each(moments(400))('ends its targets only when checkpointed (%i ms after the first)', async (ms) => {
    const run = running();
    await run.restores(ms);
    const isController = ({ command, pid }: Seen) =>
      command.includes('worker/main.js') && !command.startsWith('target') && parentOf(pid) === run.child.pid;
    for (const { pid } of run.left().filter(isController)) process.kill(pid, 'SIGKILL');
    await run.ended();
    await run.endsSafely();
  });
});

it('a run whose target is killed says so, and leaves no process', async () => {
  const run = running();
  const target = await until(() => run.left().find(({ command }) => command.startsWith('target')));
  process.kill(target.pid, 'SIGKILL');
  expect(await run.ended()).toBeGreaterThan(0);
  expect(run.said).toMatch(/CKPT-003.*SIGKILL/s);
  await run.noneLeft();
});

const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
