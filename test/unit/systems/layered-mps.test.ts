import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HamiCoreSystem } from '../../../lib/systems/kinds/hami-core/hami-core-system.js';
import { LayeredMpsSystem } from '../../../lib/systems/kinds/mps/layered-mps-system.js';
import { MpsSystem } from '../../../lib/systems/kinds/mps/mps-system.js';
import { parseSystem } from '../../../lib/systems/input/parse.js';
import { FIRST_LOOK, type Limits } from '../../../lib/systems/system.js';
import { description, GIB, libraryFile, probe, runState, temporaryFolder } from './fixtures.js';

const folder = temporaryFolder();
const library = libraryFile(folder);
const caller = { PATH: '/bin' };
const places = { lockDirectory: join(folder, 'vgpulock'), overrideFile: join(folder, 'overrideEnv') };

const size = (gib: number | null) => (gib === null ? undefined : { bytes: gib * GIB });

async function prepared(own: number | null, layers: number | null, sm?: number) {
  const system = new LayeredMpsSystem(
    new MpsSystem({ name: 'mps', caller, memory: size(own), sm, hasLayer: true }),
    new HamiCoreSystem({ name: 'mps', caller, library, memory: size(layers), sm: undefined, policy: 'force', places }),
  );
  await system.prepare(runState(folder));
  onTestFinished(() => system.teardown());
  return system;
}

/** What the variables of a tenant set, in GiB: its layer's limit, and the pinned one of MPS. */
function setOf(system: LayeredMpsSystem, limits?: Partial<Limits>) {
  const { CUDA_DEVICE_MEMORY_LIMIT: layer, CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: pinned } = system.environment({
    id: 1,
    ...(limits && { limits }),
  });
  return [layer, pinned?.slice(2)].map((text) => (text === undefined ? null : parseInt(text) / 1024));
}

describe('the memory limit of mps with a layer', () => {
  it.each([
    ['of the layer', null, 10, 10, 'perTenantPool'],
    ['of the layer, which is smaller', 20, 10, 10, 'perTenantPool'],
    ['of mps, which is smaller', 6, 10, 6, 'perProcess'],
    ['of mps alone', 6, null, 6, 'perProcess'],
    ['none', null, null, null, 'perTenantPool'],
  ] as const)('is that %s', async (_, own, layers, limit, memLimit) => {
    const system = await prepared(own, layers);
    expect(system.limits().memoryBytes).toBe(limit === null ? null : limit * GIB);
    expect(system.capabilities).toMatchObject({ memLimit, computeLimit: 'smCap' });
    expect(setOf(system)).toEqual([layers ?? 140, own]);
  });

  it('is set for a tenant by whichever limits memory, and by none if it is lifted', async () => {
    const byLayer = await prepared(20, 10, 50);
    expect(setOf(byLayer, { memoryBytes: 8 * GIB })).toEqual([8, 20]);
    expect(setOf(byLayer, { memoryBytes: null })).toEqual([140, null]);
    expect(setOf(byLayer, { smPercent: 30 })).toEqual([10, 20]);
    const byMps = await prepared(6, 10);
    expect(setOf(byMps, { memoryBytes: 4 * GIB })).toEqual([10, 4]);
    expect(byMps.limits({ id: 1, limits: { memoryBytes: 4 * GIB } }).memoryBytes).toBe(4 * GIB);
    expect(byLayer.limits({ id: 1, limits: { memoryBytes: null } }).memoryBytes).toBeNull();
  });

  it('leaves compute to MPS', async () => {
    const environment = (await prepared(null, 10, 50)).environment({ id: 1, limits: { smPercent: 30 } });
    expect(environment).toMatchObject({ CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: '30', CUDA_DEVICE_SM_LIMIT: '100' });
  });

  it.each([
    [null, 10, ['10.25 refused', '6.875 granted']],
    [20, 10, ['10.25 refused', '6.875 granted']],
    // What the layer would grant, the pinned limit may not.
    [6, 10, ['10.25 refused', '6.25 refused']],
    [6, null, ['6.25 refused']],
  ] as const)('is tried where trying proves something: %s in %s GiB', async (own, layers, tried) => {
    const canaries = (await prepared(own, layers)).canaries();
    expect(canaries.map(({ bytes, expected }) => `${bytes / GIB} ${expected}`)).toEqual(tried);
  });
});

