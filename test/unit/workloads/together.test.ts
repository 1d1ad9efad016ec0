/** Who was beside a victim and for how long, with programs whose runs are made up. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Actor, absent, type Presence, Settled, type Trouble } from '../../../lib/workloads/scene/actor.js';
import {
  type LifeRequest,
  ProgramActor,
  type ProgramActorOptions,
} from '../../../lib/workloads/scene/program-actor.js';
import type { Run } from '../../../lib/workloads/program/run-once.js';
import { playTogether, type Together } from '../../../lib/workloads/scene/together.js';

const S = 1e9;

const run = (fromS: number, toS: number, change: Partial<Run> = {}): Run => ({
  ...{ failure: null, notes: [], wallSeconds: toS - fromS, readySeconds: null, used: null, extracted: new Map() },
  watched: {
    processes: [{ pid: 7, name: 'p', files: [], isElsewhere: false }],
    residentBytes: null,
    pids: new Set([7]),
    unfollowed: new Set(),
  },
  ...{
    proof: { state: 'proven', detail: '' },
    checkpointed: null,
    phases: [{ name: 'run', fromNs: fromS * S, toNs: toS * S }],
  },
  ...change,
});

const startOf = (of: Run): number => of.phases[0]?.fromNs ?? Number.NaN;

const never = new Promise<never>(() => {});

/** An aggressor as it was. */
function aggressor(change: Partial<Presence> = {}, trouble: Promise<Trouble> = never): Actor {
  const { name, ...presence }: Presence = { ...absent('a', 'aggressor'), use: 'listed', starts: 1, ...change };
  return {
    ...{ name, role: 'aggressor', atWork: Promise.resolve(), trouble, broken: never },
    start: () => {},
    end: () => Promise.resolve(),
    presence: () => ({ name, ...presence }),
  };
}
const always = [{ from: 0, to: 100 * S }];

const program = (options: Partial<ProgramActorOptions<Run>>): ProgramActor =>
  new ProgramActor({
    ...{ name: 'v', role: 'victim', hasReady: false, repeats: false, run: () => Promise.resolve(run(10, 20)) },
    ...options,
  });

/** Runs until it is enough, from its start on. */
const lasting =
  (of: Run, use: 'listed' | 'mapped' | null = 'listed') =>
  async ({ beside }: LifeRequest): Promise<Run> => {
    if (use) beside.onGpu(use, startOf(of));
    await beside.enough;
    return of;
  };

const play = (victims: ProgramActor[], aggressors: Actor[], staggers = false, readySeconds = 60): Promise<Together> =>
  playTogether({ victims, aggressors, staggers, readySeconds });

describe('a victim', () => {
  it('is measured beside what ran for all of its time', async () => {
    const played = await play([program({})], [aggressor({ spans: always, onGpu: always })]);
    expect(played).toMatchObject({ failure: null, invalid: null, runs: [{ wallSeconds: 10 }] });
    expect(played.least.get('v')).toEqual({ running: 1, onGpu: 1 });
  });

  it('is not beside what ran for less than nine tenths of it', async () => {
    const spans = [
      { from: 5 * S, to: 14 * S },
      { from: 15.5 * S, to: 30 * S },
    ];
    const played = await play([program({})], [aggressor({ spans, onGpu: spans })]);
    expect(played.invalid).toBe(
      'a ran for 85.0 % of the time of v, less than 90.0 %: let it run for longer before it ends',
    );
  });

  it('may be beside what was on the GPU for less, and that is said', async () => {
    const played = await play([program({})], [aggressor({ spans: always, onGpu: [{ from: 0, to: 16 * S }] })]);
    expect(played.invalid).toBeNull();
    expect(played.least.get('v')).toEqual({ running: 1, onGpu: 0.6 });
  });

  it('that fails is a failure of its own, and ends the others', async () => {
    const trainer = program({ name: 't', role: 'aggressor', repeats: true, run: lasting(run(0, 30)) });
    const failing = program({ run: () => Promise.resolve(run(10, 20, { failure: 'it ended with exit code 3' })) });
    const played = await play([failing], [trainer]);
    expect(played).toMatchObject({ failure: 'v: it ended with exit code 3', invalid: null, runs: [] });
    expect(played.presences).toMatchObject([{ name: 't', starts: 1 }, { name: 'v' }]);
  });
});

