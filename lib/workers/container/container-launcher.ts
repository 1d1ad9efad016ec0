/** Starts processes in containers, each in one of its own, by the command line of a runtime. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { BenchError } from '../../errors/bench-error.js';
import type { Launcher, LaunchOptions, RemoteCommand, RestorableStart } from '../launcher.js';
import { local } from '../local.js';
import { type Ask, Container } from './container.js';
import { ContainerProcess } from './container-process.js';
import { ContainerProgram, type Keeping } from './container-program.js';
import type { ContainerRequest, ContainerSource, Mount } from './container-type.js';
import { missingMountPoints } from './mount-points.js';
import { engineCommand } from './engine-command.js';
import { CONTAINER_VARIABLE } from './container-variable.js';
import { defaultConfig, ociConfig, type OciConfig } from './oci-config.js';

interface ContainerPlace {
  source: ContainerSource;
  /** How the names of its containers begin. */
  prefix: string;
  /** Private folder for files of the runtime; not mounted. */
  directory: string;
  /** Environment of the runtime's client. */
  clientEnvironment: Readonly<Record<string, string>>;
  /** Mounts of every container. */
  mounts: readonly Mount[];
  isSecret: (variable: string) => boolean;
  ask: Ask;
  /** Told what a container makes in the root file system of a bundle. */
  onMountPoints: (paths: readonly string[]) => void;
  keeping: Keeping;
  /** Why programs cannot be checkpointed: all, and those with state on the GPU. */
  refusal: RestorableStart['refusal'];
  gpuRefusal: RestorableStart['gpuRefusal'];
}

export class ContainerLauncher implements Launcher {
  readonly name = 'container';
  /** Containers have the clock of their machine. */
  readonly clockOffsetNs = 0;
  readonly #place: ContainerPlace;
  readonly #living = new Map<string, Container>();
  #count = 0;

  constructor(place: ContainerPlace) {
    this.#place = place;
  }

  /** Files that are mounted are where they are outside. */
  pathOf(file: string): string {
    return file;
  }

  start(command: readonly string[], { environment }: LaunchOptions): ContainerProcess {
    const { argv, client, container } = this.#made(command, { environment, cwd: '/', interactive: true, mounts: [] });
    const process = new ContainerProcess(
      local.start(argv, { environment: client, cwd: '/' }),
      container,
      this.#place.source.runtime,
    );
    void process.ended.then(() => this.#living.delete(container.name));
    return process;
  }

  /** `cwd` is mounted where it is; a program may write there. */
  remote(command: readonly string[], { environment, cwd = '/' }: LaunchOptions): RemoteCommand {
    const how = { environment, cwd, interactive: false, mounts: mountsOf(cwd) };
    const { argv, client, container } = this.#made(command, how);
    const { kind } = this.#place.source.runtime;
    return {
      argv,
      environment: client,
      where: () => container,
      // The others are children of a daemon.
      isParent: kind === 'podman' || kind === 'oci',
      remove: async () => {
        this.#living.delete(container.name);
        return container.remove();
      },
    };
  }

  get restorable(): RestorableStart {
    const { refusal, gpuRefusal } = this.#place;
    return { refusal, gpuRefusal, start: (command, options) => this.#restorable(command, options) };
  }

  #restorable(command: readonly string[], { environment, cwd = '/' }: LaunchOptions): ContainerProgram {
    const { source, ask } = this.#place;
    const keeping: Keeping = { ...this.#place.keeping, remove: (name) => this.#removed(name) };
    const how = { environment, cwd, interactive: false, mounts: mountsOf(cwd), stays: true };
    const { argv, passed, container, files } = this.#made(command, how);
    const own = argv.slice(1 + source.runtime.options.length);
    return new ContainerProgram({ container, log: files.log, start: () => ask(own, passed), ask, keeping });
  }

  #removed(name: string): ReturnType<Keeping['remove']> {
    this.#living.delete(name);
    return this.#place.keeping.remove(name);
  }

  /** A running container by name. */
  container(name: string): Container | undefined {
    return this.#living.get(name);
  }

  #made(
    command: readonly string[],
    { environment, ...how }: Pick<ContainerRequest, 'cwd' | 'interactive' | 'mounts' | 'stays'> & LaunchOptions,
  ) {
    const { source, prefix, directory, clientEnvironment, isSecret, ask } = this.#place;
    const name = `${prefix}${++this.#count}`;
    const inside = Object.entries({ ...environment, [CONTAINER_VARIABLE]: name });
    const file = (kind: string) => join(directory, `${name}.${kind}`);
    const request: ContainerRequest = {
      ...how,
      name,
      command,
      environment: Object.fromEntries(inside.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))),
      mounts: [...this.#place.mounts, ...how.mounts],
      files: { id: file('id'), pid: file('pid'), bundle: file('bundle'), log: file('log') },
    };
    const { argv, passed } =
      'bundle' in source.from
        ? this.#bundleCommand(request, source.from.bundle)
        : engineCommand(source, request, isSecret);
    const container = new Container(name, source.runtime, request.files, ask);
    this.#living.set(name, container);
    return { argv, client: { ...clientEnvironment, ...passed }, passed, container, files: request.files };
  }

  #bundleCommand(request: ContainerRequest, bundle: string) {
    const { source, onMountPoints } = this.#place;
    const { program, options } = source.runtime;
    const { pid, bundle: own } = request.files;
    const config = ociConfig(source, request, readBundle(bundle));
    const targets = config.mounts?.map(({ destination }) => destination) ?? [];
    const made = missingMountPoints(config.root.path, targets);
    if (made.length > 0) onMountPoints(made);
    mkdirSync(own, { mode: 0o700 });
    writeFileSync(join(own, 'config.json'), JSON.stringify(config), { mode: 0o600 });
    const run = ['run', '--bundle', own, '--pid-file', pid, ...source.args, request.name];
    return { argv: [program, ...options, ...run], passed: {} };
  }
}

/** The root folder is never mounted as a program's working directory. */
const mountsOf = (cwd: string): Mount[] => (cwd === '/' ? [] : [{ source: cwd, target: cwd, readOnly: false }]);

/** The configuration with an absolute root. Throws if the folder is not a bundle. */
export function readBundle(bundle: string): OciConfig {
  let text: string;
  try {
    text = readFileSync(join(bundle, 'config.json'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return defaultConfig(realpathSync(join(bundle, 'rootfs')));
  }
  const config = JSON.parse(text) as OciConfig;
  const path: unknown = (config as Partial<OciConfig> | null)?.root?.path;
  if (typeof path !== 'string' || typeof config.process !== 'object')
    throw new BenchError(
      'SYSTEM',
      `${basename(bundle)}/config.json has no root.path and process: it is no OCI configuration`,
    );
  return { ...config, root: { ...config.root, path: realpathSync(resolve(bundle, path)) } };
}
