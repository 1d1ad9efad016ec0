/** Under a layer that initialises the driver before cuInit, a cheap cuInit is no result; the whole start still is. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import { onOneProcessor } from '../processors.js';
import { undisturbed } from '../undisturbed.js';
import { emptyFolder, simulatedFolder } from './child.js';
import { environment, measured } from './measured.js';

const layer = join(emptyFolder(), 'early-layer.so');
beforeAll(() => {
  const source = fileURLToPath(new URL('fixtures/early-layer.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
});

const SIM = 'init_ms=20,context_ms=20';
const under = (when: string) =>
  environmentSystem({
    ...environment(null, SIM),
    LD_PRELOAD: layer,
    GVB_TEST_EARLY: when,
    GVB_TEST_LIBCUDA: join(simulatedFolder, 'libcuda.so.1'),
  });
const one = (id: string, when: string) =>
  undisturbed(
    () => measured(id, under(when), { iterations: 1 }),
    (result) => [result],
  );

describe('under a layer that initialises the driver when it is', () => {
  it.each([
    ['START-002', 'load'],
    ['START-002', 'look-up'],
    ['OH-004', 'load'],
    ['OH-004', 'look-up'],
  ])('%s is invalid and names the layer and the moment (%s)', async (id, when) => {
    const result = await one(id, when);
    expect(result).toMatchObject({ status: 'invalid', value: null, stats: null });
    expect(result.reason).toBe(`the driver was initialised before cuInit (${layer}, at ${when})`);
  });

  it.each(['load', 'look-up'])('loaded or looked up (%s), START-001 still covers the whole start', async (when) => {
    const result = await one('START-001', when);
    expect(result).toMatchObject({ status: 'ok' });
    expect(result.value).toBeGreaterThan(40);
  });

  it.skipIf(onOneProcessor('START-006 under such a layer'))('loaded, START-006 began too late', async () => {
    const result = await one('START-006', 'load');
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toBe(`the driver was initialised before cuInit (${layer}, at load)`);
  });
});

it.each(['context', 'inside'])(
  'START-003 is invalid if a layer created the primary context before (%s)',
  async (when) => {
    const result = await one('START-003', when);
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toBe(`the primary context existed before it was retained (${layer})`);
  },
);

it('a layer that does nothing early is measured', async () => {
  for (const id of ['START-002', 'START-003', 'OH-004']) {
    const { status, checks } = await one(id, 'never');
    expect([id, status]).toEqual([id, 'ok']);
    expect(checks.filter(({ passed }) => passed === false)).toEqual([]);
  }
});
