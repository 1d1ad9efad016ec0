/** Turns of tenants on a card that follows the driver's state machine. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Rotation, type RotationMeans } from '../../../lib/checkpoint/rotation.js';
import type { CheckpointCall } from '../../../lib/native/addon-types.js';

const GIB = 2 ** 30;

interface Process {
  tenant: string;
  /** 0 running, 1 locked, 2 checkpointed; null: no context. */
  state: number | null;
  isHeld: boolean;
  bytes: number;
  /** Its parent, where a tenant's own process has started it. */
  leader?: number;
}

interface Card {
  keeps?: boolean;
  lists?: boolean;
  totalBytes?: number;
  refuses?: Partial<Record<CheckpointCall, number>>;
}

function card({ keeps = false, lists = true, totalBytes = 8 * GIB, refuses = {} }: Card = {}) {
  const processes = new Map<number, Process>();
  const done: string[] = [];
  const wrong: string[] = [];
  let onCard = (process: Process) => process.state === 0 || process.state === 1;
  if (keeps) onCard = (process) => process.state !== null;
  const listed = () => [...processes].filter(([, process]) => onCard(process));
  const used = () => listed().reduce((sum, [, { bytes }]) => sum + bytes, 0);
  const from: Partial<Record<CheckpointCall, [number, number]>> = {
    lock: [0, 1],
    checkpoint: [1, 2],
    restore: [2, 1],
    unlock: [1, 0],
  };
  const noted = new Set<number>();
  const ended: number[] = [];
  const means: RotationMeans = {
    call: async (call, pid) => {
      await sleep(1);
      const process = processes.get(pid);
      const [before, after] = from[call] ?? [0, 0];
      const code = process?.state == null ? 3 : (refuses[call] ?? (process.state === before ? 0 : 401));
      if (code === 0 && process) {
        if (call === 'restore' && !noted.has(pid)) wrong.push(`${pid} restored, and the guardian was not told`);
        if (call === 'restore' && used() + process.bytes > totalBytes) wrong.push(`${pid} restored into a full card`);
        process.state = after;
        done.push(`${call} ${pid}`);
      }
      const tenants = new Set(listed().map(([, { tenant }]) => tenant));
      if (tenants.size > 1 && !keeps) wrong.push(`${[...tenants].join(' and ')} are on the card`);
      return {
        code,
        name: code === 0 ? 'CUDA_SUCCESS' : 'CUDA_ERROR',
        calledNs: 0,
        tookNs: 1e6,
        thread: null,
        state: null,
      };
    },
    noteRestore: (pid) => Promise.resolve(void noted.add(pid)),
    look: () =>
      Promise.resolve({
        usedBytes: used(),
        freeBytes: totalBytes - used(),
        processes: (lists ? listed() : []).map(([pid, { bytes }]) => ({ pid, usedBytes: bytes })),
      }),
    hold: (pid, isHeld) => {
      const process = processes.get(pid);
      if (!process) return;
      process.isHeld = isHeld;
    },
    end: (pid) => void ended.push(pid),
    leaderOf: (pid) => processes.get(pid)?.leader ?? null,
  };
  const rotation = new Rotation(20, means);
  const start = (tenant: string, pid: number, of: Partial<Process> = {}): Process => {
    const process: Process = { tenant, state: 0, isHeld: false, bytes: GIB, ...of };
    // It has a context only from when it may run.
    const { state } = process;
    process.state = null;
    processes.set(pid, process);
    rotation.enter(tenant, pid);
    const begin = async () => {
      while (process.isHeld) await sleep(1);
      process.state ??= state;
    };
    void begin();
    return process;
  };
  const until = async (found: () => boolean) => {
    for (let looks = 0; !found(); looks++) {
      if (looks > 2_000) throw new Error(`It did not happen: ${done.join(', ')}; ${rotation.report().failure}`);
      await sleep(2);
    }
  };
  const end = (pid: number) => rotation.leave(pid, () => Promise.resolve(void processes.delete(pid)));
  return { rotation, processes, start, until, end, done, wrong, ended };
}

const switchesOf = ({ rotation }: ReturnType<typeof card>) => rotation.report().switches;

