/**
 * Kills processes of metrics with tenants at random moments: nothing stays behind, and the next run finds a usable
 * card.
 */
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ownRegion, temporaryFolder } from '../temporary.js';
import { parseDocument, processesOf, type Running, start, workersOf } from './command.js';

const ISOLATION = ['IS-005', 'IS-010'];
const FRAGMENTATION = ['FRAG-001', 'FRAG-003'];
/** Metrics that one worker measures without starting another process. */
const IN_WORKER = ['OH-002', 'OH-003'];
/** Numbers of kills of coordinators, of workers and of tenants. */
const MOMENTS = 20;
/** Longest delay before a kill; it falls into the metrics. */
const LONGEST_MS = 1_800;
/** Memory of the small card, and the parts that the card itself and a context take. */
const CARD_MIB = 2_418;
const CONTEXT_MIB = 16;
const RESERVED_MIB = 2;
const rest = ['--simulate', '--json', '-'];

/** All processes use one card and one TMPDIR, like tenants of one machine. */
function machine(tenantMetrics: readonly string[], more = '') {
  const [region, TMPDIR] = [ownRegion('killed'), temporaryFolder('killed')];
  const sim = `region=${region},init_ms=1,context_ms=1${more}`;
  const marks: string[] = [];
  const run = (metrics: readonly string[]) => {
    const running = start(['run', ...metrics, ...rest], { TMPDIR }, sim);
    marks.push(running.mark);
    return running;
  };
  return { region, TMPDIR, run, marks, tenantMetrics };
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
      // The process has just ended by itself.
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
    const running = own.run(own.tenantMetrics);
    await running.said('Device 0');
    kills += await killProcesses(running, moments - kills, 250);
    const { stdout, code } = await running.done;
    const { metrics, system } = parseDocument(stdout);
    expect(metrics.map(({ id }) => id)).toEqual(own.tenantMetrics);
    expect([0, 1, 4]).toContain(code);
    // That was the worker of the final check, not a tenant.
    if (system.notCheckedAfter !== undefined) kills--;
  }
}

async function killCoordinators(own: Machine, moments: number): Promise<void> {
  for (let kills = 0; kills < moments; kills++) {
    const running = own.run(own.tenantMetrics);
    await sleep(200 + Math.random() * LONGEST_MS);
    running.child.kill('SIGKILL');
    await running.done;
  }
}

const lanes = (own: Machine, count: number, kill: (own: Machine, moments: number) => Promise<void>) =>
  Array.from({ length: count }, () => kill(own, MOMENTS / count));

async function nothingStays(own: Machine): Promise<void> {
  await expect.poll(() => own.marks.flatMap(processesOf)).toEqual([]);
  expect(readdirSync(own.TMPDIR)).toEqual([]);
  expect(readdirSync('/dev/shm').filter((name) => name.endsWith(own.region))).toEqual([]);
}

it('isolation metrics leave nothing behind if any process is killed at any moment', async () => {
  const own = machine(ISOLATION);
  await Promise.all([...lanes(own, 4, killCoordinators), ...lanes(own, 2, killWorkers), ...lanes(own, 2, killTenants)]);
  await expect.poll(() => own.marks.flatMap(processesOf)).toEqual([]);
  const { code, stdout } = await own.run(['IS-010']).done;
  expect(parseDocument(stdout).metrics[0]).toMatchObject({ status: 'ok', value: 1 });
  expect(code).toBe(0);
  await nothingStays(own);
});

it('fragmentation metrics leave nothing behind if any process is killed at any moment', async () => {
  const own = machine(FRAGMENTATION, `,memory_mib=${CARD_MIB},context_mib=${CONTEXT_MIB}`);
  await Promise.all([...lanes(own, 2, killCoordinators), ...lanes(own, 2, killTenants)]);
  await expect.poll(() => own.marks.flatMap(processesOf)).toEqual([]);
  // All memory of the killed processes is free again: an eighth of the card stays free, and nine tenths of the rest are
  // filled.
  const { stdout } = await own.run(['FRAG-001']).done;
  const [found] = parseDocument(stdout).metrics;
  expect(found?.status).toBe('ok');
  const free = (CARD_MIB - RESERVED_MIB - CONTEXT_MIB) * 2 ** 20;
  expect(found?.details.roomBytes).toBe((free * 7) / 8);
  await nothingStays(own);
});
