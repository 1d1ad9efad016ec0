import { describe, expect, it } from 'vitest';
import { endTarget, type EndingMeans } from '../../../lib/checkpoint/end-target.js';

interface Fake {
  state: number;
  /** Codes of calls that are refused. */
  refuses?: Partial<Record<string, number>>;
  /** NVML lists it for so many looks after its checkpoint. */
  listedFor?: number;
  /** Another controller's call goes on for so many calls. */
  busyFor?: number;
  /** Calls that do not answer, by name: how often. */
  hangs?: Partial<Record<string, number>>;
  diesIn?: string;
  /** A call that reports success and does nothing. */
  liesIn?: string;
  /** A restore of a controller that was killed ends before so many looks. */
  restoredAfter?: number;
}

/** A process with the driver's state machine. */
function fake({
  state,
  refuses = {},
  listedFor = 0,
  busyFor = 0,
  hangs = {},
  diesIn,
  liesIn,
  restoredAfter = 0,
}: Fake) {
  let busy = busyFor;
  const seen: string[] = [];
  let alive = true;
  let now = state;
  let looks = listedFor;
  let restoring = restoredAfter;
  const means: EndingMeans = {
    call: (name) => {
      seen.push(name);
      if (name === 'state' && restoring > 0 && --restoring === 0) now = 1;
      const left = hangs[name] ?? 0;
      if (name === diesIn) alive = false;
      if (left > 0) {
        hangs[name] = left - 1;
        return Promise.reject(new Error(`Timed out: ${name}`));
      }
      const isBusy = name !== 'state' && busy-- > 0;
      const code = isBusy ? 401 : alive ? (refuses[name] ?? 0) : 304;
      if (code === 0 && name === 'lock' && name !== liesIn) now = 1;
      if (code === 0 && name === 'checkpoint' && name !== liesIn) now = 2;
      const answer = { code, name: code === 0 ? 'CUDA_SUCCESS' : 'CUDA_ERROR', calledNs: 0, tookNs: 1, thread: null };
      return Promise.resolve({ ...answer, state: name === 'state' && code === 0 ? now : null });
    },
    isListed: () => Promise.resolve(now !== 2 || looks-- > 0),
    isAlive: () => alive,
    settleMs: restoredAfter > 0 ? 1_000 : 0,
    kill: () => {
      // The rule: a live process that may have been restored is never killed.
      seen.push(`kill in ${now}`);
      alive = false;
    },
  };
  return { means, seen };
}

describe('a process that may have been restored', () => {
  it('is not taken for checkpointed while a restore whose controller was killed goes on', async () => {
    const { means, seen } = fake({ state: 2, restoredAfter: 3 });
    await endTarget(7, true, means);
    expect(seen).toEqual(['state', 'state', 'state', 'checkpoint', 'state', 'kill in 2']);
  });

  it.each([
    ['runs', 0, ['state', 'lock', 'state', 'checkpoint', 'state', 'kill in 2']],
    ['is locked', 1, ['state', 'checkpoint', 'state', 'kill in 2']],
    ['is checkpointed', 2, ['state', 'kill in 2']],
  ])('that %s is checkpointed, then killed', async (_, state, calls) => {
    const { means, seen } = fake({ state });
    expect(await endTarget(1, true, means)).toEqual({ ended: true, how: 'killed when checkpointed' });
    expect(seen).toEqual(calls);
  });

  it.each([
    [
      'its lock is refused',
      { state: 0, refuses: { lock: 801 } },
      /^it is running, and its lock returned CUDA_ERROR \(801\)$/,
    ],
    [
      'its checkpoint is refused',
      { state: 1, refuses: { checkpoint: 2 } },
      /^it is locked, and its checkpoint returned/,
    ],
    ['it has failed', { state: 3 }, /^it is failed$/],
    ['its state is refused', { state: 0, refuses: { state: 304 } }, /^the look at its state returned .*304/],
    [
      'its checkpoint only says that it succeeded',
      { state: 0, liesIn: 'checkpoint' },
      /^its checkpoint returned success, but it is locked$/,
    ],
    ['no call answers', { state: 0, hangs: { state: 9 } }, /^its state is not known: Timed out: state$/],
  ])('is left alive where %s', async (_, how, reason) => {
    const { means, seen } = fake(how);
    expect(await endTarget(1, true, means)).toEqual({ ended: false, how: expect.stringMatching(reason) });
    expect(seen.filter((call) => call.startsWith('kill'))).toEqual([]);
    expect(means.isAlive(1)).toBe(true);
  });

  it('is killed after a checkpoint whose controller did not answer once', async () => {
    const { means, seen } = fake({ state: 0, hangs: { checkpoint: 1 } });
    expect(await endTarget(1, true, means)).toMatchObject({ ended: true });
    expect(seen.at(-1)).toBe('kill in 2');
  });

  it('is not killed before NVML has dropped it', async () => {
    const { means } = fake({ state: 2, listedFor: 3 });
    expect(await endTarget(1, true, means)).toMatchObject({ ended: true });
    const listed = fake({ state: 2, listedFor: Infinity });
    const left = endTarget(1, true, listed.means);
    expect(await left).toEqual({ ended: false, how: 'it is checkpointed, but NVML still lists it' });
    expect(listed.seen.filter((call) => call.startsWith('kill'))).toEqual([]);
  }, 30_000);

  it('is checkpointed once the call of a controller that was killed is over', async () => {
    const { means, seen } = fake({ state: 0, busyFor: 3 });
    expect(await endTarget(1, true, means)).toEqual({ ended: true, how: 'killed when checkpointed' });
    expect(seen.filter((call) => call === 'lock')).toHaveLength(4);
  });

  it('may end in the lock', async () => {
    const { means, seen } = fake({ state: 0, diesIn: 'lock' });
    expect(await endTarget(1, true, means)).toEqual({ ended: true, how: 'it ended meanwhile' });
    expect(seen.filter((call) => call.startsWith('kill'))).toEqual([]);
  });
});

it('a process that was never restored ends as any other', async () => {
  const { means, seen } = fake({ state: 0 });
  expect(await endTarget(1, false, means)).toEqual({ ended: true, how: 'killed: it was never restored' });
  expect(seen).toEqual(['kill in 0']);
});
