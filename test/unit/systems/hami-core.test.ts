import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HamiCoreSystem, type HamiOptions } from '../../../lib/systems/kinds/hami-core/hami-core-system.js';
import { FIRST_LOOK } from '../../../lib/systems/system.js';
import {
  CARD,
  description,
  type DescriptionChange,
  GIB,
  libraryFile,
  probe,
  runState,
  temporaryFolder,
} from './fixtures.js';

const folder = temporaryFolder();
const library = libraryFile(folder);
const places = { lockDirectory: join(folder, 'vgpulock'), overrideFile: join(folder, 'overrideEnv') };

const system = (change: Partial<HamiOptions> = {}) =>
  new HamiCoreSystem({
    name: 'hami-core',
    caller: { PATH: '/bin', LD_LIBRARY_PATH: `${folder}:/usr/lib`, CUDA_DEVICE_SM_LIMIT: '7' },
    library,
    memory: { bytes: 10 * GIB },
    sm: 50,
    policy: 'force',
    places,
    ...change,
  });

async function prepared(change: Partial<HamiOptions> = {}) {
  const made = system(change);
  const run = runState(folder);
  await made.prepare(run);
  onTestFinished(() => made.teardown());
  return { made, directory: join(run.directory, 'hami-core') };
}

describe('HAMi-core', () => {
  it('is switched on by its minimum profile on a clean base', async () => {
    const { made, directory } = await prepared();
    expect(made.environment()).toEqual({
      PATH: '/bin',
      LD_LIBRARY_PATH: '/usr/lib',
      CUDA_MPS_PIPE_DIRECTORY: join(directory, 'no-mps'),
      LD_PRELOAD: library,
      CUDA_REDIRECT: library,
      CUDA_DEVICE_MEMORY_SHARED_CACHE: join(directory, 'cache-0-0'),
      CUDA_DEVICE_MEMORY_LIMIT: '10240m',
      CUDA_DEVICE_SM_LIMIT: '50',
      GPU_CORE_UTILIZATION_POLICY: 'force',
      LIBCUDA_LOG_LEVEL: '0',
    });
  });

  it('limits memory to that of the card if only sm is given, and writes odd sizes in bytes', async () => {
    const { made } = await prepared({ memory: undefined });
    expect(made.environment().CUDA_DEVICE_MEMORY_LIMIT).toBe(`${CARD / 2 ** 20}m`);
    expect(made.environment({ id: 1, limits: { memoryBytes: 1e10 } }).CUDA_DEVICE_MEMORY_LIMIT).toBe('10000000000');
  });

  it('gives each tenant and each limit its own cache, and removes it afterwards', async () => {
    const { made } = await prepared();
    const cache = (id: number) => made.environment({ id }).CUDA_DEVICE_MEMORY_SHARED_CACHE as string;
    for (const id of [1, 2]) {
      await made.prepareTenant({ id });
      writeFileSync(cache(id), '');
    }
    const [first, second] = [cache(1), cache(2)];
    await made.reap({ id: 1 });
    expect([existsSync(first), existsSync(second)]).toEqual([false, true]);
    await made.betweenLimits();
    expect(existsSync(second)).toBe(false);
    expect(cache(2)).not.toBe(second);
  });

  it('removes everything, and may be torn down twice', async () => {
    const made = system();
    const run = runState(folder);
    await made.prepare(run);
    expect(statSync(places.lockDirectory).mode & 0o7777).toBe(0o1777);
    writeFileSync(join(run.directory, 'hami-core', 'cache-0-0'), '');
    await made.teardown();
    await made.teardown();
    expect([existsSync(places.lockDirectory), existsSync(join(run.directory, 'hami-core'))]).toEqual([false, false]);
  });

  it('changes neither an existing lock folder nor its mode', async () => {
    mkdirSync(places.lockDirectory, { mode: 0o700 });
    onTestFinished(() => rmSync(places.lockDirectory, { recursive: true }));
    const made = system();
    await made.prepare(runState(folder));
    await made.teardown();
    expect(statSync(places.lockDirectory).mode & 0o7777).toBe(0o700);
  });

  it('refuses a machine whose /overrideEnv would change its settings', async () => {
    writeFileSync(places.overrideFile, '');
    const made = system();
    await expect(made.prepare(runState(folder))).rejects.toThrow(
      /overrideEnv not to exist: HAMi-core overrides the environment/,
    );
    rmSync(places.overrideFile);
    await made.teardown();
  });

  it('refuses a limit above the card before it creates anything', async () => {
    const run = runState(folder);
    await expect(system({ memory: { bytes: CARD + 1 } }).prepare(run)).rejects.toThrow(/at most the card's/);
    expect(existsSync(join(run.directory, 'hami-core'))).toBe(false);
  });

  it.each([0, 101, 1.5])('refuses sm %d of a tenant', async (smPercent) => {
    const { made } = await prepared();
    expect(() => made.environment({ id: 0, limits: { smPercent } })).toThrow(/an integer from 1 to 100/);
  });

  it('is unavailable without a library, starts its processes one by one, and has no compute limit under policy disable', () => {
    expect(system({ library: null }).unavailable).toMatch(/^library not available: name it with library=FILE$/);
    expect(system().unavailable).toBeNull();
    expect(system().staggerStarts).toBe(true);
    expect(system({ policy: 'disable' }).capabilities.computeLimit).toBe('none');
    expect(system().capabilities).toMatchObject({ memLimit: 'perTenantPool', computeLimit: 'softDutyCycle' });
  });
});

describe('the proofs of HAMi-core', () => {
  const attest = async (change: DescriptionChange = {}, seen = probe(), mapped: string | null = library) => {
    const { made } = await prepared();
    return made.attest(description(mapped, change), { ...FIRST_LOOK, probe: seen });
  };
  const readBack = { memoryLimitBytes: 10 * GIB, smPercent: 50, visibleTotalBytes: 10 * GIB };

  it('pass under an active layer', async () => {
    const { made } = await prepared();
    const codes = made.canaries().map(({ bytes, expected }) => ({ bytes, code: expected === 'granted' ? 0 : 2 }));
    const attestation = await attest({}, probe({ ...readBack, allocations: codes }));
    expect(attestation.proofs.filter(({ passed }) => !passed)).toEqual([]);
    expect(attestation.invalid).toBeUndefined();
    expect(attestation.notChecked).toEqual([]);
    expect(attestation.proofs).toHaveLength(13);
    expect(attestation.layer).toEqual({
      path: library,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      exports: 202,
      active: true,
    });
  });

  it.each<[string, DescriptionChange, ReturnType<typeof probe>, RegExp]>([
    [
      'a build that exports dlsym alone',
      { exports: 0, paths: [] },
      probe(),
      /exported driver functions: 0 .*CMAKE_BUILD_TYPE=Debug/,
    ],
    [
      'a layer that the runtime path escapes',
      { paths: ['dlsym'] },
      probe(),
      /cuInit on runtime \(\/usr\/lib\/libcuda.*--path/,
    ],
    [
      'a stale cache in the memory view',
      { memoryBytes: 4 * GIB },
      probe(),
      /the tenant sees 4096 MiB.*Remove the shared cache/,
    ],
    ['the whole card in the memory view', { memoryBytes: CARD }, probe(), /memory view.*Rebuild the layer/],
    [
      'a stale memory limit',
      {},
      probe({ memoryLimitBytes: GIB }),
      /memory limit read back: the layer says 1073741824.*shared cache/,
    ],
    ['a stale SM limit', {}, probe({ smPercent: 70 }), /SM limit read back: the layer says 70, 50 was set/],
    ['an MPS client', { mpsClient: true }, probe(), /it is an MPS client\. Stop the MPS daemon/],
    [
      'an allocation beyond the limit',
      {},
      probe({ allocations: [{ bytes: 10.25 * GIB, code: 0 }] }),
      /allocation of 10496 MiB is refused: the driver returned 0/,
    ],
  ])('fail for %s', async (_, change, seen, reason) => {
    const { invalid } = await attest(change, seen);
    expect(invalid).toMatch(/^layer not active: /);
    expect(invalid).toMatch(reason);
  });

  it('fail if the library is not mapped', async () => {
    const { invalid, layer } = await attest({}, probe(), null);
    expect(layer).toBeNull();
    expect(invalid).toMatch(/libvgpu\.so is not mapped in the worker.*ldd/);
  });

  it('fail if the library was replaced during the measurement', async () => {
    const { made } = await prepared();
    const other = libraryFile(folder, 'libvgpu.so', Buffer.from('other'));
    const { invalid } = await made.attest(description(other), { ...FIRST_LOOK, phase: 'after' });
    libraryFile(folder);
    expect(invalid).toMatch(/library identity \(path, SHA-256\), after: .*library was replaced/);
  });

  it('do not take memory that is still held after measuring for a wrong limit', async () => {
    const { made } = await prepared();
    const allocations = made.canaries().map(({ bytes }) => ({ bytes, code: 2 }));
    const judged = (phase: 'before' | 'after') =>
      made.attest(description(library), { ...FIRST_LOOK, phase, probe: probe({ ...readBack, allocations }) });
    expect((await judged('before')).invalid).toMatch(/allocation of 7040 MiB is granted.*the driver returned 2/);
    const after = await judged('after');
    expect(after.invalid).toBeUndefined();
    expect(after.notChecked).toEqual([
      {
        proof: 'allocation of 7040 MiB is granted, after',
        detail: 'out of memory: the process may hold what it measured with',
      },
    ]);
  });

  it('invalidate only the compute limit if the layer cannot see its process', async () => {
    const attestation = await attest({}, probe({ pidFound: false }));
    expect(attestation.invalid).toBeUndefined();
    expect(attestation.computeLimitUnsupported).toBe('layer cannot see its process');
    expect(attestation.warnings[0]).toMatch(/a UUID reads as 0/);
  });

  it('name what was not inspected', async () => {
    const { made } = await prepared();
    const { notChecked, invalid } = await made.attest(description(library));
    expect(invalid).toBeUndefined();
    expect(notChecked?.map(({ proof }) => proof)).toEqual([
      'memory limit read back',
      'SM limit read back',
      'allocation of 10496 MiB is refused',
      'allocation of 7040 MiB is granted',
      'the layer knows its own process (pidfound)',
    ]);
  });
});
