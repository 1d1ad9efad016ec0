import { expect, it } from 'vitest';
import { endRestored, type EndingMeans } from '../../../lib/checkpoint/end-target.js';

/** Running processes, the checkpoint of one of which may be refused. */
function fakes(refused: number | null) {
  const states = new Map([1, 2, 3].map((pid) => [pid, 0]));
  const seen: string[] = [];
  const means: EndingMeans = {
    call: (name, pid) => {
      const isRefused = name === 'checkpoint' && pid === refused;
      if (name !== 'state') seen.push(`${name} ${pid}`);
      if (name === 'lock') states.set(pid, 1);
      if (name === 'checkpoint' && !isRefused) states.set(pid, 2);
      const state = name === 'state' ? (states.get(pid) ?? null) : null;
      return Promise.resolve({ code: isRefused ? 801 : 0, name: 'CUDA', calledNs: 0, tookNs: 1, thread: null, state });
    },
    isListed: (pid) => Promise.resolve(states.get(pid) !== 2),
    isAlive: (pid) => states.has(pid),
    settleMs: 0,
    kill: (pid) => {
      seen.push(`kill ${pid} in ${states.get(pid)}`);
      states.delete(pid);
    },
  };
  return { means, seen };
}

it('locks all processes of a program before it checkpoints any, and checkpoints all before it kills any', async () => {
  const { means, seen } = fakes(null);
  expect(await endRestored([1, 2, 3], means)).toEqual({ ended: true, how: 'killed when checkpointed' });
  const each = (what: string) => [1, 2, 3].map((pid) => what.replace('PID', `${pid}`));
  expect(seen).toEqual([...each('lock PID'), ...each('checkpoint PID'), ...each('kill PID in 2')]);
});

it('kills none if one cannot be checkpointed', async () => {
  const { means, seen } = fakes(2);
  expect(await endRestored([1, 2, 3], means)).toEqual({ ended: false, how: expect.stringContaining('801') });
  expect(seen.filter((call) => call.startsWith('kill'))).toEqual([]);
});
