/**
 * Kills processes of the isolation metrics at random moments: nothing stays behind, and the next run finds a usable
 * card.
 */
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ownRegion, temporaryFolder } from '../temporary.js';
import { parseDocument, processesOf, type Running, start, workersOf } from './command.js';

const METRICS = ['IS-005', 'IS-010'];
/** One worker measures these, without starting another process. */
const IN_WORKER = ['OH-002', 'OH-003'];
/** Kills of coordinators, of workers and of tenants. */
const MOMENTS = 20;
/** Well into the metrics. */
const LONGEST_MS = 1_800;
const rest = ['--simulate', '--json', '-'];

/** All on one card, and with one TMPDIR, like tenants of one machine. */
function machine() {
  const [region, TMPDIR] = [ownRegion('killed'), temporaryFolder('killed')];
  const sim = `region=${region},init_ms=1,context_ms=1`;
  const marks: string[] = [];
  const run = (metrics: readonly string[]) => {
    const running = start(['run', ...metrics, ...rest], { TMPDIR }, sim);
    marks.push(running.mark);
    return running;
  };
  return { region, TMPDIR, run, marks };
}

type Machine = ReturnType<typeof machine>;

/** Kills one of the run's processes at random moments until it has ended, and counts the kills. */
async function killProcesses({ mark, done }: Running, most: number, longestPauseMs: number): Promise<number> {
  let kills = 0;
  let ended = false;
  void done.then(() => {
    ended = true;
  });
  while (!ended && kills < most) {
    await sleep(Math.random() * longestPauseMs);
    const workers = workersOf(mark);
    const pid = workers[Math.floor(Math.random() * workers.length)]?.pid;
    if (pid === undefined || ended) continue;
    try {
      process.kill(pid, 'SIGKILL');
      kills++;
    } catch {
      // It has just ended by itself.
    }
  }
  await done;
  return kills;
}

async function killWorkers(own: Machine, moments: number): Promise<void> {
  for (let kills = 0; kills < moments;) {
    const running = own.run(IN_WORKER);
    kills += await killProcesses(running, moments - kills, 600);
    const { stdout, code } = await running.done;
    // If the first worker is killed there is no document; otherwise it reports the outcome of its metrics.
    if (stdout !== '') expect(parseDocument(stdout).metrics.map(({ id }) => id)).toEqual(IN_WORKER);
    expect(stdout === '' ? [1] : [0, 1]).toContain(code);
  }
}

/** The first worker ends before the first tenant starts. */
async function killTenants(own: Machine, moments: number): Promise<void> {
  for (let kills = 0; kills < moments;) {
    const running = own.run(METRICS);
    await running.said('Device 0');
    kills += await killProcesses(running, moments - kills, 250);
    const { stdout, code } = await running.done;
    const { metrics, system } = parseDocument(stdout);
    expect(metrics.map(({ id }) => id)).toEqual(METRICS);
    expect([0, 1, 4]).toContain(code);
    // That was the worker of the final check, not a tenant.
    if (system.notCheckedAfter !== undefined) kills--;
  }
}

async function killCoordinators(own: Machine, moments: number): Promise<void> {
  for (let kills = 0; kills < moments; kills++) {
    const running = own.run(METRICS);
    await sleep(200 + Math.random() * LONGEST_MS);
    running.child.kill('SIGKILL');
    await running.done;
  }
}

it('isolation metrics leave nothing behind if any process is killed at any moment', async () => {
  const own = machine();
  const lanes = (count: number, kill: (own: Machine, moments: number) => Promise<void>) =>
    Array.from({ length: count }, () => kill(own, MOMENTS / count));
  await Promise.all([...lanes(4, killCoordinators), ...lanes(2, killWorkers), ...lanes(2, killTenants)]);

  await expect.poll(() => own.marks.flatMap(processesOf)).toEqual([]);
  const { code, stdout } = await own.run(['IS-010']).done;
  expect(parseDocument(stdout).metrics[0]).toMatchObject({ status: 'ok', value: 1 });
  expect(code).toBe(0);
  expect(readdirSync(own.TMPDIR)).toEqual([]);
  expect(readdirSync('/dev/shm').filter((name) => name.endsWith(own.region))).toEqual([]);
});