describe('a process of mps with a layer', () => {
  const look = async (mapped: string | null, mpsClient: boolean | null) => {
    const system = await prepared(null, 10);
    const seen = { ...description(mapped, { mpsClient }), environment: system.environment() };
    const limits = { visibleTotalBytes: 10 * GIB, memoryLimitBytes: 10 * GIB, smPercent: 100 };
    return system.attest(seen, { ...FIRST_LOOK, probe: probe({ ...limits, pidFound: false }) });
  };

  it('is a client and under the layer, whose compute limit is not missed', async () => {
    const { invalid, warnings, computeLimitUnsupported, layer } = await look(library, true);
    expect({ invalid, computeLimitUnsupported, path: layer?.path }).toEqual({ path: library });
    expect(warnings).toEqual([expect.stringContaining('Under MPS, sm of mps limits compute.')]);
  });

  it.each([
    ['the daemon', library, false, /^layer not active: MPS attribute[^;]*it runs without MPS[^;]*$/],
    ['the layer', null, true, /^layer not active: library identity[^;]*is not mapped in the worker/],
  ] as const)('is refused without %s', async (_, mapped, mpsClient, says) =>
    expect((await look(mapped, mpsClient)).invalid).toMatch(says),
  );
});

describe('the layer of mps', () => {
  const surroundings = { caller, folder };
  const of = (text: string) => () => parseSystem(text, surroundings);

  it.each(['hami-core', 'vgpu-manager', 'fcsp'])('may be %s', (kind) =>
    expect(of(`mps:name=both,sm=50,layer.kind=${kind},layer.library=${library}`)()).toMatchObject({
      kind: 'mps',
      name: 'both',
      usesMps: true,
    }),
  );

  it.each([
    [
      'kind=hami-core,layer.sm=50',
      /nothing shows that the compute limit of hami-core works on clients of MPS: leave sm out/,
    ],
    ['kind=vgpu-manager,layer.cores=50', /utilisation per process, .*leave cores and sm out/],
    ['kind=fcsp,layer.sm=50', /nothing is known of its compute limit/],
    ['kind=custom,layer.limits.sm=50', /leave sm out of its limits/],
    ['kind=mps', /a client has one daemon/],
    ['kind=mig', /mig:layer\.kind=mps/],
    ['kind=container', /container:layer\.kind=mps/],
    ['kind=pod', /the cluster starts what is in a pod/],
    ['kind=swap', /does not checkpoint clients of MPS/],
    ['kind=time-slicing', /run at the same time, not in turns/],
    ['kind=nvshare', /its tenants take turns/],
    ['kind=green-context,layer.sm=50', /sm of mps already is/],
    ['kind=native', /leave layer out, or give its kind/],
    ['memory=1GiB', /leave layer out, or give its kind/],
    ['kind=nothing', /nothing is known of that combination/],
    ['kind=hami-core,layer.library=libvgpu.so', /absolute paths/],
    ['kind=hami-core,layer.name=other', /Expected name of mps, not of its layer/],
  ])('is not %s', (layer, says) => expect(of(`mps:layer.${layer}`)).toThrow(says));

  it('says which kinds fit', () =>
    expect(of('mps:layer.kind=swap')).toThrow(
      /^Expected layer of mps to be a system of kind fcsp, hami-core, vgpu-manager, custom but received/,
    ));

  it('is not beside several GPUs', () =>
    expect(of(`mps:gpus=visible,layer.kind=hami-core,layer.library=${library}`)).toThrow(/layers limit one GPU/));

  it.each([
    ['mig:profile=1g.18gb', 'vgpu-manager', /it names whole GPUs/],
    ['mig:profile=1g.18gb', 'fcsp', /nothing is known of that combination/],
    ['container:runtime=podman,image=x', 'vgpu-manager', /one file of the whole host/],
  ])('fits into what stands around mps: not in %s of kind %s', (outer, kind, says) =>
    expect(of(`${outer},layer.kind=mps,layer.layer.kind=${kind},layer.layer.library=${library}`)).toThrow(says),
  );

  it('may be in a container with mps', () =>
    expect(
      of(`container:runtime=podman,image=x,layer.kind=mps,layer.layer.kind=hami-core,layer.layer.library=${library}`)(),
    ).toMatchObject({ kind: 'container', usesMps: true }));
});
