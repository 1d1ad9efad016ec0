/**
 * Nothing of a job is left when its submitting command is killed, it is cancelled, or its node is lost, at random moments: no
 * process, no temporary folder, no half of a file. GVB_LONG=1: twenty moments of each.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../lib/stats/random.js';
import { isLong } from '../moments.js';
import { Cluster, withoutSlurm } from './cluster.js';
import { Fleet, nodeOn } from './fleet-runs.js';

const TIMES = isLong ? 20 : 2;
const seed = isLong ? Date.now() % 2 ** 31 : 1;
const names = ['n1', 'n2'];
const moments = Array.from({ length: TIMES }, (_, at) => at);
const run = ['--', 'run', 'OH-002', '--iterations', '20', '--simulate'];
const all = (state: string) => names.map((name, index) => `${index} ${name} ${state}`);

const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(withoutSlurm('what is left of jobs on a real Slurm'))(`nothing is left, seed ${seed}`, () => {
  const random = seededRandom(seed);
  let cluster: Cluster;
  /** How long an undisturbed command takes to submit, and the jobs from then to their end. */
  let [submitMs, jobsMs] = [NaN, NaN];

  beforeAll(async () => {
    cluster = await Cluster.start(names.map((name) => nodeOn(name)));
    const fleet = new Fleet(cluster);
    const began = performance.now();
    await fleet.fleet('slurm', '--output', fleet.folder, '--submit', ...run);
    submitMs = performance.now() - began;
    await cluster.settled();
    jobsMs = performance.now() - began - submitMs;
  });
  afterAll(() => cluster.stop());

  const submitted = async () => {
    const fleet = new Fleet(cluster);
    expect((await fleet.fleet('slurm', '--output', fleet.folder, '--submit', ...run)).code).toBe(0);
    return fleet;
  };

  it.each(moments)('of a command that is killed while it submits (%i)', async () => {
    const fleet = new Fleet(cluster);
    const { child, done } = fleet.starting('slurm', '--output', fleet.folder, '--submit', ...run);
    await passed(random() * submitMs);
    child.kill('SIGKILL');
    await done;
    await cluster.settled();
    const hasPlan = existsSync(join(fleet.folder, 'plan.json'));
    const again = hasPlan ? ['submit', fleet.folder] : ['slurm', '--output', fleet.folder, '--submit', ...run];
    expect((await fleet.fleet(again[0] as string, ...again.slice(1))).code).toBe(0);
    await cluster.settled();
    expect(await fleet.states()).toEqual(all('delivered'));
    expect((await fleet.status()).map(({ attempt }) => attempt)).toEqual([1, 1]);
    expect(fleet.logs('-merge-').join('')).toContain('2 tasks: 2 delivered.');
    expect(fleet.left()).toEqual([]);
  });

  it.each(moments)('of jobs that are cancelled (%i)', async () => {
    const fleet = await submitted();
    await passed(random() * jobsMs);
    cluster.slurm('scancel', '--user=root');
    await cluster.settled();
    expect(fleet.left()).toEqual([]);
    const states = (await fleet.status()).map(({ state, why }) => `${state}: ${why}`);
    for (const state of states)
      expect(state).toMatch(/^(delivered: null|refused: CANCELLED: .*|silent: job \d+ .*: CANCELLED)$/);
  });

  it.each(moments)('of a node that is lost (%i)', async () => {
    const fleet = await submitted();
    const name = names[Math.floor(random() * names.length)] as string;
    await passed(random() * jobsMs);
    cluster.lose(name);
    await cluster.settled();
    await cluster.restore(name);
    const others = (await fleet.states()).filter((line) => !line.includes(name));
    expect(others).toEqual(all('delivered').filter((line) => !line.includes(name)));
    expect((await fleet.fleet('submit', fleet.folder)).code).toBe(0);
    await cluster.settled();
    expect(await fleet.states()).toEqual(all('delivered'));
    expect(fleet.left()).toEqual([]);
  });
});
