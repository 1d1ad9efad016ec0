import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FIRST_LOOK } from '../../../lib/systems/system.js';
import {
  VgpuManagerSystem,
  type VgpuManagerOptions,
} from '../../../lib/systems/kinds/vgpu-manager/vgpu-manager-system.js';
import { parseVgpuConfig, type VgpuConfig } from '../../../lib/systems/kinds/vgpu-manager/vgpu-manager-config.js';
import {
  CARD,
  description,
  type DescriptionChange,
  GIB,
  gpu,
  libraryFile,
  probe,
  runState,
  temporaryFolder,
} from './fixtures.js';

const folder = temporaryFolder();
const library = libraryFile(folder, 'libvgpu-control.so');

/** Temporary folders for every system, since the real ones have fixed paths. */
const newPlaces = () => {
  const root = mkdtempSync(join(folder, 'p'));
  return { manager: join(root, 'vgpu-manager'), locks: join(root, 'vgpu_lock') };
};
const configOf = ({ manager }: { manager: string }) => join(manager, 'config', 'vgpu.config');

const system = (change: Partial<VgpuManagerOptions> = {}) =>
  new VgpuManagerSystem({
    name: 'vgpu-manager',
    caller: { PATH: '/bin', CUDA_CORE_LIMIT: '7' },
    library,
    memory: { bytes: 10 * GIB },
    sm: 50,
    controller: 'delta',
    places: newPlaces(),
    ...change,
  });

async function prepared(change: Partial<VgpuManagerOptions> = {}) {
  const places = newPlaces();
  const made = system({ places, ...change });
  const run = runState(folder);
  await made.prepare(run);
  onTestFinished(() => made.teardown());
  return { made, run, places, config: configOf(places) };
}

/** The bytes of its resource_data_t, as the first process of the layer writes them. */
function configBytes(content: Partial<VgpuConfig> = {}): Buffer {
  const bytes = Buffer.alloc(8192);
  bytes.writeUInt32LE(0x56474346, 0);
  bytes.writeUInt32LE(1, 4);
  bytes.write(content.podUid ?? '', 128);
  bytes.write(content.containerName ?? '', 304);
  const device = 512;
  bytes.write(content.uuid ?? '', device + 8);
  bytes.writeBigUInt64LE(BigInt(content.memoryBytes ?? 0), device + 56);
  bytes.writeInt32LE(content.cores ?? 0, device + 72);
  bytes.writeInt32LE(content.softCores ?? 0, device + 76);
  bytes.writeInt32LE(content.cores == null ? 0 : 1, device + 80);
  bytes.writeInt32LE(content.memoryBytes == null ? 0 : 1, device + 88);
  return bytes;
}

/** Writes the configuration as the layer does with the environment of its first process. */
function writeAsLayer(config: string, environment: NodeJS.ProcessEnv, change: Partial<VgpuConfig> = {}): void {
  mkdirSync(join(config, '..'), { recursive: true });
  const content: VgpuConfig = {
    containerName: environment.VGPU_CONTAINER_NAME ?? '',
    podUid: environment.VGPU_POD_UID ?? '',
    uuid: environment.MANAGER_VISIBLE_DEVICES ?? '',
    memoryBytes: parseInt(environment.CUDA_MEM_LIMIT_0 ?? '') * 2 ** 20 || null,
    cores: Number(environment.CUDA_CORE_LIMIT_0) || null,
    softCores: Number(environment.CUDA_CORE_SOFT_LIMIT_0) || null,
  };
  writeFileSync(config, configBytes({ ...content, ...change }));
}

