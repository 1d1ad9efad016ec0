/** What a container runtime is asked for: the same for all runtimes. */
import type { OciEdits } from './oci-edits.js';

/** `oci`: runc, crun or another with their command line, which starts an OCI bundle. */
export type RuntimeKind = 'docker' | 'podman' | 'nerdctl' | 'oci';

export interface Runtime {
  kind: RuntimeKind;
  /** Absolute. */
  program: string;
  /** Options before the subcommand in every call, e.g. `--cgroup-manager=cgroupfs`. */
  options: readonly string[];
}

/** Absolute paths. */
export interface Mount {
  source: string;
  target: string;
  readOnly: boolean;
}

export type GpuAccess =
  | { by: 'none' }
  /** A CDI device, e.g. `nvidia.com/gpu=0`; `edits`: what its specification says, for runtimes that do not read it. */
  | { by: 'cdi'; device: string; edits: readonly OciEdits[] }
  /** The hook or runtime of the NVIDIA container toolkit. `program`: the hook, for runtimes that must be told. */
  | { by: 'hook'; gpu: string; program: string | null }
  /** Device nodes. */
  | { by: 'devices'; nodes: readonly string[] };

/** Where containers of one system come from. */
export interface ContainerSource {
  runtime: Runtime;
  /** An image, or the folder of a bundle. */
  from: { image: string } | { bundle: string };
  gpu: GpuAccess;
  pid: 'host' | 'private';
  ipc: 'host' | 'private';
  network: 'host' | 'none';
  /** Further options of `run`. */
  args: readonly string[];
}

/** One container. */
export interface ContainerRequest {
  name: string;
  command: readonly string[];
  /** The whole environment but for what the image sets. */
  environment: Readonly<Record<string, string>>;
  cwd: string;
  mounts: readonly Mount[];
  /** Whether it reads stdin. */
  interactive: boolean;
  files: RuntimeFiles;
  /** Whether it stays, and its output is in a file, so that it can be checkpointed. For podman alone. */
  stays?: boolean;
}

/** Files that the runtime needs for one container until it has ended. */
export interface RuntimeFiles {
  /** Written by the runtime: its ID, and the PID of its first process as this machine sees it. */
  id: string;
  pid: string;
  /** A folder for its OCI bundle. */
  bundle: string;
  /** Output of a container that stays. */
  log: string;
}