describe('an aggressor', () => {
  it.each([
    [{ use: null }, 'a was never on the GPU: NVML listed no process of it, and none had the driver mapped'],
    [{ failure: 'the device ran fewer blocks' }, 'a did not run beside the victims: the device ran fewer blocks'],
    [
      { use: 'counted', operations: 3, marksNs: [9 * S, 21 * S] },
      'a was held back: none of its 3 operations was over while v ran',
    ],
  ] as const)('of %j makes the scene invalid', async (change, invalid) => {
    const other = aggressor({ spans: always, onGpu: always, ...(change as Partial<Presence>) });
    expect((await play([program({})], [other])).invalid).toBe(invalid);
  });

  it('that NVML does not list was not on the GPU, unless NVML lists none of the scene', async () => {
    const other = aggressor({ spans: always, onGpu: always, use: 'mapped' });
    expect((await play([program({})], [other])).invalid).toBeNull();
    const listed = program({ run: ({ beside }) => (beside.onGpu('listed', 11 * S), Promise.resolve(run(10, 20))) });
    expect((await play([listed], [other])).invalid).toMatch(/^a was never on the GPU: .* while it listed others/);
  });

  it('ends the scene where something goes wrong with it, victims that run included', async () => {
    const trouble = new Settled<Trouble>();
    const victim = program({
      run: (request) => {
        trouble.resolve({ name: 'a', isOfMeasured: false, why: 'it was killed by signal 9' });
        return lasting(run(10, 20))(request);
      },
    });
    expect(await play([victim], [aggressor({}, trouble.promise)])).toMatchObject({
      ...{ failure: null, invalid: 'a did not run beside the victims: it was killed by signal 9', runs: [] },
      presences: [{ name: 'a' }, { name: 'v', starts: 1 }],
    });
  });

  it('that is not at work in time is not waited for, and no victim is started', async () => {
    const idle = program({ name: 't', role: 'aggressor', repeats: true, run: lasting(run(0, 30), null) });
    const played = await play([program({})], [idle], false, 0.05);
    expect(played.invalid).toMatch(/^t did not run beside the victims: after 0\.05 s it was not ready, or not seen/);
    expect(played.presences[1]).toMatchObject({ name: 'v', starts: 0 });
  });

  it.each([
    ['unproven', 'mapped', 'ended with the scene', ['proven']],
    ['unproven', 'listed', 'ended with the scene', ['proven', 'unproven']],
    ['unproven', 'mapped', 'ended by itself', ['proven', 'unproven']],
    ['outside', 'mapped', 'ended with the scene', ['proven', 'outside']],
  ] as const)('that was started again, %s and %s, and %s, has the proofs %j', async (state, use, end, proofs) => {
    const later = { proof: { state, detail: '' } };
    const trainer = program({
      ...{ name: 't', role: 'aggressor', repeats: true },
      run: async ({ life, beside }) => {
        if (life === 1) return (beside.onGpu('listed', 4 * S), run(0, 13));
        beside.onGpu(use, 14 * S);
        if (life === 3 || end === 'ended with the scene') await beside.enough;
        return run(13.5, 30, later);
      },
    });
    const victim = program({ run: () => sleep(50, run(10, 20)) });
    const played = await play([victim], [trainer]);
    const all = played.presences.find(({ name }) => name === 't')?.proofs.map((proof) => proof.state);
    expect(all).toEqual(proofs);
  });

  it('is started again when it ends, and counts as running from its start then', async () => {
    const lives = [run(0, 13), run(13.5, 30)];
    const gpuSince = [4, 15];
    const trainer = program({
      ...{ name: 't', role: 'aggressor', repeats: true },
      run: async ({ life, beside }) => {
        beside.onGpu('listed', (gpuSince[life - 1] as number) * S);
        if (life === 2) await beside.enough;
        return lives[life - 1] as Run;
      },
    });
    const victim = program({ run: () => sleep(50, run(10, 20)) });
    const played = await play([victim], [trainer]);
    expect(played.invalid).toBeNull();
    expect(played.presences[0]).toMatchObject({
      ...{ starts: 2, use: 'listed', pids: [7] },
      spans: [
        { from: 4 * S, to: 13 * S },
        { from: 13.5 * S, to: 30 * S },
      ],
    });
    expect(played.least.get('v')).toEqual({ running: 0.95, onGpu: 0.8 });
  });

  it.each([
    ['before it used the GPU', run(0, 1), 'it ended before it was seen to use the GPU'],
    ['with a failure', run(0, 1, { failure: 'it ended with exit code 1' }), 'it ended with exit code 1'],
  ])('that ends %s is not started again', async (_, life, why) => {
    const trainer = program({ name: 't', role: 'aggressor', repeats: true, run: () => Promise.resolve(life) });
    const played = await play([program({})], [trainer]);
    expect(played.invalid).toBe(`t did not run beside the victims: ${why}`);
  });

  it('is at work when it is ready, where that is said', async () => {
    const steps: string[] = [];
    const server = program({
      ...{ name: 't', role: 'aggressor', repeats: true, hasReady: true },
      run: async ({ beside, onReady }) => {
        beside.onGpu('listed', 1 * S);
        await sleep(20);
        steps.push('ready');
        onReady();
        await beside.enough;
        return run(0, 30, { readySeconds: 3 });
      },
    });
    const victim = program({ run: () => (steps.push('victim'), Promise.resolve(run(10, 20))) });
    const played = await play([victim], [server]);
    expect(steps).toEqual(['ready', 'victim']);
    expect(played.presences[0]?.spans).toEqual([{ from: 3 * S, to: 30 * S }]);
  });
});

