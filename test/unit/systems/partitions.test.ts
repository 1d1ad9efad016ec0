/** Proofs of partitions, fooled by set-ups that a simulated card cannot have. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nameWithSlice, sliceText } from '../../../lib/environment/named-gpu.js';
import { seenInside, seenOutside } from '../../../lib/systems/kinds/mig/mig-proofs.js';
import { createSystem } from '../../../lib/systems/kinds.js';
import { dmemFiles, whyNoDmem } from '../../../lib/systems/kinds/mps/dmem.js';
import { driverLimits, smiWithLimits } from '../../../lib/systems/kinds/mps/memory-limits.js';
import {
  dropGroup,
  expectCgroup,
  inGroup,
  makeGroup,
  type MemoryLimits,
} from '../../../lib/systems/kinds/mps/tenant-group.js';
import { featureText, mpsFeatures } from '../../../lib/systems/kinds/mps/mps-features.js';
import { ownPipes } from '../../../lib/systems/kinds/mps/mps-proofs.js';
import { sliceIn } from '../../../lib/systems/kinds/time-slicing/compute-policy.js';
import { TimeSlicingSystem } from '../../../lib/systems/kinds/time-slicing/time-slicing-system.js';
import { device } from '../run/fixtures.js';
import { CARD, description, GIB, runState, temporaryFolder } from './fixtures.js';

const wanted = {
  uuid: 'MIG-1',
  name: 'NVIDIA H200 MIG 1g.18gb',
  parent: 'GPU-1',
  parentIndex: 0,
  gpuInstance: 7,
  computeInstance: 0,
  multiprocessors: 16,
  memoryBytes: 16 * GIB,
};
const own = device(0, { uuid: 'MIG-1', name: wanted.name, multiprocessors: 16, memoryBytes: 16 * GIB });
const failed = (findings: readonly { proof: string; passed: boolean | null }[]) =>
  findings.filter(({ passed }) => passed === false).map(({ proof }) => proof);

describe('a process on a MIG instance', () => {
  it('is proven by what it sees', () => {
    expect(seenInside([own], wanted, true).map(({ passed }) => passed)).toEqual([true, true, true, true]);
    expect(seenOutside([wanted], wanted).passed).toBe(true);
  });

  it.each([
    [
      'a whole card under the name of the instance',
      { multiprocessors: 132, memoryBytes: CARD, name: 'NVIDIA H200' },
      ['multiprocessors of the instance', 'memory of the instance by NVML'],
    ],
    [
      'a larger profile',
      { name: 'NVIDIA H200 MIG 2g.35gb', multiprocessors: 32 },
      ['profile in the name of the device', 'multiprocessors of the instance'],
    ],
    [
      'a profile of the same size with more memory',
      { name: 'NVIDIA H200 MIG 1g.35gb', memoryBytes: 32 * GIB },
      ['profile in the name of the device', 'memory of the instance by NVML'],
    ],
  ])('is refused on %s', (_, change, proofs) =>
    expect(failed(seenInside([{ ...own, ...change }], wanted, true))).toEqual(proofs),
  );

  it('is refused if it sees no GPU, or if the instance was made anew meanwhile', () => {
    expect(failed(seenInside([], wanted, true))).toEqual(['the process sees its MIG instance alone']);
    expect(seenOutside([], wanted)).toMatchObject({ passed: false, detail: 'MIG-1 is not listed any more' });
    for (const change of [{ parent: 'GPU-2' }, { gpuInstance: 9 }, { multiprocessors: 14 }, { memoryBytes: GIB }])
      expect(seenOutside([{ ...wanted, ...change }], wanted).passed).toBe(false);
  });

  it('may have fewer multiprocessors under a layer, and never more', () => {
    expect(failed(seenInside([{ ...own, multiprocessors: 8 }], wanted, false))).toEqual([]);
    expect(failed(seenInside([{ ...own, multiprocessors: 8 }], wanted, true))).toHaveLength(1);
    expect(failed(seenInside([{ ...own, multiprocessors: 18 }], wanted, false))).toHaveLength(1);
  });
});

it('tells slices and whole cards apart, also where the driver gives both one name', () => {
  expect(sliceText(device(0))).toBe('MIG disabled');
  expect(sliceText(own)).toBe('MIG instance 1g.18gb');
  expect(sliceText({ ...own, name: 'NVIDIA H200' })).toBe('MIG instance of 16 multiprocessors');
  expect(nameWithSlice({ ...own, name: 'NVIDIA H200' })).toBe('NVIDIA H200, MIG instance of 16 multiprocessors');
  expect(nameWithSlice(own)).toBe('NVIDIA H200 MIG 1g.18gb');
});

it('refuses a client of another MPS daemon', () => {
  expect(ownPipes({ CUDA_MPS_PIPE_DIRECTORY: '/r/p' }, '/r/p').passed).toBe(true);
  expect(ownPipes({ CUDA_MPS_PIPE_DIRECTORY: '/tmp/nvidia-mps' }, '/r/p')).toMatchObject({
    passed: false,
    detail: '/tmp/nvidia-mps, not /r/p',
  });
  expect(ownPipes({}, '/r/p').passed).toBe(false);
});

it('limits memory by a cgroup of the tenant, whose members and limits are read back', async () => {
  const root = temporaryFolder();
  expect(whyNoDmem(root)).toMatch(/has dmem\.capacity/);
  writeFileSync(join(root, 'dmem.capacity'), 'nvidia/0000:3b:00.0/vidmem 150000000000\n');
  expect(whyNoDmem(root)).toBeNull();
  const files = dmemFiles(root, '00000000:3B:00.0');
  const group = await makeGroup(root, 'gvb-1', { hard: 4096, soft: 1024 }, files);
  const own = join(root, 'gvb-1');
  const file = (name: string) => readFileSync(join(own, name), 'utf8');
  expect(file('dmem.max')).toBe('nvidia/0000:3b:00.0/vidmem 4096\n');
  expect(file('dmem.min')).toBe('nvidia/0000:3b:00.0/vidmem 1024\n');
  const member = async () => (await inGroup(process.pid, group))[0]?.passed;
  const limits = async () => (await inGroup(process.pid, group)).slice(1);
  expect(await member()).toBeNull();
  writeFileSync(join(own, 'cgroup.procs'), `${process.ppid}\n1${process.pid}\n`);
  expect(await member()).toBe(false);
  writeFileSync(join(own, 'cgroup.procs'), `${process.ppid}\n${process.pid}\n`);
  expect(await member()).toBe(true);
  expect(await limits()).toMatchObject([{ passed: true }, { passed: true }]);
  writeFileSync(join(own, 'dmem.max'), 'nvidia/0000:3b:00.0/vidmem max\n');
  writeFileSync(join(own, 'dmem.min'), 'nvidia/0000:3b:00.0/vidmem 0\n');
  expect(await limits()).toMatchObject([
    { passed: false, detail: 'max, 4096 was set' },
    { passed: false, detail: '0, 1024 was set' },
  ]);
  expect(await dropGroup(group)).toEqual([]);
  expect(existsSync(own)).toBe(false);
});

it('says what it cannot remove, and touches no file of a cgroup', async () => {
  const root = temporaryFolder();
  writeFileSync(join(root, 'dmem.capacity'), 'nvidia/0000:3b:00.0/vidmem 150000000000\n');
  const files = dmemFiles(root, '00000000:3B:00.0');
  const group = await makeGroup(root, 'gvb-1', { hard: 4096 }, files);
  writeFileSync(join(root, 'gvb-1', 'cgroup.controllers'), 'dmem\n');
  expect((await dropGroup(group))[0]).toContain('was left in place');
  expect(existsSync(join(root, 'gvb-1', 'dmem.max'))).toBe(true);
});

it('sets no soft limit by files where the cgroups above would have to keep it too', async () => {
  const root = temporaryFolder();
  writeFileSync(join(root, 'dmem.capacity'), 'nvidia/0000:3b:00.0/vidmem 150000000000\n');
  const below = join(root, 'machine.slice');
  mkdirSync(below);
  writeFileSync(join(below, 'dmem.min'), 'nvidia/0000:3b:00.0/vidmem 0\n');
  const files = dmemFiles(below, '00000000:3B:00.0');
  await expect(makeGroup(below, 'gvb-1', { hard: 4096, soft: 1024 }, files)).rejects.toThrow(
    /has to be reserved in the cgroups above it too/,
  );
  await expect(makeGroup(below, 'gvb-2', { hard: 4096 }, files)).resolves.toMatchObject({ limits: { hard: 4096 } });
});

describe('a soft limit of mps', () => {
  const caller = { PATH: '/nonexistent' };
  const create = (settings: Record<string, string>) => createSystem('mps', settings, { caller, folder: '/' });
  const byCgroup = { enforcer: 'cgroup', cgroup: '/nonexistent', memory: '20GiB' };

  it('is one of a cgroup', () => {
    expect(() => create({ memory: '20GiB', soft: '8GiB' })).toThrow(/^Expected soft of mps with enforcer=cgroup/);
    expect(() => create({ ...byCgroup, soft: '8' })).toThrow(/soft/);
  });

  it.each([
    ['8GiB', { memoryBytes: 20 * GIB, softMemoryBytes: 8 * GIB }],
    ['10%', { memoryBytes: 20 * GIB, softMemoryBytes: CARD / 10 }],
  ])('of %s is a limit of its tenants, never above their memory', async (soft, limits) => {
    const system = create({ ...byCgroup, soft });
    await system.prepare(runState(temporaryFolder()));
    expect(system.limits()).toMatchObject(limits);
    expect(system.limits({ id: 1, limits: { memoryBytes: GIB } })).toMatchObject({ softMemoryBytes: GIB });
    await system.teardown();
  });

  it('is not above the memory', async () => {
    const system = create({ ...byCgroup, soft: '21GiB' });
    await expect(system.prepare(runState(temporaryFolder()))).rejects.toThrow(
      'Expected soft of mps to be at most its memory, 20480 MiB, but received 21504 MiB.',
    );
  });
});

describe('a limit that nvidia-smi sets', () => {
  const MIB = 2 ** 20;
  const reading = (answer: string) => {
    const file = join(temporaryFolder(), 'nvidia-smi');
    writeFileSync(file, `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
    return driverLimits(file, '/usr/bin:/bin', 'GPU-1');
  };
  const passed = async (answer: string, limits: MemoryLimits) =>
    (await reading(answer).findings('/g', limits)).map((finding) => finding.passed);
  const text = (soft: string, hard: string, used: string) =>
    `namespace: /g\nsoft limit: ${soft}\nhard limit: ${hard}\ncurrent used: ${used}`;

  it('may be rounded, and no more', async () => {
    const answer = text('4096 MiB', '8192 MiB', '512 MiB');
    expect(await passed(answer, { hard: 8000 * MIB, soft: 4000 * MIB })).toEqual([true, true, true]);
    expect(await passed(answer, { hard: 7000 * MIB, soft: 4000 * MIB })).toEqual([false, true, true]);
    expect(await passed(answer, { hard: 8000 * MIB, soft: 5000 * MIB })).toEqual([true, false, true]);
  });

  it('is not there where the driver names none, and memory that it does not count proves nothing', async () => {
    expect(await passed(text('0 MiB', 'max', '0 MiB'), { hard: 8000 * MIB })).toEqual([false, null]);
    expect(await passed('Not Supported', { hard: 8000 * MIB })).toEqual([false, null]);
  });

  it('is not set by an older nvidia-smi', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'nvidia-smi'), 'compute-policy', { mode: 0o755 });
    expect(smiWithLimits(folder)).toBeNull();
    expect(smiWithLimits(temporaryFolder())).toBeNull();
  });
});

it('reads capacities in the root cgroup, the only one that has them', async () => {
  const root = temporaryFolder();
  const below = join(root, 'machine.slice');
  mkdirSync(below);
  expect(whyNoDmem(below)).toMatch(/no cgroup from .*machine\.slice up has dmem\.capacity/);
  writeFileSync(join(root, 'dmem.capacity'), 'drm/0000:03:00.0/vram0 8514437120\n');
  expect(whyNoDmem(below)).toMatch(/lists no memory of the NVIDIA driver/);
  writeFileSync(join(root, 'dmem.capacity'), 'nvidia/0000:3b:00.0/vidmem 150000000000\n');
  writeFileSync(join(below, 'cgroup.controllers'), 'cpu memory\n');
  expect(whyNoDmem(below)).toMatch(/has no controller dmem: as root, write \+dmem/);
  writeFileSync(join(below, 'cgroup.controllers'), 'cpu memory dmem\n');
  expect(whyNoDmem(below)).toBeNull();
  await makeGroup(below, 'gvb-1', { hard: 4096 }, dmemFiles(below, '00000000:3B:00.0'));
  expect(readFileSync(join(below, 'gvb-1/dmem.max'), 'utf8')).toBe('nvidia/0000:3b:00.0/vidmem 4096\n');
  expect(() => dmemFiles(below, '00000000:5E:00.0')).toThrow(/has no region of the GPU at 0000:5e:00\.0/);
});

it('files that look like a cgroup are refused on a real driver', () => {
  const folder = temporaryFolder();
  expect(() => expectCgroup(folder, false)).toThrow(/is no cgroup: it is not in a file system of type cgroup2/);
  expect(() => expectCgroup(join(folder, 'none'), false)).toThrow(
    /^layer not active: the cgroup .*none cannot be read: ENOENT/,
  );
  expect(() => expectCgroup(folder, true)).not.toThrow();
});

describe('what MPS of driver R615 adds', () => {
  /** A PATH with programs that answer so to the options of their help, and refuse others. */
  function pathWith(programs: Readonly<Record<string, readonly [options: string, answer: string]>>): string {
    const folder = temporaryFolder();
    for (const [name, [options, answer]] of Object.entries(programs)) {
      const text = `#!/bin/sh\n[ "$*" = "${options}" ] || exit 2\n[ "$CUDA_MPS_PIPE_DIRECTORY" = /nonexistent ] && echo '${answer}'\n`;
      writeFileSync(join(folder, name), text, { mode: 0o755 });
    }
    return folder;
  }
  const control = (answer: string) => ({ 'nvidia-cuda-mps-control': ['-p 3 -h', answer] }) as const;
  const smi = (answer: string) => ({ 'nvidia-smi': ['memory-limits -h', answer] }) as const;
  const cgroups = () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'dmem.capacity'), 'nvidia/0000:3b:00.0/vidmem 150000000000\n');
    return folder;
  };

  it('is found by what the programs answer', async () => {
    const path = pathWith({ ...control('client server namespace'), ...smi('nvidia-smi memory-limits [options]') });
    const found = await mpsFeatures(path, cgroups());
    expect(found).toEqual({ protocol3: true, memoryLimits: true, whyNoDmem: null });
    expect(featureText(found)).toBe('protocol 3, nvidia-smi memory-limits, dmem');
  });

  it.each([
    ['older programs', { 'nvidia-cuda-mps-control': ['', ''], 'nvidia-smi': ['', ''] }, false],
    ['programs that answer something else', { ...control('usage: -d, -f'), ...smi('usage: -L') }, false],
    ['no programs', {}, null],
  ] as const)('is not there with %s', async (_, programs, there) => {
    const found = await mpsFeatures(pathWith(programs), temporaryFolder());
    expect(found).toMatchObject({ protocol3: there, memoryLimits: there });
    expect(found.whyNoDmem).toMatch(/has dmem\.capacity/);
    expect(featureText(found)).toBeNull();
  });
});

describe('time-slicing', () => {
  it.each([
    ['compute mode exclusive', { computeMode: 'exclusive-process' } as const, /compute mode: exclusive-process/],
    ['MPS', { mpsClient: true }, /it is an MPS client/],
    ['MIG mode', { migMode: 'enabled' } as const, /MIG mode: enabled/],
  ])('is refused under %s', async (_, change, says) => {
    const system = new TimeSlicingSystem({ name: 'time-slicing', caller: {} });
    const folder = temporaryFolder();
    await system.prepare(runState(folder));
    const seen = description(null);
    seen.inspection.devices = [device(0, { memoryBytes: CARD, visibleMemoryBytes: CARD, ...change })];
    const { invalid } = await system.attest(seen, {
      phase: 'process',
      tenant: { id: 0 },
      probe: null,
      path: 'runtime',
    });
    await system.teardown();
    expect(invalid).toMatch(says);
  });

  it('reads the policy of its GPU', () => {
    const answer =
      '| GPU compute policies: |\n| GPU     Name             Value   |\n|  0      timeslice        Default |\n|  1      timeslice        Long |';
    expect([0, 1, 2].map((index) => sliceIn(answer, index))).toEqual(['default', 'long', null]);
  });
});
