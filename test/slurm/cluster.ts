/**
 * A private Slurm of several virtual nodes on this machine, with its own folder, key and ports. All of it runs in a process
 * namespace that ends when the test's process does, also by SIGKILL; then its folder is removed.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { WAIT_MS } from '../limits.js';
import { closedPort } from '../ports.js';

const programs = fileURLToPath(new URL('programs', import.meta.url));

/** Whether this machine cannot run one; if so, prints what is not tested. */
export function withoutSlurm(what: string): boolean {
  const missing = ['slurmctld', 'slurmd', 'sbatch', 'munged'].filter((name) => spawnSync(name, ['-V']).error);
  const why =
    missing.length > 0
      ? `${missing.join(', ')} is not installed (Debian: slurmctld slurmd slurm-client munge)`
      : spawnSync('unshare', ['--pid', '--fork', '--mount', '--mount-proc', 'true']).status === 0
        ? null
        : 'it needs root and namespaces';
  if (why !== null) console.warn(`Skipped, because ${why}: ${what}.`);
  return why !== null;
}

const waitFor = (check: () => boolean): Promise<unknown> => vi.waitUntil(check, { timeout: WAIT_MS, interval: 200 });

export interface SlurmNode {
  name: string;
  /** Variables of every job on this node. */
  environment: Record<string, string>;
}

export class Cluster {
  /** Shared by all nodes. */
  readonly folder: string;
  readonly #nodes: readonly SlurmNode[];
  readonly #child: ChildProcess;

  private constructor(folder: string, nodes: readonly SlurmNode[]) {
    this.folder = folder;
    this.#nodes = nodes;
    const [program, ...args] = clusterCommand(folder, nodes);
    this.#child = spawn(program, args, { stdio: ['pipe', 'ignore', 'inherit'], detached: true });
  }

  static async start(nodes: readonly SlurmNode[], options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(await prepareCluster(nodes, options), nodes);
    await cluster.#idle(nodes.map(({ name }) => name));
    return cluster;
  }

  /** For commands that talk to this Slurm. */
  get environment(): Record<string, string> {
    return { SLURM_CONF: join(this.folder, 'etc/slurm.conf') };
  }

  /** Runs a program of Slurm; answers what it printed. */
  slurm(program: string, ...args: string[]): string {
    return execFileSync(program, args, spawnOptions(this.environment));
  }

  async #idle(names: readonly string[]): Promise<void> {
    const all = spawnOptions(this.environment);
    await waitFor(() => {
      const { stdout } = spawnSync('sinfo', ['--noheader', '--Node', '--format=%N %T'], all);
      return names.every((name) => stdout.split('\n').includes(`${name} idle`));
    });
  }

  /** Waits until no job waits or runs. */
  async settled(): Promise<void> {
    await waitFor(() => this.slurm('squeue', '--noheader') === '');
  }

  /** Every process of the node dies at once, without a signal that it could handle. */
  lose(name: string): void {
    process.kill(this.#firstProcess(name), 'SIGKILL');
    // The controller would find out by itself, in half a minute.
    this.slurm('scontrol', 'update', `NodeName=${name}`, 'State=DOWN', 'Reason=lost');
  }

  /** Starts a node that was lost, with what it had on its own disk. */
  async restore(name: string): Promise<void> {
    // Before it starts: a node that has come back by itself cannot be resumed.
    this.slurm('scontrol', 'update', `NodeName=${name}`, 'State=RESUME');
    const { pid } = this.#child;
    const inside = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    const first = readFileSync(`/proc/${inside}/task/${inside}/children`, 'utf8').trim();
    const args = ['--pid', '--mount', `--target=${first}`, 'sh', join(programs, 'node.sh'), this.folder, name];
    spawn('nsenter', args, { stdio: 'ignore', detached: true }).unref();
    await this.#idle([name]);
  }

  /** Where this node has the files that every node has in `local`. */
  diskOf(name: string): string {
    return join(this.folder, 'nodes', name);
  }

  /** What jobs have left in the temporary folders of all nodes. */
  get temporary(): string[] {
    return this.#nodes.flatMap(({ name }) =>
      readdirSync(join(this.diskOf(name), 'tmp')).map((each) => `${name}: ${each}`),
    );
  }

  #firstProcess(name: string): number {
    const found = readdirSync('/proc').filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        const [program, , , , folder, node] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
        return program === 'sh' && folder === this.folder && node === name;
      } catch {
        return false;
      }
    });
    if (found.length !== 1) throw new Error(`Node ${name} has ${found.length} first processes: ${found.join(', ')}.`);
    return Number(found[0]);
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await ended;
  }
}

