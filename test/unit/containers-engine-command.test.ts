import { describe, expect, it } from 'vitest';
import { engineCommand, unmountable } from '../../lib/workers/container/engine-command.js';
import type { GpuAccess, RuntimeKind } from '../../lib/workers/container/container-type.js';
import { request, source } from './container-fixtures.js';

const isSecret = (name: string) => name.includes('KEY');
const argv = (...[kind, change, asked]: [RuntimeKind, Parameters<typeof source>[1]?, Parameters<typeof request>[0]?]) =>
  engineCommand(source(kind, change), request(asked), isSecret).argv;

describe('the command line of a container engine', () => {
  it('is whole for podman', () =>
    expect(
      argv(
        'podman',
        {
          runtime: { kind: 'podman', program: '/usr/bin/podman', options: ['--cgroup-manager=cgroupfs'] },
          args: ['--ulimit=nofile=1024'],
        },
        {
          cwd: '/work',
          mounts: [
            { source: '/a', target: '/a', readOnly: true },
            { source: '/b', target: '/c', readOnly: false },
          ],
        },
      ),
    ).toEqual([
      ...['/usr/bin/podman', '--cgroup-manager=cgroupfs', 'run', '--rm', '--pull=never', '--name=gvb-1'],
      ...['--cidfile=/run/1.id', '--pidfile=/run/1.pid', '--interactive', '--entrypoint=', '--workdir=/work'],
      ...['--network=host', '--pid=host', '--ipc=host', '--stop-timeout=0', '--log-driver=none'],
      ...['--security-opt=label=disable', '--http-proxy=false'],
      ...['--mount=type=bind,source=/a,target=/a,readonly', '--mount=type=bind,source=/b,target=/c'],
      ...['--env=A=b', '--ulimit=nofile=1024', 'localhost/x:1', '/bin/node', '--flag', 'main.js'],
    ]));

  it('has what docker and nerdctl know', () => {
    expect(argv('docker')).not.toContain('--pidfile=/run/1.pid');
    expect(argv('docker')).toContain('--log-driver=none');
    expect(argv('nerdctl')).toContain('--pidfile=/run/1.pid');
    expect(argv('nerdctl').some((option) => /^--(log-driver|security-opt|http-proxy)/.test(option))).toBe(false);
  });

  it('keeps namespaces of its own where they are private', () => {
    const options = argv('podman', { pid: 'private', ipc: 'private', network: 'none' });
    expect(options).toContain('--network=none');
    expect(options.filter((option) => /^--(pid|ipc)=/.test(option))).toEqual([]);
  });

  it.each<[string, RuntimeKind, GpuAccess, string[]]>([
    ['CDI', 'podman', { by: 'cdi', device: 'nvidia.com/gpu=0', edits: [] }, ['--device=nvidia.com/gpu=0']],
    [
      'the hook of podman',
      'podman',
      { by: 'hook', gpu: 'GPU-1', program: null },
      ['--env=NVIDIA_VISIBLE_DEVICES=GPU-1', '--env=NVIDIA_DRIVER_CAPABILITIES=compute,utility'],
    ],
    ['the runtime of docker', 'docker', { by: 'hook', gpu: 'GPU-1', program: null }, ['--gpus=device=GPU-1']],
    ['the runtime of nerdctl', 'nerdctl', { by: 'hook', gpu: 'GPU-1', program: null }, ['--gpus=device=GPU-1']],
    [
      'device nodes',
      'docker',
      { by: 'devices', nodes: ['/dev/nvidia0', '/dev/nvidiactl'] },
      ['--device=/dev/nvidia0', '--device=/dev/nvidiactl'],
    ],
  ])('gives the GPU by %s', (_, kind, gpu, expected) => {
    const without = argv(kind);
    expect(argv(kind, { gpu }).filter((option) => !without.includes(option))).toEqual(expected);
  });

  it('shows no secret, which the client passes on from its own environment', () => {
    const { argv: shown, passed } = engineCommand(
      source('podman'),
      request({ environment: { API_KEY: 'hush', B: 'two\nlines' } }),
      isSecret,
    );
    expect(shown).toContain('--env=API_KEY');
    expect(shown).toContain('--env=B=two\nlines');
    expect(shown.join('\n')).not.toContain('hush');
    expect(passed).toEqual({ API_KEY: 'hush' });
  });

  it('refuses paths that would end a field of a mount', () => {
    for (const path of ['/a,readonly=false', '/a"b', '/a\nb', '/a\u0007']) expect(unmountable(path)).not.toBeNull();
    for (const path of ['/a b', '/a:b', '/ä', '/-a']) expect(unmountable(path)).toBeNull();
  });
});
