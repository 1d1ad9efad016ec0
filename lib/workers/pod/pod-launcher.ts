/** Starts processes in pods that run already, by `kubectl exec`. Argument lists; no shell reads them. */
import { randomUUID } from 'node:crypto';
import { join, relative } from 'node:path';
import { BenchError } from '../../errors/bench-error.js';
import { packageRoot } from '../../package-root.js';
import type { Launcher, LaunchOptions, RemoteCommand } from '../launcher.js';
import { local } from '../local.js';
import { PodProcess } from './pod-process.js';
import { POD_VARIABLE, PROCESS_VARIABLE } from './pod-variables.js';

interface PodPlace {
  /** Command line of kubectl before the subcommand. */
  kubectl: readonly string[];
  /** Environment of kubectl. */
  clientEnvironment: Readonly<Record<string, string>>;
  /** Name of the container that measures. */
  container: string;
  /** Paths inside: of Node, and of this package. */
  node: string;
  package: string;
  isSecret: (variable: string) => boolean;
  /** Runs a command in the pod until it has ended, and answers what it printed; null if it failed. Never rejects. */
  runInside: (pod: string, command: readonly string[]) => Promise<string | null>;
  /** What the cluster says of a pod that is not well; null where it says nothing. */
  reason: (pod: string) => Promise<string | null>;
}

export class PodLauncher implements Launcher {
  readonly name = 'pod';
  readonly #place: PodPlace;
  #clockOffsetNs = 0;

  constructor(place: PodPlace) {
    this.#place = place;
  }

  get clockOffsetNs(): number {
    return this.#clockOffsetNs;
  }

  /** Call when the clock of the pods' machine was read. */
  setClockOffset(ns: number): void {
    this.#clockOffsetNs = ns;
  }

  /** Files of this package are where it is inside; every other file is where it is here, if the pod mounts it. */
  pathOf(file: string): string {
    if (file === process.execPath) return this.#place.node;
    const within = relative(packageRoot, file);
    return within.startsWith('..') ? file : join(this.#place.package, within);
  }

  start(command: readonly string[], { environment }: LaunchOptions): PodProcess {
    const { pod, argv, mark } = this.#command(command, environment, true);
    const { clientEnvironment, runInside, reason } = this.#place;
    const client = local.start(argv, { environment: clientEnvironment, cwd: '/' });
    return new PodProcess(client, {
      signal: async (name) => void (await runInside(pod, this.#signalling(mark, name))),
      reason: () => reason(pod),
    });
  }

  remote(command: readonly string[], { environment }: LaunchOptions): RemoteCommand {
    const { pod, argv, mark } = this.#command(command, environment, false);
    const { clientEnvironment, runInside } = this.#place;
    return {
      argv,
      environment: clientEnvironment,
      // No process of it can be seen from here.
      where: () => ({ name: pod, id: null, first: null, find: () => Promise.resolve(null) }),
      isParent: false,
      remove: async () => {
        await runInside(pod, this.#signalling(mark, 'SIGKILL'));
        return null;
      },
    };
  }

  runBeside(module: string, args: readonly string[], { environment }: LaunchOptions): Promise<string | null> {
    const { node, runInside } = this.#place;
    return runInside(podIn(environment), [node, this.pathOf(module), ...args]);
  }

  #signalling(mark: string, name: NodeJS.Signals): string[] {
    const { node, package: root } = this.#place;
    return [node, join(root, 'dist/workers/pod/signal-marked.js'), mark, name];
  }

  #command(command: readonly string[], environment: NodeJS.ProcessEnv, isInteractive: boolean) {
    const { kubectl, container, isSecret } = this.#place;
    const pod = podIn(environment);
    const variables = Object.entries(environment).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    );
    const secret = variables.find(([name = '']) => isSecret(name));
    // Every user of this machine and of the node can read a command line.
    if (secret)
      throw new BenchError(
        'SYSTEM',
        `${secret[0]} is secret, and would stand on a command line: give it to the pod by secretKeyRef in its template.`,
      );
    const mark = `${PROCESS_VARIABLE}=${randomUUID()}`;
    const given = [...variables.map(([name, value]) => `${name}=${value}`), mark];
    const options = [...(isInteractive ? ['--stdin'] : []), `--container=${container}`];
    const argv = [...kubectl, 'exec', ...options, pod, '--', 'env', ...given, ...command];
    return { pod, argv, mark };
  }
}

function podIn(environment: NodeJS.ProcessEnv): string {
  const pod = environment[POD_VARIABLE];
  if (pod === undefined) throw new BenchError('SYSTEM', 'No pod runs for this process: its tenant was not prepared.');
  return pod;
}
