import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deviceOfGpu, readCdi } from '../../lib/systems/kinds/container/cdi.js';
import { gpuAccess } from '../../lib/systems/kinds/container/container-gpu.js';
import { endingInside, isRemoved } from '../../lib/workers/container/container-process.js';
import { missingMountPoints, removeMountPoints } from '../../lib/workers/container/mount-points.js';
import { temporaryFolder } from '../temporary.js';
import { gpu } from './systems/fixtures.js';

describe('CDI specifications', () => {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'nvidia.yaml'),
    'cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ncontainerEdits: { env: [A=b] }\ndevices:\n  - name: 0\n    containerEdits:\n      deviceNodes: [{ path: /dev/nvidia0 }]\n  - name: GPU-1\n    containerEdits: {}\n',
  );
  writeFileSync(join(folder, 'broken.json'), '{"kind": "x"}');
  writeFileSync(join(folder, 'bomb.yaml'), `a: &a [x]\nb: &b [${'*a,'.repeat(60)}*a]\nkind: [${'*b,'.repeat(60)}*b]\n`);
  writeFileSync(join(folder, 'other.txt'), 'kind: nothing');
  const cdi = readCdi([folder, join(folder, 'absent')]);

  it('name devices and what they add, and those that cannot be read', () => {
    expect([...cdi.devices.keys()]).toEqual(['nvidia.com/gpu=0', 'nvidia.com/gpu=GPU-1']);
    expect(cdi.devices.get('nvidia.com/gpu=0')).toMatchObject([
      { env: ['A=b'] },
      { deviceNodes: [{ path: '/dev/nvidia0' }] },
    ]);
    expect(cdi.unread.map((text) => text.slice(folder.length + 1, folder.length + 6))).toEqual(['bomb.', 'broke']);
  });

  it('have a GPU by its UUID before its index', () => {
    expect(deviceOfGpu(cdi, { uuid: 'GPU-1', index: 0 })).toBe('nvidia.com/gpu=GPU-1');
    expect(deviceOfGpu(cdi, { uuid: 'GPU-2', index: 0 })).toBe('nvidia.com/gpu=0');
    expect(deviceOfGpu(cdi, { uuid: 'GPU-2', index: 2 })).toBeNull();
  });
});

describe('the GPU of a container', () => {
  const runtime = { name: 'crun', kind: 'oci' as const, program: '/usr/bin/crun', options: [] };
  const run = { gpu, target: { simulatedDriver: null } };

  it('is refused with what to install where the hook is missing', async () =>
    expect(
      (await gpuAccess({ gpu: { by: 'hook', device: null, nodes: [] }, runtime, caller: { PATH: '/nowhere' } }, run))
        .refused,
    ).toBe('nvidia-container-runtime-hook is not in PATH. Install the NVIDIA container toolkit, or use gpu: cdi.'));

  it('is refused where no specification has it', async () => {
    const device = 'vendor.example/gpu=none';
    const { access, refused } = await gpuAccess({ gpu: { by: 'cdi', device, nodes: [] }, runtime, caller: {} }, run);
    expect(access).toEqual({ by: 'none' });
    expect(refused).toMatch(/^no CDI specification in .* has vendor\.example\/gpu=none\. Make it with nvidia-ctk/);
  });

  it('is refused where a device node is missing', async () => {
    const nodes = ['/dev/null', '/dev/nvidia-none'];
    const { refused } = await gpuAccess({ gpu: { by: 'devices', device: null, nodes }, runtime, caller: {} }, run);
    expect(refused).toMatch(/^\/dev\/nvidia-none is not there/);
  });

  it('is none by default on a simulated card', async () =>
    expect(
      await gpuAccess(
        { gpu: { by: null, device: null, nodes: [] }, runtime, caller: {} },
        {
          gpu,
          target: { simulatedDriver: '/sim' },
        },
      ),
    ).toEqual({ access: { by: 'none' }, refused: null }));
});

describe('mount points in a root file system', () => {
  it('are removed where they were not there before and are empty', () => {
    const root = temporaryFolder();
    const outside = temporaryFolder();
    mkdirSync(join(root, 'usr'));
    symlinkSync(outside, join(root, 'link'));
    const targets = ['/usr/lib/x.so', '/work/a', '/work/b', '/link/made', '/usr'];
    const missing = missingMountPoints(root, targets);
    expect(missing.map((path) => path.slice(root.length)).sort()).toEqual(
      ['/link/made', '/usr/lib', '/usr/lib/x.so', '/work', '/work/a', '/work/b'].sort(),
    );
    for (const path of ['usr/lib', 'work/a', 'work/b', 'link/made']) mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, 'usr/lib/x.so'), '');
    writeFileSync(join(root, 'work/b/data'), 'of the user');
    removeMountPoints(missing);
    const left = (path: string) => existsSync(join(root, path));
    expect(['usr', 'usr/lib', 'work/a', 'work/b/data', 'link'].map(left)).toEqual([true, false, false, true, true]);
    // A link may lead anywhere.
    expect(existsSync(join(outside, 'made'))).toBe(true);
  });
});

describe('the end of a process in a container', () => {
  const podman = { kind: 'podman' as const, program: '/usr/bin/podman', options: [] };
  const exit = (exitCode: number) => ({ how: `ended with exit code ${exitCode}`, exitCode, signal: null });

  it.each([
    [3, { how: 'ended with exit code 3', exitCode: 3, signal: null }],
    [137, { how: 'was killed by SIGKILL', exitCode: null, signal: 'SIGKILL' }],
    [125, { how: 'could not be started (exit code 125 of /usr/bin/podman)', exitCode: 125 }],
    [127, { how: expect.stringContaining('the program is not in the image'), exitCode: 127 }],
    [250, { exitCode: 250 }],
  ])('is read from exit code %i', (code, ending) => expect(endingInside(exit(code), podman)).toMatchObject(ending));

  it('of a plain runtime is that of the program', () =>
    expect(endingInside(exit(127), { ...podman, kind: 'oci' })).toEqual(exit(127)));

  it('leaves nothing only where the client itself said so', () => {
    expect([0, 3, 124].map((code) => isRemoved(exit(code)))).toEqual([true, true, true]);
    expect([125, 137].map((code) => isRemoved(exit(code)))).toEqual([false, false]);
    expect(isRemoved({ how: 'was killed by SIGKILL', exitCode: null, signal: 'SIGKILL' })).toBe(false);
  });
});
