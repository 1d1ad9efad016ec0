/** Fleets on a private Slurm: the commands, and what is left of their jobs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { command, main, type Outcome, start } from '../cli/command.js';
import { ownRegion, temporaryFolder } from '../temporary.js';
import type { Cluster, SlurmNode } from './cluster.js';

/** A node with a simulated card of its own. */
export const nodeOn = (name: string, sim = ''): SlurmNode => ({
  name,
  environment: { GVB_SIM: `region=${ownRegion(`slurm-${name}`)},card=h100,init_ms=4,context_ms=4${sim}` },
});

export interface TaskLine {
  index: number;
  node: string | null;
  state: string;
  why: string | null;
  attempt: number | null;
  exitCode: number | null;
}

export class Fleet {
  readonly folder = join(temporaryFolder('fleet'), 'fleet');
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  fleet(name: string, ...args: string[]): Promise<Outcome> {
    return command(['fleet', name, ...args], this.#cluster.environment);
  }

  /** The same as a process that can be killed. */
  starting(name: string, ...args: string[]) {
    return start(['fleet', name, ...args], this.#cluster.environment);
  }

  async status(): Promise<TaskLine[]> {
    const { code, stdout, stderr } = await this.fleet('status', this.folder, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as TaskLine[];
  }

  /** `0 n1 delivered` for each task. */
  async states(): Promise<string[]> {
    return (await this.status()).map(({ index, node, state }) => `${index} ${node} ${state}`);
  }

  document(index: number): unknown {
    return JSON.parse(
      gunzipSync(readFileSync(join(this.folder, 'deliveries', String(index), 'document.json.gz'))).toString(),
    );
  }

  logs(part: string): string[] {
    const folder = join(this.folder, 'logs');
    return readdirSync(folder)
      .filter((name) => name.includes(part))
      .map((name) => readFileSync(join(folder, name), 'utf8'));
  }

  /** Everything that is there and should not be once all jobs have ended. */
  left(): string[] {
    const names = readdirSync(this.folder);
    const known = [
      'deliveries',
      'logs',
      'merge.sh',
      'plan.json',
      'report.html',
      'report.json',
      'submissions.json',
      'task.sh',
    ];
    const deliveries = names.includes('deliveries') ? readdirSync(join(this.folder, 'deliveries')) : [];
    return [
      ...names.filter((name) => !known.includes(name)),
      ...deliveries.filter((name) => !/^\d+$/.test(name)),
      ...this.#cluster.temporary,
      ...processesOn(this.folder),
    ];
  }
}

/** Processes that name the folder in their command line. */
function processesOn(folder: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return line.includes(folder) && line.includes(main) ? [line] : [];
    } catch {
      return [];
    }
  });
}
