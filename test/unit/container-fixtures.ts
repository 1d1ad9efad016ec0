import type { ContainerRequest, ContainerSource, RuntimeKind } from '../../lib/workers/container/container-type.js';

export const source = (kind: RuntimeKind, change: Partial<ContainerSource> = {}): ContainerSource => ({
  runtime: { kind, program: `/usr/bin/${kind}`, options: [] },
  from: kind === 'oci' ? { bundle: '/bundle' } : { image: 'localhost/x:1' },
  gpu: { by: 'none' },
  pid: 'host',
  ipc: 'host',
  network: 'host',
  args: [],
  ...change,
});

export const request = (change: Partial<ContainerRequest> = {}): ContainerRequest => ({
  name: 'gvb-1',
  command: ['/bin/node', '--flag', 'main.js'],
  environment: { A: 'b' },
  cwd: '/',
  mounts: [],
  interactive: true,
  files: { id: '/run/1.id', pid: '/run/1.pid', bundle: '/run/1.bundle', log: '/run/1.log' },
  ...change,
});
