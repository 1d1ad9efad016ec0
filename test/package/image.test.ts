/**
 * The image of the Containerfile, built without a network on a base of this machine's C library, from the bundle that GVB_BUNDLE names.
 * Prints its digest and size.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withoutPodman } from '../cli/containers.js';
import { emptyFolder, root } from '../cli/command.js';
import { PodmanHost } from '../kubectl/cluster.js';

const bundle = process.env.GVB_BUNDLE;
const cannot = withoutPodman('the image') || bundle === undefined;
if (bundle === undefined) console.warn('Skipped, because GVB_BUNDLE names no bundle (npm run bundle): the image.');

const IMAGE = 'localhost/gpu-virt-bench:test';

describe.skipIf(cannot)('the image', () => {
  let host: PodmanHost;
  const podman = (...args: string[]) =>
    execFileSync('podman', [...host.podman, ...args], {
      encoding: 'utf8',
      env: { ...process.env, CONTAINERS_CONF: host.containersConf },
    });
  beforeAll(() => {
    host = new PodmanHost();
  });
  afterAll(() => host.remove());

  it('measures as any user, without a network, on a root that cannot be written', () => {
    const context = join(emptyFolder(), 'context');
    mkdirSync(context);
    for (const file of [join(root, 'Containerfile'), join(root, '.containerignore'), bundle as string])
      cpSync(file, join(context, basename(file)));
    // runc in a nested container may not raise limits.
    podman('build', '--isolation=chroot', `--build-arg=BASE=${PodmanHost.IMAGE}`, `--tag=${IMAGE}`, context);
    const [digest = '', size = '', user] = podman('image', 'inspect', '--format={{.Digest}} {{.Size}} {{.User}}', IMAGE)
      .trim()
      .split(' ');
    console.info(`${IMAGE} ${digest}, ${Math.round(Number(size) / 2 ** 20)} MiB with this machine's base`);
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(user).toBe('65532:65532');
    const confined = ['--rm', '--network=none', '--read-only', '--tmpfs=/tmp', '--user=12345:12345', '--cap-drop=all'];
    const command = ['gpu-virt-bench', 'run', 'OH-002', '--iterations', '20', '--json', '-'];
    const document = JSON.parse(podman('run', ...confined, '--entrypoint=', IMAGE, ...command)) as {
      metrics: { status: string }[];
    };
    expect(document.metrics[0]?.status).toBe('ok');
    // The default paths of pods as systems.
    expect(podman('run', ...confined, '--entrypoint=', IMAGE, '/opt/gpu-virt-bench/node', '--version')).toMatch(
      /^v\d+/,
    );
  });
});
