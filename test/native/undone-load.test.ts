/** A layer that does not run kernels, runs them early, or changes the host's clock gets no share of the compute. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { emptyFolder } from './child.js';
import { limitedSystem } from './limited.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import { undisturbed } from '../undisturbed.js';
import { environment, measured } from './measured.js';

const layer = join(emptyFolder(), 'lazy-layer.so');
const slowClock = join(emptyFolder(), 'slow-clock.so');
beforeAll(() => {
  const source = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
  execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source('lazy-layer.cpp'), '-ldl']);
  execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', slowClock, source('slow-clock.c'), '-ldl']);
});

const under = async (lazy: string) => {
  const { system } = await limitedSystem({ env: { LD_PRELOAD: layer, GVB_TEST_LAZY: lazy }, smPercent: 50 });
  return system;
};

describe.each(['IS-003', 'IS-004', 'IS-012'])('%s has no value', (id) => {
  it.each([
    ['every load is skipped', 'kernel=gvb_load'],
    ['launches are skipped after a while', 'cuLaunchKernel=300'],
    ['launches run with the one before them', 'early=gvb_load'],
  ])('where %s', async (_, lazy) => {
    const result = await measured(id, await under(lazy));
    expect(result).toMatchObject({ status: 'invalid', value: null, stats: null, details: {} });
    expect(result.reason).toMatch(/^a call reported success without doing its work/);
  });
});

const tenantsUnder = (env: NodeJS.ProcessEnv) =>
  environmentSystem({ ...environment(null, 'mps=1,l2_mib=8,sms=16'), ...env });

describe.each(['IS-006', 'IS-007', 'IS-008'])('%s has no value', (id) => {
  it.each([
    ['every load is skipped', 'kernel=gvb_load'],
    ['launches run with the one before them', 'early=gvb_load'],
  ])('where %s', async (_, lazy) => {
    const result = await measured(id, tenantsUnder({ LD_PRELOAD: layer, GVB_TEST_LAZY: lazy }));
    expect(result).toMatchObject({ status: 'invalid', value: null, stats: null, details: {} });
    expect(result.reason).toMatch(/^a call reported success without doing its work/);
  });
});

describe('BW-004 has no value', () => {
  it.each([
    ['every stream is skipped', 'kernel=gvb_bandwidth_read'],
    ['launches run with the one before them', 'early=gvb_bandwidth_read'],
  ])('where %s', async (_, lazy) => {
    const result = await measured('BW-004', tenantsUnder({ LD_PRELOAD: layer, GVB_TEST_LAZY: lazy }));
    expect(result).toMatchObject({ status: 'invalid', value: null, stats: null, details: {} });
    expect(result.reason).toMatch(/^a call reported success without doing its work/);
  });
});

describe.each([
  ['CACHE-001', 'gvb_chase'],
  ['CACHE-002', 'gvb_chase'],
  ['CACHE-003', 'gvb_bandwidth_read'],
  ['CACHE-004', 'gvb_chase'],
])('%s has no value', (id, kernel) => {
  it(`where every ${kernel} is skipped`, async () => {
    const result = await measured(id, tenantsUnder({ LD_PRELOAD: layer, GVB_TEST_LAZY: `kernel=${kernel}` }));
    expect(result).toMatchObject({ status: 'invalid', value: null, stats: null, details: {} });
    expect(result.reason).toMatch(/^a call reported success without doing its work/);
  });
});

describe('a layer that tells of a smaller card', () => {
  // A burst of a neighbour as large as the cache evicts all; three streams take three quarters of the memory's rate.
  it.each(['CACHE-002', 'BW-004'])('makes no load of %s smaller', async (id) => {
    const result = await undisturbed(
      () => measured(id, tenantsUnder({ LD_PRELOAD: layer, GVB_TEST_LAZY: 'card=small' })),
      (found) => [found],
    );
    expect(result.status).toBe('ok');
    expect(result.value).toBeGreaterThan(50);
  });
});

describe("a host's clock at half its rate", () => {
  const reason = () => expect.stringContaining(`the clock belongs to ${slowClock} `);

  it.each(['IS-003', 'IS-004'])('leaves %s without a value', async (id) => {
    const { system } = await limitedSystem({ env: { LD_PRELOAD: slowClock }, smPercent: 50 });
    expect(await measured(id, system)).toMatchObject({ status: 'invalid', value: null, details: {}, reason: reason() });
  });

  it.each(['IS-006', 'IS-007', 'IS-008', 'IS-009'])('leaves %s without a value', async (id) => {
    const result = await measured(id, tenantsUnder({ LD_PRELOAD: slowClock }));
    expect(result).toMatchObject({ status: 'invalid', value: null, details: {}, reason: reason() });
  });
});
