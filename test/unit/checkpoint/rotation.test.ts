/** Turns of tenants on a card that follows the driver's state machine. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Rotation, type RotationMeans, type Tree } from '../../../lib/checkpoint/rotation.js';
import type { CheckpointCall } from '../../../lib/native/addon-types.js';

const GIB = 2 ** 30;

interface Process {
  tenant: string;
  /** 0 running, 1 locked, 2 checkpointed; null: no context. */
  state: number | null;
  isHeld: boolean;
  bytes: number;
  /** The first process of its tree. */
  root: number;
}

interface Card {
  keeps?: boolean;
  totalBytes?: number;
  refuses?: Partial<Record<CheckpointCall, number>>;
}

function card({ keeps = false, totalBytes = 8 * GIB, refuses = {} }: Card = {}) {
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
  /** Trees that are being ended when they should be restored. */
  const refusesRestore = new Set<number>();
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
    look: () =>
      Promise.resolve({
        usedBytes: used(),
        freeBytes: totalBytes - used(),
        processes: listed().map(([pid, { bytes }]) => ({ pid, usedBytes: bytes })),
      }),
    stop: (pid, isStopped) => {
      const process = processes.get(pid);
      if (process) process.isHeld = isStopped;
    },
  };
  const rotation = new Rotation(20, means);
  const trees = new Map<number, Tree>();
  const add = (pid: number, of: Pick<Process, 'tenant' | 'root'> & Partial<Process>): Process => {
    const process: Process = { state: 0, isHeld: false, bytes: GIB, ...of };
    // It has a context only from when it may run.
    const { state } = process;
    process.state = null;
    processes.set(pid, process);
    const begin = async () => {
      while (process.isHeld) await sleep(1);
      process.state ??= state;
    };
    void Promise.resolve().then(begin);
    return process;
  };
  const pidsOf = (root: number) => [...processes].flatMap(([pid, each]) => (each.root === root ? [pid] : []));
  /** `begin`: the tree is only begun in its first turn. */
  const enter = (tenant: string, root: number, begin?: () => void) => {
    const tree: Tree = {
      tenant,
      processes: () => pidsOf(root),
      ...(begin && { begin }),
      noteRestore: (pids) => {
        if (refusesRestore.has(root)) return Promise.resolve(false);
        for (const pid of pids) noted.add(pid);
        return Promise.resolve(true);
      },
      end: () => void ended.push(root),
    };
    trees.set(root, tree);
    rotation.enter(tree);
  };
  const start = (tenant: string, pid: number, of: Partial<Process> = {}): Process => {
    const process = add(pid, { tenant, root: pid, ...of });
    enter(tenant, pid);
    return process;
  };
  const until = async (found: () => boolean) => {
    for (let looks = 0; !found(); looks++) {
      if (looks > 2_000) throw new Error(`It did not happen: ${done.join(', ')}; ${rotation.report().failure}`);
      await sleep(2);
    }
  };
  const end = (root: number) =>
    rotation.leave(trees.get(root) as Tree, () => {
      for (const pid of pidsOf(root)) processes.delete(pid);
      return Promise.resolve();
    });
  return { rotation, processes, add, enter, start, until, end, done, wrong, ended, refusesRestore };
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

  it('are those with a refused checkpoint', async () =>
    expect((await failure({ refuses: { checkpoint: 801 } })).rotation.report().failure).toBe(
      'the checkpoint of process 11 returned CUDA_ERROR (801)',
    ));

  it('are those on a card without room for the restore, which is not tried', async () => {
    const made = await failure({ totalBytes: 1.5 * GIB }, ({ processes }) =>
      processes.set(99, { tenant: 'foreign', root: 99, state: 0, isHeld: false, bytes: GIB / 2 }),
    );
    expect(made.rotation.report().failure).toMatch(/^process 11 is not restored: it had 1073741824 bytes/);
    expect(made.done).not.toContain('restore 11');
  });

  it('are those where a process of a tenant comes to the card when it is not its turn', async () => {
    const made = card();
    const first = made.start('1', 11);
    made.start('2', 21);
    await made.until(() => first.state === 2);
    made.processes.set(12, { tenant: '1', root: 11, state: 0, isHeld: false, bytes: GIB });
    await made.until(() => made.rotation.report().failure !== null);
    expect(made.rotation.report().failure).toMatch(
      /^(NVML lists processes of 2 tenants|process 12 is on the card, and)/,
    );
  });

  it('end a tenant that comes later, which would wait for ever', async () => {
    const made = await failure({ refuses: { checkpoint: 801 } });
    made.enter('3', 31, () => {});
    expect(made.ended).toContain(31);
  });
});