describe('tenants that take turns', () => {
  it('are never switched where there is one', async () => {
    const one = card();
    const process = one.start('1', 11);
    await one.until(() => process.state === 0);
    await sleep(60);
    expect([one.done, switchesOf(one)]).toEqual([[], []]);
    await one.end(11);
  });

  it('have the card one after the other, each checkpointed before the next is restored', async () => {
    const three = card({ totalBytes: 1.5 * GIB });
    for (const [tenant, pid] of [
      ['1', 11],
      ['2', 12],
      ['3', 13],
    ] as const)
      three.start(tenant, pid);
    await three.until(() => switchesOf(three).length >= 6);
    expect(three.rotation.report().failure).toBeNull();
    expect(three.wrong).toEqual([]);
    const turn = (out: number, into: number) => [
      `lock ${out}`,
      `checkpoint ${out}`,
      `restore ${into}`,
      `unlock ${into}`,
    ];
    expect(three.done.slice(4, 12)).toEqual([
      ...['lock 13', 'checkpoint 13'],
      ...['restore 11', 'unlock 11'],
      ...turn(11, 12),
    ]);
    expect(three.rotation.report().mostUsedBytes).toBe(GIB);
    expect(switchesOf(three).at(-1)).toMatchObject({ lockMs: 1, checkpointMs: 1, restoreMs: 1, unlockMs: 1 });
    for (const pid of [11, 12, 13]) await three.end(pid);
  });

  it('have all their processes locked before any is checkpointed, and restored before any is unlocked', async () => {
    const pair = card();
    pair.start('1', 11);
    pair.start('1', 12);
    pair.start('2', 21);
    await pair.until(() => switchesOf(pair).length >= 3);
    expect(pair.wrong).toEqual([]);
    expect(pair.done.slice(0, 4)).toEqual(['lock 11', 'lock 12', 'checkpoint 11', 'checkpoint 12']);
    expect(pair.done.slice(6, 10)).toEqual(['restore 11', 'restore 12', 'unlock 11', 'unlock 12']);
    for (const pid of [11, 12, 21]) await pair.end(pid);
  });

  it('are stopped instead where they have nothing on the card', async () => {
    const pair = card();
    const idle = pair.start('1', 11, { state: null });
    pair.start('2', 21);
    await pair.until(() => idle.isHeld && pair.processes.get(21)?.state === 0);
    expect(pair.done.filter((call) => call.endsWith(' 11'))).toEqual([]);
    await pair.until(() => !idle.isHeld);
    for (const pid of [11, 21]) await pair.end(pid);
    expect(pair.wrong).toEqual([]);
  });

  it('give the card to the next when the holder ends', async () => {
    const pair = card();
    pair.start('1', 11);
    const second = pair.start('2', 21);
    await pair.end(11);
    await pair.until(() => second.state === 0);
    expect(switchesOf(pair)).toEqual([]);
    await pair.end(21);
  });

  it('are not ended in the middle of a switch', async () => {
    const pair = card();
    pair.start('1', 11);
    pair.start('2', 21);
    await pair.until(() => pair.done.at(-1) === 'restore 11');
    await pair.end(11);
    expect(pair.done.slice(pair.done.lastIndexOf('restore 11'))).toContain('unlock 11');
    await pair.end(21);
  });
});

describe('turns that fail', () => {
  const failure = async (of: Card, also: (it: ReturnType<typeof card>) => void = () => {}) => {
    const made = card(of);
    made.start('1', 11);
    also(made);
    made.start('2', 21);
    await made.until(() => made.rotation.report().failure !== null);
    return made;
  };

  it('are those of a driver that keeps the memory: the next tenant is not let on, and is ended', async () => {
    const { rotation, ended } = await failure({ keeps: true });
    expect(rotation.report().failure).toMatch(/^process 11 is checkpointed, but NVML still lists it/);
    expect(ended.sort()).toEqual([11, 21]);
  });

  it('end a process that starts later, which would wait for its turn for ever', async () => {
    const { start, ended } = await failure({ keeps: true });
    const later = start('3', 31);
    expect(ended).toContain(31);
    expect(later.isHeld).toBe(false);
  });

  it('are those of processes that NVML does not list, of which nothing is proven', async () =>
    expect((await failure({ lists: false })).rotation.report().failure).toBe(
      'process 11 is on the card, but NVML does not list it by this PID',
    ));

  it('are those with a refused checkpoint', async () =>
    expect((await failure({ refuses: { checkpoint: 801 } })).rotation.report().failure).toBe(
      'the checkpoint of process 11 returned CUDA_ERROR (801)',
    ));

  it('are those on a card without room for the restore, which is not tried', async () => {
    const made = await failure({ totalBytes: 1.5 * GIB }, ({ processes }) =>
      processes.set(99, { tenant: 'foreign', state: 0, isHeld: false, bytes: GIB / 2 }),
    );
    expect(made.rotation.report().failure).toMatch(/^process 11 is not restored: it had 1073741824 bytes/);
    expect(made.done).not.toContain('restore 11');
  });

  it('are those of a tenant whose child is on the card, which nobody guards', async () => {
    const made = await failure({}, ({ processes }) =>
      processes.set(12, { tenant: '1', state: 0, isHeld: false, bytes: GIB, leader: 11 }),
    );
    expect(made.rotation.report().failure).toBe('process 12 is on the card, which process 11 of a tenant has started');
  });
});