describe('vgpu-manager', () => {
  it('sets every variable that the library would otherwise read from process 1', async () => {
    const { made, run } = await prepared({ softCores: 80, controller: 'aimd' });
    expect(made.environment()).toEqual({
      PATH: '/bin',
      CUDA_MPS_PIPE_DIRECTORY: join(run.directory, 'vgpu-manager', 'no-mps'),
      LD_PRELOAD: library,
      CUDA_VISIBLE_DEVICES: gpu.uuid,
      MANAGER_VISIBLE_DEVICES: gpu.uuid,
      VGPU_CONTAINER_NAME: 'gpu-virt-bench',
      VGPU_POD_UID: run.runId,
      CUDA_MEM_LIMIT_0: '10240Mi',
      CUDA_MEM_RATIO_0: '',
      CUDA_MEM_OVERSOLD_0: 'false',
      CUDA_CORE_LIMIT_0: '50',
      CUDA_CORE_SOFT_LIMIT_0: '80',
      CUDA_SM_CONTROLLER: 'aimd',
      CUDA_SM_SHARED_BUCKET: 'false',
      MANAGER_COMPATIBILITY_MODE: '0',
      EXTERNAL_SM_WATCHER_ENABLED: 'false',
      VMEMORY_NODE_ENABLED: 'false',
      LOGGER_LEVEL: '0',
    });
  });

  it('sets only requested limits, and no soft limit below the hard one', async () => {
    const { made } = await prepared({ memory: undefined, sm: undefined });
    expect(made.environment()).toMatchObject({ CUDA_MEM_LIMIT_0: '', CUDA_CORE_LIMIT_0: '' });
    // At 100 % its limiter would still count blocks.
    const whole = made.environment({ id: 1, limits: { memoryBytes: null, smPercent: 100 } });
    expect(whole).toMatchObject({ CUDA_CORE_LIMIT_0: '' });
    const soft = await prepared({ softCores: 60 });
    const limited = soft.made.environment({ id: 1, limits: { memoryBytes: 1e10, smPercent: 70 } });
    expect(limited).toMatchObject({
      CUDA_MEM_LIMIT_0: '10000000000',
      CUDA_CORE_LIMIT_0: '70',
      CUDA_CORE_SOFT_LIMIT_0: '',
    });
  });

  it('changes the limit of a running tenant in the file mapped by its processes', async () => {
    const { made, config } = await prepared();
    const tenant = { id: 3, limits: { smPercent: 40 } };
    expect(await made.changeLimit(tenant, 20)).toMatch(/vgpu\.config is missing/);
    await made.prepareTenant(tenant);
    writeAsLayer(config, made.environment(tenant));
    const before = readFileSync(config);
    const { ino } = statSync(config);
    expect(await made.changeLimit(tenant, 20)).toBeNull();
    const after = readFileSync(config);
    expect(parseVgpuConfig(after)).toEqual({ ...(parseVgpuConfig(before) as VgpuConfig), cores: 20 });
    // The version goes from one even number to the next; the rest is unchanged.
    expect(after.readUInt32LE(512)).toBe(before.readUInt32LE(512) + 2);
    after.writeUInt32LE(before.readUInt32LE(512), 512);
    after.writeInt32LE(40, 512 + 72);
    expect(after.equals(before)).toBe(true);
    expect(statSync(config).ino).toBe(ino);
    // The limits that the tenant must have from now on.
    expect(made.limits(tenant).smPercent).toBe(20);
    await made.reap(tenant);
    expect(made.limits(tenant).smPercent).toBe(40);
  });

  it('does not change the limit of a tenant that was started without one', async () => {
    const { made, config } = await prepared({ sm: undefined });
    await made.prepareTenant({ id: 3 });
    writeAsLayer(config, made.environment({ id: 3 }));
    expect(await made.changeLimit({ id: 3 }, 20)).toBe('the tenant was started without a compute limit');
  });

  it('removes the configuration file when its last tenant has ended, and between limits', async () => {
    const { made, config } = await prepared();
    for (const id of [1, 2]) await made.prepareTenant({ id });
    writeAsLayer(config, made.environment());
    await made.reap({ id: 1 });
    expect(existsSync(config)).toBe(true);
    await made.reap({ id: 2 });
    expect(existsSync(config)).toBe(false);
    await made.prepareTenant({ id: 3 });
    writeAsLayer(config, made.environment());
    await made.betweenLimits();
    expect(existsSync(config)).toBe(false);
  });

  it('refuses a second tenant with different limits', async () => {
    const { made } = await prepared();
    expect(made.limitsCoexist).toBe(false);
    await made.prepareTenant({ id: 1 });
    await made.prepareTenant({ id: 2 });
    const other = { id: 3, limits: { smPercent: 70 } };
    await expect(made.prepareTenant(other)).rejects.toThrow(/different limits cannot run at the same time/);
    for (const id of [1, 2]) await made.reap({ id });
    await made.prepareTenant(other);
  });

  it('removes only the folders that the library created', async () => {
    const places = newPlaces();
    mkdirSync(places.manager);
    const made = system({ places });
    await made.prepare(runState(folder));
    await made.prepareTenant({ id: 0 });
    writeAsLayer(configOf(places), made.environment());
    mkdirSync(places.locks);
    writeFileSync(join(places.locks, 'vgpu_0.lock'), '');
    await made.teardown();
    await made.teardown();
    expect([existsSync(places.manager), existsSync(join(places.manager, 'config')), existsSync(places.locks)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('keeps existing locks of another program', async () => {
    const { made, places } = await (async () => {
      const own = newPlaces();
      mkdirSync(own.locks);
      return prepared({ places: own }).then(({ made: one }) => ({ made: one, places: own }));
    })();
    writeFileSync(join(places.locks, 'vgpu_0.lock'), '');
    await made.teardown();
    expect(existsSync(join(places.locks, 'vgpu_0.lock'))).toBe(true);
  });

  it.each([
    ['of a pod', configBytes({ containerName: 'trainer', memoryBytes: GIB })],
    ['of an unknown layout', Buffer.from('{}')],
  ])('refuses and keeps a file %s', async (_, bytes) => {
    const { made, config } = await prepared();
    mkdirSync(join(config, '..'), { recursive: true });
    writeFileSync(config, bytes);
    await expect(made.prepareTenant({ id: 0 })).rejects.toThrow(/vgpu\.config' not to exist before the run/);
    await made.teardown();
    expect(readFileSync(config)).toEqual(bytes);
  });

  it('removes a file of a killed run, unless a process still uses it', async () => {
    const { made, config, places } = await prepared();
    writeAsLayer(config, { VGPU_CONTAINER_NAME: 'gpu-virt-bench', VGPU_POD_UID: 'killed' });
    const mapping = `import mmap,sys; f=open(sys.argv[1]); m=mmap.mmap(f.fileno(),0,prot=mmap.PROT_READ); print('mapped',flush=True); sys.stdin.read()`;
    const user = spawn('python3', ['-c', mapping, config], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(user.stdout, 'data');
    await expect(made.prepareTenant({ id: 0 })).rejects.toThrow(
      new RegExp(`not to be in use but process ${user.pid} uses it`),
    );
    expect(existsSync(config)).toBe(true);
    user.stdin.end();
    await once(user, 'exit');
    await made.prepareTenant({ id: 0 });
    expect(existsSync(config)).toBe(false);
    await made.teardown();
    expect(existsSync(places.manager)).toBe(false);
  });

  it('is unavailable without a library', () =>
    expect(system({ library: null }).unavailable).toBe('library not available: name it with library=FILE'));
});

describe('the proofs of vgpu-manager', () => {
  const whole = { exports: 586, paths: ['runtime', 'dlsym', 'linked'] };
  const attest = async (
    change: DescriptionChange = {},
    seen = probe(),
    written: Partial<VgpuConfig> = {},
    options: Partial<VgpuManagerOptions> = {},
  ) => {
    const { made, config } = await prepared(options);
    await made.prepareTenant({ id: 0 });
    writeAsLayer(config, made.environment(), written);
    const look = { ...FIRST_LOOK, probe: seen };
    return made.attest(description(library, { ...whole, ...change }), look);
  };

  it('pass under an active layer', async () => {
    const allocations = [{ bytes: 10.25 * GIB, code: 2 }];
    const { proofs, invalid, notChecked, layer } = await attest({}, probe({ allocations }), {}, { softCores: 70 });
    expect(proofs.filter(({ passed }) => !passed)).toEqual([]);
    expect({ invalid, notChecked, count: proofs.length }).toEqual({ invalid: undefined, notChecked: [], count: 11 });
    expect(layer).toMatchObject({ path: library, exports: 586, active: true });
    expect(proofs.map(({ detail }) => detail)).toContain(
      `uuid ${gpu.uuid}, memoryBytes ${10 * GIB}, cores 50, softCores 70`,
    );
  });

  it.each<[string, DescriptionChange, Partial<VgpuConfig>, RegExp]>([
    ['the library of another layer', { exports: 202 }, {}, /202 exported names begin with cu, 500 are expected/],
    ['a layer that the runtime path escapes', { paths: ['dlsym'] }, {}, /cuInit on runtime/],
    ['the whole card in the memory view', { memoryBytes: CARD }, {}, /memory view/],
    ['cores of an earlier process', {}, { cores: 30 }, /it says cores 30; this run set cores 50/],
    ['no core limit in the file', {}, { cores: null }, /it says cores none; this run set cores 50/],
    ['a soft limit of an earlier process', {}, { softCores: 90 }, /softCores 90; this run set softCores none/],
    ['memory of an earlier process', {}, { memoryBytes: GIB }, /memoryBytes 1073741824; this run set memoryBytes 107/],
    ['the file of another run', {}, { podUid: 'other' }, /podUid other; .*Stop other programs that use vgpu-manager/],
    ['an MPS client', { mpsClient: true }, {}, /it is an MPS client/],
  ])('fail for %s', async (_, change, written, reason) => {
    const { invalid } = await attest(change, probe(), written);
    expect(invalid).toMatch(/^layer not active: /);
    expect(invalid).toMatch(reason);
  });

  it('fail if an allocation beyond the limit is granted', async () => {
    const allocations = [{ bytes: 10.25 * GIB, code: 0 }];
    expect((await attest({}, probe({ allocations }))).invalid).toMatch(
      /allocation of 10496 MiB is refused: the driver returned 0/,
    );
  });

  it('ignore a file that the layer did not write, or writes in another layout', async () => {
    const { made, config } = await prepared();
    await made.prepareTenant({ id: 0 });
    const notChecked = async () => (await made.attest(description(library, whole))).notChecked?.[0]?.detail;
    expect(await notChecked()).toMatch(/it wrote none/);
    mkdirSync(join(config, '..'), { recursive: true });
    writeFileSync(config, 'another layout');
    expect(await notChecked()).toMatch(/its layout is unknown/);
  });
});

describe('the configuration file of vgpu-manager', () => {
  it('has the layout of its C header', () => {
    // The structures of library/include/hook.h, written by a C program.
    const source = `
      #include <stdint.h>
      #include <stdio.h>
      #include <string.h>
      typedef struct { uint32_t seq, pad; char uuid[48]; uint64_t total, real; int32_t hard_core, soft_core, core_limit,
        hard_limit, memory_limit, oversold, activate, reserved[7]; } __attribute__((aligned(128))) device;
      typedef struct { uint32_t magic, layout, size, count; int32_t major, minor; char driver[32]; uint8_t r[72];
        char pod_uid[48], pod_name[64], pod_namespace[64], container[64], reg_uuid[48]; int32_t mode, watcher, vmem;
        uint8_t m[84]; device devices[16]; } config;
      int main() { static char file[8192]; config* c = (config*)file; c->magic = 0x56474346; c->layout = 1;
        strcpy(c->pod_uid, "run"); strcpy(c->container, "box"); device* d = c->devices; strcpy(d->uuid, "GPU-1");
        d->total = 21474836480ull; d->hard_core = 30; d->soft_core = 60; d->core_limit = d->memory_limit = 1;
        fwrite(file, 1, sizeof file, stdout); return 0; }`;
    const program = join(folder, 'write-config');
    execFileSync('cc', ['-x', 'c', '-o', program, '-'], { input: source });
    expect(parseVgpuConfig(execFileSync(program))).toEqual({
      containerName: 'box',
      podUid: 'run',
      uuid: 'GPU-1',
      memoryBytes: 20 * GIB,
      cores: 30,
      softCores: 60,
    });
  });
});
