/** The private Slurm of the other tests: that it runs jobs, and that nothing of it stays. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster, clusterCommand, prepareCluster, withoutSlurm } from './cluster.js';

/** Processes that name the folder in their command line or environment. */
const processesIn = (folder: string): string[] =>
  readdirSync('/proc').flatMap((pid) => {
    try {
      const [line, environment] = ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8'));
      return `${line}${environment}`.includes(folder) ? [`${line?.replaceAll('\0', ' ')}`] : [];
    } catch {
      return [];
    }
  });

const nodes = ['n1', 'n2'].map((name) => ({ name, environment: { WHERE: name } }));

describe.skipIf(withoutSlurm('a private Slurm'))('a private Slurm', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start(nodes);
  });
  afterAll(() => cluster.stop());

  it('gives each node its variables and its disk', async () => {
    const script = join(cluster.folder, 'job.sh');
    writeFileSync(
      script,
      `#!/bin/sh\necho "$WHERE $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES" > '${cluster.folder}/local/seen'\n`,
    );
    for (const { name } of nodes)
      cluster.slurm('sbatch', '--output=/dev/null', '--exclusive', '--gres=gpu:1', `--nodelist=${name}`, script);
    await cluster.settled();
    expect(nodes.map(({ name }) => readFileSync(join(cluster.diskOf(name), 'seen'), 'utf8'))).toEqual([
      'n1 n1 0\n',
      'n2 n2 0\n',
    ]);
  });

  it('loses a node with all of its processes, and gets it back', async () => {
    const script = join(cluster.folder, 'sleep.sh');
    writeFileSync(
      script,
      `#!/bin/sh\nNEVER=${cluster.folder}/never sleep 1000 & echo > '${cluster.folder}/local/runs'\nwait\n`,
    );
    cluster.slurm('sbatch', '--output=/dev/null', '--no-requeue', '--nodelist=n1', script);
    await expect.poll(() => existsSync(join(cluster.diskOf('n1'), 'runs'))).toBe(true);
    // The shell goes on before the other process has its environment.
    await expect.poll(() => processesIn(`${cluster.folder}/never`)).toHaveLength(1);
    cluster.lose('n1');
    await expect.poll(() => processesIn(`${cluster.folder}/never`)).toEqual([]);
    await cluster.settled();
    await cluster.restore('n1');
    expect(cluster.slurm('squeue', '--noheader', '--states=all', '--format=%T')).toContain('NODE_FAIL');
  });
});

it.skipIf(withoutSlurm('the end of a private Slurm'))('ends with its test, also by SIGKILL', async () => {
  const folder = await prepareCluster(nodes);
  const [program, ...args] = clusterCommand(folder, nodes);
  const script =
    'const [program, ...args] = process.argv.slice(1); require("child_process").spawn(program, args, { stdio: ["pipe", "ignore", "ignore"], detached: true });';
  const test = spawn(process.execPath, ['-e', script, program, ...args], { stdio: 'ignore' });
  await expect.poll(() => processesIn(folder).filter((line) => line.startsWith('slurmd '))).toHaveLength(2);
  test.kill('SIGKILL');
  await once(test, 'exit');
  await expect.poll(() => processesIn(folder)).toEqual([]);
  await expect.poll(() => existsSync(folder)).toBe(false);
});