describe('trees of processes that take turns', () => {
  it('are begun in their first turn', async () => {
    const pair = card();
    pair.start('1', 11);
    let begun: number | null = null;
    pair.enter('2', 20, () => {
      begun = pair.processes.get(11)?.state ?? null;
      pair.add(21, { tenant: '2', root: 20 });
    });
    await pair.until(() => pair.done.includes('unlock 11'));
    expect(begun).toBe(2);
    expect(pair.done.slice(0, 4)).toEqual(['lock 11', 'checkpoint 11', 'lock 21', 'checkpoint 21']);
    for (const root of [11, 20]) await pair.end(root);
    expect(pair.wrong).toEqual([]);
  });

  it('leave and return with the children that each switch finds', async () => {
    const pair = card();
    pair.start('1', 11);
    pair.start('2', 21);
    await pair.until(() => pair.done.includes('unlock 11'));
    pair.add(12, { tenant: '1', root: 11 });
    await pair.until(() => pair.done.includes('unlock 12'));
    const from = pair.done.indexOf('lock 12');
    expect(pair.done.slice(from - 1, from + 3)).toEqual(['lock 11', 'lock 12', 'checkpoint 11', 'checkpoint 12']);
    expect(pair.wrong).toEqual([]);
    for (const root of [11, 21]) await pair.end(root);
  });

  it('have those of their processes only stopped that have nothing on the card', async () => {
    const pair = card();
    const parent = pair.start('1', 11, { state: null });
    await pair.until(() => !parent.isHeld);
    pair.add(12, { tenant: '1', root: 11 });
    pair.start('2', 21);
    await pair.until(() => pair.processes.get(21)?.state === 0);
    expect(pair.processes.get(12)?.state).toBe(2);
    await pair.until(() => pair.done.includes('unlock 12') && !parent.isHeld);
    expect(pair.done.filter((call) => call.endsWith(' 11'))).toEqual([]);
    expect(pair.wrong).toEqual([]);
    for (const root of [11, 21]) await pair.end(root);
  });

  it('are stopped as a whole while they are away, also what they have just started', async () => {
    const pair = card();
    const first = pair.start('1', 11);
    pair.start('2', 21);
    await pair.until(() => first.state === 2);
    const late = pair.add(12, { tenant: '1', root: 11, state: null });
    await pair.until(() => pair.processes.get(21)?.state === 0 && late.isHeld);
    expect(first.isHeld).toBe(true);
    await pair.until(() => !first.isHeld && !late.isHeld);
    expect(pair.done).toContain('checkpoint 21');
    for (const root of [11, 21]) await pair.end(root);
  });

  it('are restored without what has ended meanwhile, and not at all where they are being ended', async () => {
    const pair = card();
    const first = pair.start('1', 11);
    await pair.until(() => first.state === 0);
    pair.add(12, { tenant: '1', root: 11 });
    pair.start('2', 21);
    await pair.until(() => pair.processes.get(21)?.state === 0);
    pair.processes.delete(12);
    await pair.until(() => pair.done.includes('unlock 11'));
    expect(pair.done).not.toContain('restore 12');
    pair.refusesRestore.add(21);
    await pair.until(() => pair.done.filter((call) => call === 'lock 11').length >= 2);
    await sleep(60);
    expect(pair.done).not.toContain('restore 21');
    expect(pair.rotation.report().failure).toBeNull();
    for (const root of [11, 21]) await pair.end(root);
  });
});
