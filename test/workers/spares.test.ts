/** Worker processes that wait for the next tenants: which of them a tenant gets, and that none outlives its round. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import type { ProcessStart } from '../../lib/workers/launcher.js';
import { localStart } from '../../lib/workers/local.js';
import { Spares } from '../../lib/metrics/tenants/spares.js';
import { processesOf } from '../processes.js';

const mark = randomUUID();
const under = (more: NodeJS.ProcessEnv = {}): ProcessStart =>
  localStart({ PATH: process.env.PATH, GVB_TEST_MARK: mark, ...more });
const open: Spares[] = [];

function newSpares(signal = new AbortController().signal): Spares {
  const spares = new Spares(signal);
  spares.areNeeded = true;
  open.push(spares);
  return spares;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((spares) => spares.close()));
  expect(processesOf(mark)).toEqual([]);
});

describe('spare worker processes', () => {
  it('are given once each, to a start with the same environment in any order', async () => {
    const spares = newSpares();
    await spares.fill([under({ A: '1', B: '2' }), under({ A: '1', B: '2' }), under()]);
    expect(processesOf(mark)).toHaveLength(3);
    const given = [1, 2, 3].map(() => spares.take(under({ B: '2', A: '1' })));
    expect(given.map((worker) => worker?.alive)).toEqual([true, true, undefined]);
    expect(given[0]?.pid).not.toBe(given[1]?.pid);
    expect(spares.take(under({ A: '2', B: '2' }))).toBeNull();
    await Promise.all(given.map((worker) => worker?.stop()));
  });

  it('are filled up to what is asked for, and to eight', async () => {
    const spares = newSpares();
    await spares.fill([under(), under()]);
    await spares.fill([under()]);
    expect(processesOf(mark)).toHaveLength(2);
    await spares.fill(Array.from({ length: 12 }, () => under()));
    expect(processesOf(mark)).toHaveLength(8);
  });

  it.each<[string, ProcessStart]>([
    ['with a preloaded layer, which acts when it is loaded', under({ LD_PRELOAD: interposerLibrary() as string })],
    ['behind another program', { ...under(), argvPrefix: ['env'] }],
    ['by another launcher', { ...under(), launcher: { ...under().launcher } }],
  ])('are none for a process %s', async (_, start) => {
    const spares = newSpares();
    await spares.fill([start]);
    expect(processesOf(mark)).toEqual([]);
    expect(spares.take(start)).toBeNull();
  });

  it('do not start where no more are needed, or after an abort', async () => {
    const spares = newSpares();
    spares.areNeeded = false;
    await spares.fill([under()]);
    await newSpares(AbortSignal.abort()).fill([under()]);
    expect(processesOf(mark)).toEqual([]);
  });

  it('are not given where they have died', async () => {
    const spares = newSpares();
    await spares.fill([under(), under()]);
    const [first] = processesOf(mark);
    process.kill(first?.pid as number, 'SIGKILL');
    await expect.poll(() => processesOf(mark)).toHaveLength(1);
    // Its end is heard of a moment later.
    await sleep(200);
    const given = spares.take(under());
    expect(given?.pid).toBe(processesOf(mark)[0]?.pid);
    expect(spares.take(under())).toBeNull();
    await given?.stop();
  });
});
