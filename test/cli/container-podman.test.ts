/**
 * Real containers on the simulated card: podman and runc, an image and a bundle made of busybox and the C library of this
 * machine, no registry. The storage of podman is in a folder of the test.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyFolder, parseComparison, root, start } from './command.js';
import { onOneProcessor } from '../processors.js';
import { makeRoot, withoutCriu, withoutPodman } from './containers.js';

const cannot = withoutPodman('systems of kind container with podman and runc');
// This machine's cgroups may be of both versions, which crun refuses, and it may let nobody raise a limit.
const limits = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024'];
const IMAGE = 'localhost/gvb-test:1';
const HOST_IMAGE = 'localhost/gvb-host:1';

describe.skipIf(cannot)('podman and runc', () => {
  const folder = emptyFolder();
  const bundle = join(folder, 'bundle');
  const rootfs = join(bundle, 'rootfs');
  const storage = [
    ...['root', 'runroot', 'tmpdir'].map((name) => `--${name}=${join(folder, name)}`),
    ...['--storage-driver=vfs', '--cgroup-manager=cgroupfs', '--runtime=runc', '--events-backend=none'],
  ];
  const podman = (...args: string[]) => execFileSync('podman', [...storage, ...args], { encoding: 'utf8' });

  beforeAll(() => {
    makeRoot(rootfs);
    const archive = join(folder, 'image.tar');
    execFileSync('tar', ['-C', rootfs, '-cf', archive, '.']);
    podman('import', '--quiet', archive, IMAGE);
  });
  afterAll(() => void podman('rmi', '--force', IMAGE, HOST_IMAGE));

  it('find the folders of the host in the image that studies/containers.mjs writes', () => {
    const made = emptyFolder();
    execFileSync(process.execPath, [join(root, 'studies/containers.mjs'), made]);
    podman('import', '--quiet', join(made, 'image.tar'), HOST_IMAGE);
    const env = { ...process.env, CONTAINERS_CONF: join(made, 'containers.conf') };
    const run = [...storage, 'run', '--rm', '--pull=never', '--network=none', HOST_IMAGE];
    const inside = (...argv: string[]) => execFileSync('podman', [...run, ...argv], { encoding: 'utf8', env }).trim();
    expect(inside('ls', '-A', '/usr').split('\n').sort()).toEqual(readdirSync('/usr').sort());
    expect(inside('printenv', 'PATH')).toBe(process.env.PATH);
  });

  it('run workers and programs in containers of their own, and leave nothing', async () => {
    const before = readdirSync(rootfs, { recursive: true });
    const config = join(folder, 'systems.yaml');
    const named = [
      'native',
      { kind: 'container', name: 'podman', runtime: 'podman', runtimeOptions: storage, args: limits, image: IMAGE },
      { kind: 'container', name: 'runc', runtime: 'runc', bundle },
    ];
    const script = 'echo here; while [ ! -e /proc/self/none ] && [ $((n=n+1)) -lt 300 ]; do sleep 0.001; done';
    const workloads = [{ name: 'shell', argv: ['/bin/busybox', 'sh', '-c', script], warmup: 0, iterations: 1 }];
    writeFileSync(config, JSON.stringify({ systems: named, workloads }));
    const output = join(folder, 'out');
    const options = ['--simulate', '--rounds', '1', '--config', config, '--output', output, '--json', '-'];
    const { code, stdout } = await start(['exec', ...options]).done;
    const { systems } = parseComparison(stdout);
    // What the monitor reads of so short a run is known only where the machine is slow.
    const slow = ['shell/energy', 'shell/gpu-throttled'];
    const reasons = systems.map(([round]) =>
      round?.metrics.filter(({ id }) => !slow.includes(id)).map(({ id, reason }) => reason && `${id}: ${reason}`),
    );
    expect(reasons).toEqual(
      systems.map(() => [undefined, expect.stringContaining('gpu-memory'), undefined, undefined]),
    );
    expect(code).toBe(0);
    for (const [name, round] of systems.slice(1).map((rounds) => [rounds[0]?.system.name, rounds[0]] as const)) {
      const { attestation = [], processes } = round?.system ?? {};
      expect(attestation.filter(({ passed }) => !passed)).toEqual([]);
      const outside = attestation.find(({ proof }) => proof.startsWith('in a container'))?.detail;
      expect(outside).toMatch(
        new RegExp(`^container (gvb-|[0-9a-f]{64}).* of ${name}, PID \\d+: own namespaces .*mnt`),
      );
      expect(processes).toEqual({ proven: 1, of: 1 });
    }
    expect(podman('ps', '--all', '--quiet')).toBe('');
    expect(execFileSync('runc', ['list', '--quiet'], { encoding: 'utf8' })).not.toContain('gvb-');
    expect(readdirSync(rootfs, { recursive: true })).toEqual(before);
  });

  it.skipIf(withoutCriu('checkpoints of containers by podman'))('checkpoint a program and restore it', async () => {
    const config = join(folder, 'checkpoint.yaml');
    const boxed = { kind: 'container', runtime: 'podman', runtimeOptions: storage, args: limits, image: IMAGE };
    const script = 'while :; do n=$((n+1)); echo "step $n"; sleep 0.05; done';
    const workload = {
      ...{ name: 'shell', argv: ['/bin/busybox', 'sh', '-c', script], ready: { line: 'step 3' }, stopAfter: 0.2 },
      ...{ warmup: 0, iterations: 1, checkpoint: { repeat: 2, answer: { line: 'step' } } },
    };
    writeFileSync(config, JSON.stringify({ systems: [{ ...boxed, pid: 'host' }], workloads: [workload] }));
    const output = join(folder, 'checkpointed');
    const options = ['--simulate', '--rounds', '1', '--config', config, '--output', output, '--json', '-'];
    const { code, stdout } = await start(['exec', ...options]).done;
    const result = (key: string) =>
      parseComparison(stdout).systems[0]?.[0]?.metrics.find(({ id }) => id === `shell/${key}`);
    for (const key of ['checkpoint-time', 'restore-time', 'restore-answer'])
      expect(result(key)).toMatchObject({ status: 'ok' });
    expect(code).toBe(0);
    const log = readdirSync(output, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('1.stdout'));
    const lines = readFileSync(join(output, log ?? ''), 'utf8')
      .trim()
      .split('\n');
    expect(lines).toEqual(lines.map((_, index) => `step ${index + 1}`));
    expect(podman('ps', '--all', '--quiet')).toBe('');
  });

  const oneProcessor = onOneProcessor('the example of containers, whose program maps the clock of a device');

  it.skipIf(oneProcessor)('run the example of containers, without its emptied page cache', async () => {
    const config = join(folder, 'containers.yaml');
    const own = `gpu: none, runtimeOptions: ${JSON.stringify(storage)}, args: ${JSON.stringify(limits)}`;
    const text = readFileSync(join(root, 'examples/containers.yaml'), 'utf8')
      .replaceAll('localhost/cuda:12', IMAGE)
      .replaceAll(/gpu: (cdi|hook)/g, own)
      .replace('[node, programs/', `[${process.execPath}, ${root}/examples/programs/`)
      .replace(/^ *setup: .*drop_caches.*$/m, '');
    writeFileSync(config, text);
    const few = ['--simulate', '--rounds', '1', '--warmup', '0', '--iterations', '1', '--seed', '1'];
    const running = start(['exec', ...few, '--config', config, '--output', join(folder, 'example'), '--json', '-']);
    const { code, stdout } = await running.done;
    const { systems } = parseComparison(stdout);
    for (const [round] of systems)
      for (const name of ['warm-start', 'cold-start', 'first-kernel'])
        for (const key of ['wall', 'cpu', 'host-memory'])
          expect(round?.metrics.find(({ id }) => id === `${name}/${key}`)).toMatchObject({ status: 'ok' });
    expect({ code, systems: systems.length }).toEqual({ code: 0, systems: 3 });
    expect(podman('ps', '--all', '--quiet')).toBe('');
  });
});
