/** Whoever is killed, no live process that was restored is ended: the simulator leaves a file where one is. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { main } from '../cli/command.js';
import { processesIn, type Seen, until, untilNoneIn } from '../region-processes.js';
import { ownRegion, temporaryFolder } from '../temporary.js';

/** Little memory, so that there are four targets: a run whose controller is replaced measures all of them. */
const COSTS =
  'init_ms=0,context_ms=0,context_mib=1,memory_mib=96,checkpoint_lock_us=5000,checkpoint_fixed_us=60000,checkpoint_us_per_mib=10,' +
  'restore_fixed_us=60000,restore_us_per_mib=10,unlock_us=5000';

function running() {
  const region = ownRegion('guard');
  const record = temporaryFolder('guard');
  const args = ['run', 'CKPT-003', '--simulate', '--iterations', '1', '--json', '/dev/null'];
  const env = { PATH: process.env.PATH, HOME: record, GVB_SIM: `region=${region},record=${record},${COSTS}` };
  const run: ChildProcess = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  run.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const restored = () => readdirSync(record).filter((name) => name.startsWith('restored-'));
  const firstRestored = () =>
    until(() => {
      if (run.exitCode !== null) throw new Error(`The run ended: ${said}`);
      return restored()[0];
    });
  const left = () => processesIn(region);
  return { run, restored, firstRestored, left, noneLeft: () => untilNoneIn(region), said: () => said };
}

/** Random, so that each run of the tests kills at other moments; the title says which. */
const moments = Array.from({ length: 3 }, () => Math.round(400 * Math.random()));

// These tests run in parallel, because they wait for what the guardians do.
describe.concurrent('a run that is killed while it checkpoints', () => {
  it.each(moments)('leaves no process, and ends none that is live and restored (%i ms after the first)', async (ms) => {
    const { run, restored, firstRestored, noneLeft } = running();
    await firstRestored();
    await sleep(ms);
    run.kill('SIGKILL');
    await noneLeft();
    expect(restored()).toEqual([]);
  });

  it('leaves none after Ctrl-C either', async () => {
    const { run, restored, firstRestored, noneLeft } = running();
    await firstRestored();
    run.kill('SIGINT');
    await once(run, 'exit');
    await noneLeft();
    expect(restored()).toEqual([]);
  });
});

describe.concurrent('a run whose controller is killed', () => {
  it.each(moments)('ends its targets only when checkpointed (%i ms after the first)', async (ms) => {
    const { run, restored, firstRestored, left, noneLeft } = running();
    await firstRestored();
    await sleep(ms);
    const isController = ({ command, pid }: Seen) =>
      command.includes('worker/main.js') && !command.startsWith('target') && parentOf(pid) === run.pid;
    for (const { pid } of left().filter(isController)) process.kill(pid, 'SIGKILL');
    await once(run, 'exit');
    await noneLeft();
    expect(restored()).toEqual([]);
  });
});

it('a run whose target is killed says so, and leaves no process', async () => {
  const { run, left, noneLeft, said } = running();
  const target = await until(() => left().find(({ command }) => command.startsWith('target')));
  process.kill(target.pid, 'SIGKILL');
  const [code] = (await once(run, 'exit')) as [number];
  expect(code).not.toBe(0);
  expect(said()).toMatch(/CKPT-003.*SIGKILL/s);
  await noneLeft();
});

const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
