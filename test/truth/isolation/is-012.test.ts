/** IS-012 finds the launch paths that a limit of known coverage leaves out. */
import { describe, expect, it } from 'vitest';
import { limitedSystem } from '../../native/limited.js';
import { measured } from '../../native/measured.js';

interface Path {
  path: string;
  outcome: string;
  achievedPercent: number | null;
  counted: boolean;
}

const GRAPHS = ['graph of 1 kernel', 'graph of 100 kernels', 'graph, per-thread default stream'];
const OTHERS = [
  'cuLaunchKernel',
  'cuLaunchKernelEx',
  'cooperative kernels',
  'cuLaunchKernel, per-thread default stream',
  'one long kernel',
  'one block, long kernels',
  'many small blocks',
];
/** A limiter that waits after a launch has run cannot limit one that never ends. */
const ENDLESS = 'one long kernel';

async function measure(interpose: string | undefined) {
  const { system } = await limitedSystem(interpose === undefined ? {} : { interpose });
  const result = await measured('IS-012', system);
  const paths = result.details.paths as Path[];
  const named = (outcome: string) => paths.filter((path) => path.counted && path.outcome === outcome);
  return { result, paths, throttled: named('throttled').map(({ path }) => path), free: named('not throttled') };
}

describe('IS-012', () => {
  it('finds that a limit on all paths covers all but the uninterrupted kernel', async () => {
    const { result, paths, free } = await measure('share={smPercent}@20ms');
    expect(result).toMatchObject({ status: 'ok', processes: 2 });
    expect(paths.map(({ path }) => path).sort()).toEqual([...GRAPHS, ...OTHERS, 'async copies'].sort());
    expect(free.map(({ path }) => path)).toEqual([ENDLESS]);
    expect(result.value).toBe(90);
    expect(paths.find(({ path }) => path === 'async copies')?.achievedPercent).toBeGreaterThan(0);
  });

  it('finds the graphs and cooperative launches that a limit of two functions leaves out', async () => {
    const { result, throttled, free } = await measure(
      'share={smPercent}@20ms,sharepaths=cuLaunchKernel+cuLaunchKernelEx',
    );
    const left = [...GRAPHS, 'cooperative kernels', ENDLESS];
    expect(free.map(({ path }) => path).sort()).toEqual([...left].sort());
    // These kernels run as fast as without the limit.
    for (const { achievedPercent } of free) expect(achievedPercent).toBeGreaterThan(99);
    expect(throttled.sort()).toEqual(OTHERS.filter((path) => !left.includes(path)).sort());
    expect(result.value).toBe(50);
  });

  it('finds no covered path under a limit that is only claimed', async () => {
    const { result, throttled } = await measure(undefined);
    expect(throttled).toEqual([]);
    expect(result.value).toBe(0);
  });
});
