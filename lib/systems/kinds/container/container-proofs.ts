/** Whether a worker is in its container, as this machine sees it from outside. */
import { existsSync } from 'node:fs';
import { type Container, type FirstProcess, firstProcess, namespacesOf } from '../../../workers/container/container.js';
import type { Description } from '../../../workers/description.js';
import { advice, measuredDevice } from '../../proof/attestation.js';
import type { Finding } from '../../proof/proof-finding.js';
import { sha256 } from '../../proof/file-hash.js';
import { parseVariable } from '../../proof/ld-preload.js';
import type { TrueGpu } from '../../system.js';

const OUTSIDE = 'in a container, by its namespaces seen from outside';

/** `container`: the one whose name the worker has in its environment; undefined where none of ours has it. */
export async function inContainer(
  description: Description,
  container: Container | undefined,
  runtime: string,
): Promise<Finding[]> {
  const help = 'Check that the runtime starts a container of its own: its options may share everything with the host.';
  if (!container)
    return [{ proof: OUTSIDE, passed: false, detail: 'the worker names no container of this run', advice: help }];
  const first = await container.find();
  if (first === null)
    return [
      {
        proof: OUTSIDE,
        passed: null,
        detail: `the first process of container ${container.id ?? container.name} cannot be seen from here`,
      },
    ];
  const own = namespacesOf('self');
  const different = [...first.namespaces].flatMap(([kind, link]) => (own.get(kind) === link ? [] : [kind]));
  const detail = `container ${container.id ?? container.name} of ${runtime}, PID ${first.pid}: own namespaces ${different.join(', ') || 'none'}`;
  return [
    { proof: OUTSIDE, passed: different.includes('mnt'), detail, advice: help },
    ofContainer(description, first, different.includes('pid')),
    ownCgroup(first.cgroup, container.id),
  ];
}

/** A command before the worker may have started it as another process than the first. */
function ofContainer({ pid }: Description, first: FirstProcess, isPrivate: boolean): Finding {
  const proof = 'the worker is in this container';
  if (isPrivate)
    return { proof, passed: pid === 1 ? true : null, detail: `PID ${pid} in the container's own PID namespace` };
  const mounts = firstProcess(pid)?.namespaces.get('mnt') ?? null;
  const passed = mounts === null ? null : mounts === first.namespaces.get('mnt');
  return { proof, passed, detail: `PID ${pid} has mount namespace ${mounts ?? 'unknown'}` };
}

/** Runtimes can be told to make none. */
function ownCgroup(cgroup: string, id: string | null): Finding {
  const proof = 'cgroup of the container';
  const line = cgroup.split('\n').find((text) => id !== null && text.includes(id));
  if (line === undefined) return { proof, passed: null, detail: 'no cgroup of its process bears its ID' };
  return { proof, passed: true, detail: line.split(':').slice(2).join(':') };
}

/** What is preloaded inside is what is preloaded outside. */
export async function sameFiles({ container }: Description, environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const outside = parseVariable(environment.LD_PRELOAD ?? '').filter((path) => existsSync(path));
  return Promise.all(
    outside.map(async (path) => {
      const here = await sha256(path);
      const there = container?.files.find((file) => file.path === path)?.sha256 ?? null;
      return {
        proof: `SHA-256 of ${path} inside`,
        passed: here !== null && here === there,
        detail: here === there ? `${there}` : `${there ?? 'it is not there'}, outside ${here ?? 'it cannot be read'}`,
        advice: 'Mount the file itself: the image may hold another one at this path.',
      };
    }),
  );
}

/** CDI and hooks can give a container more GPUs, or another one, than was asked for. */
export function sameGpu(description: Description, gpu: TrueGpu): Finding {
  const { devices } = description.inspection;
  const found = measuredDevice(description, gpu);
  const all = devices.map(({ uuid }) => uuid).join(', ') || 'no GPU';
  return {
    proof: 'the GPU inside is the GPU outside',
    passed: found !== undefined,
    detail: found ? `${gpu.uuid}, ${devices.length} in the container` : `inside: ${all}; outside: ${gpu.uuid}`,
    advice: advice.noDevice,
  };
}