describe('several victims', () => {
  const pair = (lives: readonly Run[], name: string) =>
    program({
      ...{ name, repeats: true },
      run: async ({ life, beside }) => {
        const of = lives[life - 1] as Run;
        beside.onGpu('listed', startOf(of));
        // The last one runs until it is stopped.
        if (life > 1 && life === lives.length) await beside.enough;
        else await sleep(life === 1 && name === 'w' ? 50 : 5);
        return of;
      },
    });

  it('are each measured once, and run again beside those that are still measured', async () => {
    const played = await play([pair([run(0, 10), run(10.5, 31)], 'v'), pair([run(0, 30), run(30.1, 31)], 'w')], []);
    expect(played).toMatchObject({ invalid: null, runs: [{ wallSeconds: 10 }, { wallSeconds: 30 }] });
    expect(played.least.get('v')?.running).toBe(1);
    expect(played.least.get('w')?.running).toBeCloseTo(29.5 / 30);
  });

  it('are started one after the other where the system needs it', async () => {
    const order: string[] = [];
    const one = (name: string) =>
      program({
        ...{ name, repeats: true },
        run: async ({ life, beside }) => {
          order.push(`${name} started`);
          await sleep(10);
          order.push(`${name} on the GPU`);
          beside.onGpu('listed', 0);
          if (life > 1) await beside.enough;
          else await sleep(30);
          return run(0, 1);
        },
      });
    await play([one('v'), one('w')], [], true);
    expect(order.slice(0, 4)).toEqual(['v started', 'v on the GPU', 'w started', 'w on the GPU']);
  });
});

it('ends all of them, and rejects with the reason, where one cannot go on', async () => {
  let hasEnded = false;
  const broken = new Settled<never>();
  const victim = program({
    run: async ({ beside }) => {
      broken.reject(new Error('no keeper'));
      await beside.enough;
      hasEnded = true;
      return run(10, 20);
    },
  });
  const other = { ...aggressor(), broken: broken.promise, end: () => broken.promise };
  await expect(play([victim], [other])).rejects.toThrow('no keeper');
  expect(hasEnded).toBe(true);
});
