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
const SCHEDULING_AND_ERRORS = ['SCHED-001', 'SCHED-004', 'ERR-001', 'ERR-002', 'ERR-003'];
/** One worker measures these, without starting another process. */
const IN_WORKER = ['OH-002', 'OH-003'];
/** Well into the metrics. */
const LONGEST_MS = 1_800;
/** Memory of the small card, and the parts that the card itself and a context take. */
const CARD_MIB = 2_418;
const CONTEXT_MIB = 16;
const RESERVED_MIB = 2;
const SMALL_CARD = `,memory_mib=${CARD_MIB},context_mib=${CONTEXT_MIB}`;
const rest = ['--simulate', '--json', '-'];

/** All processes use one card and one TMPDIR, like tenants of one machine. */
function machine(tenantMetrics: readonly string[], more = '') {
  const [region, TMPDIR] = [ownRegion('killed'), temporaryFolder('killed')];
  const sim = `region=${region},init_ms=1,context_ms=1${more}`;
  const marks: string[] = [];
  const run = (metrics: readonly string[], ...options: string[]) => {
    const running = start(['run', ...metrics, ...options, ...rest], { TMPDIR }, sim);
    marks.push(running.mark);
    return running;
  };
  return { region, TMPDIR, run, marks, tenantMetrics };
}

type Machine = ReturnType<typeof machine>;

/** Kills one of these processes of the run at random moments until it has ended, and counts the kills. */
async function killProcesses(
  { mark, done }: Running,
  most: number,
  longestPauseMs: number,
  among: (mark: string) => { pid: number }[] = workersOf,
): Promise<number> {
  let kills = 0;
  let ended = false;
  void done.then(() => {
    ended = true;
  });
  while (!ended && kills < most) {
    await sleep(Math.random() * longestPauseMs);
    const processes = among(mark);
    const pid = processes[Math.floor(Math.random() * processes.length)]?.pid;
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

/** Any but the coordinator: workers, tenants and the programs of probes. A metric at a time, with the fewest processes. */
async function killAny(own: Machine, moments: number): Promise<void> {
  for (let kills = 0, i = 0; kills < moments; i++) {
    const id = own.tenantMetrics[i % own.tenantMetrics.length] as string;
    const running = own.run([id], '--iterations', '1');
    const { pid } = running.child;
    const others = (mark: string) => processesOf(mark).filter((process) => process.pid !== pid);
    kills += await killProcesses(running, moments - kills, LONGEST_MS / 2, others);
    const { stdout, code } = await running.done;
    if (stdout !== '') expect(parseDocument(stdout).metrics.map((metric) => metric.id)).toEqual([id]);
    expect(stdout === '' ? [1] : [0, 1, 4]).toContain(code);
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

/** That many at the same time. */
const lanes = (own: Machine, count: number, each: number, kill: (own: Machine, moments: number) => Promise<void>) =>
  Array.from({ length: count }, () => kill(own, each));

/** Every byte of what those took is there again: an eighth of the card stays free, nine tenths of the rest are filled. */
async function allMemoryIsBack(own: Machine): Promise<void> {
  const { stdout } = await own.run(['FRAG-001']).done;
  const [found] = parseDocument(stdout).metrics;
  expect(found?.status).toBe('ok');
  const free = (CARD_MIB - RESERVED_MIB - CONTEXT_MIB) * 2 ** 20;
  expect(found?.details.roomBytes).toBe((free * 7) / 8);
}

async function nothingStays(own: Machine): Promise<void> {
  await expect.poll(() => own.marks.flatMap(processesOf)).toEqual([]);
  expect(readdirSync(own.TMPDIR)).toEqual([]);
  expect(readdirSync('/dev/shm').filter((name) => name.endsWith(own.region))).toEqual([]);
}

it('isolation metrics leave nothing behind if any process is killed at any moment', async () => {
  const own = machine(ISOLATION);
  await Promise.all([
    ...lanes(own, 2, 4, killCoordinators),
    ...lanes(own, 1, 4, killWorkers),
    ...lanes(own, 2, 4, killTenants),
  ]);
  await expect.poll(() => own.marks.flatMap(processesOf)).toEqual([]);
  const { code, stdout } = await own.run(['IS-010']).done;
  expect(parseDocument(stdout).metrics[0]).toMatchObject({ status: 'ok', value: 1 });
  expect(code).toBe(0);
  await nothingStays(own);
});

it('fragmentation metrics leave nothing behind if any process is killed at any moment', async () => {
  const own = machine(FRAGMENTATION, SMALL_CARD);
  await Promise.all([...lanes(own, 2, 3, killCoordinators), ...lanes(own, 2, 3, killTenants)]);
  await expect.poll(() => own.marks.flatMap(processesOf)).toEqual([]);
  await allMemoryIsBack(own);
  await nothingStays(own);
});

it('scheduling and error metrics leave nothing behind if any process is killed at any moment', async () => {
  const own = machine(SCHEDULING_AND_ERRORS, SMALL_CARD);
  // A metric each, or most would be killed in the first one.
  const one = SCHEDULING_AND_ERRORS.map((id) => ({ ...own, tenantMetrics: [id] }));
  await Promise.all([...one.flatMap((each) => lanes(each, 1, 4, killCoordinators)), ...lanes(own, 2, 10, killAny)]);
  await expect.poll(() => own.marks.flatMap(processesOf)).toEqual([]);
  await allMemoryIsBack(own);
  const { code, stdout } = await own.run(['ERR-002'], '--iterations', '1').done;
  expect(parseDocument(stdout).metrics[0]?.status).toBe('ok');
  expect(code).toBe(0);
  await nothingStays(own);
});
