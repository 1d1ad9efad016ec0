import { expect, it } from 'vitest';
import { ContainerLauncher } from '../../../lib/workers/container/container-launcher.js';
import { source } from '../container-fixtures.js';
import { temporaryFolder } from '../../temporary.js';

it('forgets a program that can be checkpointed when it is removed', async () => {
  const kept = { failure: null, fromNs: 0, toNs: 0 };
  const removed: string[] = [];
  const launcher = new ContainerLauncher({
    source: source('podman'),
    prefix: 'gvb-test-',
    directory: temporaryFolder('launcher'),
    clientEnvironment: {},
    mounts: [],
    isSecret: () => false,
    // The container was made, and its first process is this one.
    ask: () => Promise.resolve({ exit: 0, output: `true ${process.pid}\n` }),
    onMountPoints: () => {},
    keeping: {
      checkpoint: () => Promise.resolve(kept),
      restore: () => Promise.resolve(kept),
      remove: (name) => Promise.resolve(removed.push(name)).then(() => kept),
    },
    refusal: () => Promise.resolve(null),
    gpuRefusal: () => Promise.resolve(null),
  });
  const program = launcher.restorable.start(['/bin/true'], { environment: {} });
  const { name } = program.where();
  expect(launcher.container(name)).toBe(program.where());
  expect(await program.remove()).toBeNull();
  expect(removed).toEqual([name]);
  expect(launcher.container(name)).toBeUndefined();
  await program.done;
});
