/** The command lines of docker, podman and nerdctl, which agree on most. Argument lists; no shell reads them. */
import { BenchError } from '../../errors/bench-error.js';
import type { ContainerRequest, ContainerSource, GpuAccess, Mount, RuntimeKind } from './container-type.js';

/** Value of `--mount`, which is a line of CSV. */
const mountOption = ({ source, target, readOnly }: Mount): string =>
  `--mount=type=bind,source=${source},target=${target}${readOnly ? ',readonly' : ''}`;

/** Why a path cannot be in a mount, or null: these characters end a field or a line of the CSV. */
export const unmountable = (path: string): string | null =>
  /[,"\p{Cc}]/u.test(path) ? 'runtimes read no path with a comma, a quotation mark or a control character' : null;

/**
 * The client of a runtime is the coordinator's: a variable that is secret reaches it by its environment, and stands on no
 * command line, where every user of the machine could read it.
 */
export function engineCommand(
  { runtime, from, gpu, pid, ipc, network, args }: ContainerSource,
  request: ContainerRequest,
  isSecret: (name: string) => boolean,
): { argv: string[]; passed: Record<string, string> } {
  if (!('image' in from)) throw new BenchError('SYSTEM', `${runtime.kind} starts images, not bundles.`);
  const { kind } = runtime;
  const variables = Object.entries(request.environment);
  const options = [
    // What is removed by itself cannot be checkpointed.
    request.stays ? '--detach' : '--rm',
    // Nothing is fetched while something is measured.
    '--pull=never',
    `--name=${request.name}`,
    `--cidfile=${request.files.id}`,
    ...(kind === 'docker' ? [] : [`--pidfile=${request.files.pid}`]),
    ...(request.interactive ? ['--interactive'] : []),
    // Without this, the image's own entry point would be measured too.
    '--entrypoint=',
    `--workdir=${request.cwd}`,
    `--network=${network}`,
    ...(pid === 'host' ? ['--pid=host'] : []),
    ...(ipc === 'host' ? ['--ipc=host'] : []),
    ...particulars[kind as keyof typeof particulars],
    ...(request.stays ? ['--log-driver=k8s-file', `--log-opt=path=${request.files.log}`] : []),
    ...gpuOptions(kind, gpu),
    ...request.mounts.map(mountOption),
    ...variables.map(([name, value]) => (isSecret(name) ? `--env=${name}` : `--env=${name}=${value}`)),
    ...args,
  ];
  return {
    argv: [runtime.program, ...runtime.options, 'run', ...options, from.image, ...request.command],
    passed: Object.fromEntries(variables.filter(([name]) => isSecret(name))),
  };
}

/**
 * Without a log of their own, which a program that prints a lot would fill. SELinux would refuse the mounted files. What is
 * removed by force has had its time to end.
 */
const particulars = {
  docker: ['--log-driver=none', '--security-opt=label=disable'],
  podman: ['--stop-timeout=0', '--log-driver=none', '--security-opt=label=disable', '--http-proxy=false'],
  nerdctl: [],
} as const;

function gpuOptions(kind: RuntimeKind, gpu: GpuAccess): string[] {
  if (gpu.by === 'none') return [];
  if (gpu.by === 'cdi') return [`--device=${gpu.device}`];
  if (gpu.by === 'devices') return gpu.nodes.map((node) => `--device=${node}`);
  // podman runs the hooks of /usr/share/containers/oci/hooks.d, which read these variables.
  if (kind === 'podman') return Object.entries(hookVariables(gpu.gpu)).map(([name, value]) => `--env=${name}=${value}`);
  return [`--gpus=device=${gpu.gpu}`];
}

/** What the hook of the NVIDIA container toolkit reads. */
export const hookVariables = (gpu: string): Record<string, string> => ({
  NVIDIA_VISIBLE_DEVICES: gpu,
  NVIDIA_DRIVER_CAPABILITIES: 'compute,utility',
});