const spawnOptions = (environment: Record<string, string>) => ({
  encoding: 'utf8' as const,
  env: { PATH: process.env.PATH, ...environment },
  stdio: 'pipe' as const,
});

export interface ClusterOptions {
  /** How long Slurm lets a process live that ignores SIGTERM, in seconds. */
  killWait?: number;
}

/** Writes the folder of a cluster; answers its path. */
export async function prepareCluster(nodes: readonly SlurmNode[], { killWait = 30 }: ClusterOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gvb-slurm-'));
  const ports = new Set<number>();
  while (ports.size <= nodes.length) ports.add(await closedPort());
  const write = (name: string, text: string | Buffer, mode?: number) =>
    writeFileSync(join(folder, name), text, { mode });
  for (const name of ['etc', 'munge', 'log', 'state', 'local', ...nodes.map(({ name }) => `nodes/${name}/tmp`)])
    mkdirSync(join(folder, name), { recursive: true });
  for (const { name, environment } of nodes) {
    const variables = Object.entries({ ...environment, TMPDIR: join(folder, 'local/tmp') });
    write(`nodes/${name}/environment`, variables.map(([key, value]) => `export ${key}=${value}\n`).join(''));
  }
  write('munge/key', randomBytes(128), 0o600);
  write('etc/slurm.conf', configuration(folder, nodes, [...ports], killWait));
  write('etc/gres.conf', nodes.map(({ name }) => `NodeName=${name} Name=gpu File=/dev/null\n`).join(''));
  write('etc/cgroup.conf', '');
  // Its output is what Slurm adds to the environment of a task.
  write('etc/prolog.sh', `#!/bin/sh\ncat '${folder}/local/environment'\n`, 0o755);
  return folder;
}

/** Runs a cluster until its stdin ends, then removes its folder. */
export const clusterCommand = (folder: string, nodes: readonly SlurmNode[]): [string, ...string[]] => [
  'sh',
  '-c',
  'unshare --pid --fork --kill-child --mount --mount-proc sh "$@"; rm -rf "$2"',
  'gvb-test-slurm',
  join(programs, 'cluster.sh'),
  folder,
  ...nodes.map(({ name }) => name),
];

const configuration = (
  folder: string,
  nodes: readonly SlurmNode[],
  [controllerPort, ...ports]: readonly number[],
  killWait: number,
): string => `
ClusterName=gvb
SlurmctldHost=${hostname()}(127.0.0.1)
SlurmctldPort=${controllerPort}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${folder}/munge/socket
CredType=cred/munge
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/state/%n
SlurmctldPidFile=${folder}/state/controller.pid
SlurmdPidFile=${folder}/state/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=${folder}/etc/prolog.sh
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,bf_interval=1
GresTypes=gpu
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdTimeout=10
KillWait=${killWait}
CompleteWait=0
${nodes
  .map(
    ({ name }, at) =>
      `NodeName=${name} NodeHostname=${hostname().split('.')[0]} NodeAddr=127.0.0.1 Port=${ports[at]} CPUs=2 Gres=gpu:1\n`,
  )
  .join('')}
PartitionName=gpu Nodes=ALL Default=YES MaxTime=60
`;
