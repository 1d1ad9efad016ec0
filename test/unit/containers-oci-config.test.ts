import { describe, expect, it } from 'vitest';
import { defaultConfig, ociConfig, type OciConfig } from '../../lib/workers/container/oci-config.js';
import { deviceNumbers, deviceOf } from '../../lib/workers/container/oci-edits.js';
import { request, source } from './container-fixtures.js';

const base = defaultConfig('/bundle/rootfs');
const typesOf = ({ linux }: OciConfig) => linux?.namespaces?.map(({ type }) => type).sort();

describe('the configuration of an OCI bundle', () => {
  it('runs the command in the root file system with its environment and mounts', () => {
    const mounts = [{ source: '/package', target: '/package', readOnly: true }];
    const config = ociConfig(source('oci'), request({ mounts, cwd: '/work' }), base);
    expect(config).toMatchObject({
      root: { path: '/bundle/rootfs' },
      process: { terminal: false, args: ['/bin/node', '--flag', 'main.js'], cwd: '/work', noNewPrivileges: true },
    });
    expect(config.process.env).toEqual([
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'HOME=/root',
      'A=b',
    ]);
    expect(config.mounts?.at(-1)).toEqual({
      ...{ destination: '/package', type: 'bind', source: '/package' },
      options: ['rbind', 'ro'],
    });
  });

  it('shares with the host what it is told to share', () => {
    expect(typesOf(ociConfig(source('oci'), request(), base))).toEqual(['mount', 'uts']);
    const own = ociConfig(source('oci', { pid: 'private', ipc: 'private', network: 'none' }), request(), base);
    expect(typesOf(own)).toEqual(['ipc', 'mount', 'network', 'pid', 'uts']);
    const shm = (config: OciConfig) => config.mounts?.find(({ destination }) => destination === '/dev/shm')?.type;
    expect([shm(own), shm(ociConfig(source('oci'), request(), base))]).toEqual(['tmpfs', 'bind']);
  });

  it("keeps the rest of the bundle's own", () => {
    const given: OciConfig = {
      ociVersion: '1.1.0',
      root: { path: '/mine', readonly: true },
      process: { user: { uid: 7 }, args: ['sh'], env: ['A=image', 'B=image'], cwd: '/x', terminal: true },
      hooks: { poststop: [{ path: '/bin/stop' }] },
      linux: { namespaces: [{ type: 'mount' }, { type: 'user' }, { type: 'pid' }], seccomp: { x: 1 } },
    };
    const config = ociConfig(source('oci'), request(), given);
    expect(config).toMatchObject({
      ociVersion: '1.1.0',
      root: { path: '/mine', readonly: true },
      process: { user: { uid: 7 }, env: ['A=b', 'B=image'], terminal: false },
      hooks: { poststop: [{ path: '/bin/stop' }] },
      linux: { seccomp: { x: 1 } },
    });
    expect(typesOf(config)).toEqual(['mount', 'user', 'uts']);
    // The given object is not changed.
    expect(given.process.args).toEqual(['sh']);
  });

  it('applies what a CDI specification says', () => {
    const edits = {
      env: ['NVIDIA_VISIBLE_DEVICES=void'],
      deviceNodes: [{ path: '/dev/nvidia0', hostPath: '/dev/null', permissions: 'rwm' }],
      mounts: [{ hostPath: '/lib/libcuda.so', containerPath: '/usr/lib/libcuda.so', options: ['ro'] }],
      hooks: [{ hookName: 'createContainer', path: '/usr/bin/nvidia-cdi-hook', args: ['nvidia-cdi-hook', 'x'] }],
    };
    const gpu = { by: 'cdi' as const, device: 'nvidia.com/gpu=0', edits: [edits] };
    const config = ociConfig(source('oci', { gpu }), request(), base);
    expect(config.process.env).toContain('NVIDIA_VISIBLE_DEVICES=void');
    expect(config.linux?.devices).toEqual([{ path: '/dev/nvidia0', type: 'c', major: 1, minor: 3 }]);
    expect(config.linux?.resources?.devices).toEqual([
      { allow: false, access: 'rwm' },
      { allow: true, type: 'c', major: 1, minor: 3, access: 'rwm' },
    ]);
    expect(config.mounts).toContainEqual({
      ...{ destination: '/usr/lib/libcuda.so', type: 'bind', source: '/lib/libcuda.so' },
      options: ['ro', 'rbind'],
    });
    expect(config.hooks).toEqual({
      createContainer: [{ path: '/usr/bin/nvidia-cdi-hook', args: ['nvidia-cdi-hook', 'x'] }],
    });
  });

  it('runs the hook of the toolkit before the start', () => {
    const gpu = { by: 'hook' as const, gpu: 'GPU-1', program: '/usr/bin/nvidia-container-runtime-hook' };
    const { hooks, process } = ociConfig(source('oci', { gpu }), request(), base);
    expect(hooks?.prestart).toEqual([{ path: gpu.program, args: [gpu.program, 'prestart'] }]);
    expect(process.env).toContain('NVIDIA_VISIBLE_DEVICES=GPU-1');
  });

  it('knows the numbers of a device as makedev(3) joins them', () => {
    expect(deviceNumbers(0x103n)).toEqual({ major: 1, minor: 3 });
    // 195 and 255: /dev/nvidiactl.
    expect(deviceNumbers(0xc3ffn)).toEqual({ major: 195, minor: 255 });
    expect(deviceNumbers((0x12345n << 20n) | (0x1ffn << 8n) | 0x67n)).toEqual({
      major: 0x1ff,
      minor: (0x1234567 & ~0xff) | 0x67,
    });
    expect(() => deviceOf('/etc/passwd')).toThrow('/etc/passwd is not a device node');
  });
});
