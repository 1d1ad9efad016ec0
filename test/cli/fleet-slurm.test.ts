/** `fleet slurm` and what follows it, with programs that behave like Slurm's where a real Slurm does not show it. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { framed } from '../../lib/fleet/frames.js';
import { sealOf } from '../../lib/fleet/delivery.js';
import type { FleetPlan } from '../../lib/fleet/plan.js';
import type { RunDocument } from '../../lib/results/document.js';
import { deliver, deliveryOf, packed } from '../unit/fleet/fixtures.js';
import { command, emptyFolder, start } from './command.js';
import { expectRefusal, refused } from './refused.js';

const read = (...path: string[]) => readFileSync(join(...path), 'utf8');

/** A folder with these programs, as shell scripts, and the environment that finds them first. */
function programs(scripts: Record<string, string>) {
  const folder = emptyFolder();
  for (const [name, script] of Object.entries({ squeue: '', sacct: 'exit 1', ...scripts })) {
    writeFileSync(join(folder, name), `#!/bin/sh\ncd '${folder}'\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return { folder, environment: { PATH: `${folder}:${process.env.PATH}` } };
}

/** Notes its arguments and environment; job ids count from 1. */
const SBATCH = `printf '%s ' "$@" >> sent; echo >> sent; env >> environment
echo 'sbatch: a message of the site' >&2
echo "$(wc -l < sent);cluster"`;

const plan = (folder: string) => JSON.parse(read(folder, 'plan.json')) as FleetPlan;

describe('fleet slurm', () => {
  it('sends a job for each named node and one that merges, with nothing of the environment', async () => {
    const slurm = programs({ sbatch: SBATCH });
    const fleet = join(emptyFolder(), 'fleet');
    const environment = { ...slurm.environment, SECRET: 'hush', SBATCH_EXPORT: 'ALL', SBATCH_ACCOUNT: 'lab' };
    const args = ['--output', fleet, '--nodelist', 'n[08-09]', '--env', 'HF_HOME=/data', '--submit'];
    const { code, stderr } = await command(['fleet', 'slurm', 'OH-001', ...args], environment);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `Wrote the plan of 2 tasks and its scripts to ${fleet}.\nSent 2 of 2 tasks; job 3 merges when they have ended.\n`,
    });
    const { id, command: name, arguments: words, tasks } = plan(fleet);
    expect({ name, words, tasks }).toEqual({
      name: 'run',
      words: ['OH-001'],
      tasks: [
        { index: 0, node: 'n08' },
        { index: 1, node: 'n09' },
      ],
    });
    expect(read(slurm.folder, 'sent')).toBe(
      `--parsable --export=ALL --job-name=gvb-${id}-0 --nodelist=n08 ${fleet}/task.sh 0 \n` +
        `--parsable --export=ALL --job-name=gvb-${id}-1 --nodelist=n09 ${fleet}/task.sh 1 \n` +
        `--parsable --export=ALL --dependency=afterany:1:2 ${fleet}/merge.sh \n`,
    );
    expect(JSON.parse(read(fleet, 'submissions.json'))).toMatchObject({
      plan: id,
      submissions: [
        { job: '1', indices: [0] },
        { job: '2', indices: [1] },
        { job: '3', indices: [] },
      ],
    });
    const seen = read(slurm.folder, 'environment');
    expect(seen).toContain('SBATCH_ACCOUNT=lab');
    for (const name of ['SBATCH_EXPORT', 'hush', 'GVB_SIM']) expect(seen).not.toContain(name);
    for (const file of ['task.sh', 'merge.sh', 'plan.json', 'submissions.json'])
      expect(read(fleet, file)).not.toContain('hush');
    expect(read(fleet, 'task.sh')).toContain('\nexport HF_HOME=/data\n');
  });

  it('plans every node with a GPU that takes jobs, and names the others', async () => {
    const slurm = programs({
      sinfo: `printf '%s\\n' "$@" > asked
echo 'g1|idle|gpu:h100:8'; echo 'g1|idle|gpu:h100:8'; echo 'c1|idle|(null)'; echo 'g2|drained|gpu:1'; echo 'g3|idle*|gpu:1'; echo 'g4|mixed|gpu:1,nic:1'`,
    });
    const fleet = join(emptyFolder(), 'fleet');
    const args = ['--output', fleet, '--partition', 'gpu', '--', 'compare', 'overhead', '--system', 'native'];
    const { code, stderr } = await command(['fleet', 'slurm', ...args], slurm.environment);
    expect(code).toBe(0);
    expect(stderr).toContain('warning: Nodes that take no jobs are left out: g2 (drained), g3 (idle*).\n');
    expect(stderr).toContain(`Send it with: npx gpu-virt-bench fleet submit ${fleet}\n`);
    expect(plan(fleet)).toMatchObject({
      command: 'compare',
      arguments: ['overhead', '--system', 'native'],
      tasks: [{ node: 'g1' }, { node: 'g4' }],
    });
    expect(read(slurm.folder, 'asked')).toContain('--partition=gpu\n');
  });

  it('stops at an interruption, and says what was sent', async () => {
    const slurm = programs({ sbatch: `${SBATCH}\nsleep 1` });
    const fleet = join(emptyFolder(), 'fleet');
    const args = ['slurm', '--output', fleet, '--nodelist', 'n[1-50]', '--submit'];
    const { child, done } = start(['fleet', ...args], slurm.environment);
    await expect.poll(() => existsSync(join(slurm.folder, 'sent'))).toBe(true);
    child.kill('SIGINT');
    const { code, stderr } = await done;
    expect(code).toBe(130);
    const [, sent] = /^Sent (\d+) of 50 tasks, then: interrupted\. fleet submit sends the others/m.exec(stderr) ?? [];
    expect(read(slurm.folder, 'sent').trim().split('\n')).toHaveLength(Number(sent));
    const { submissions } = JSON.parse(read(fleet, 'submissions.json')) as { submissions: unknown[] };
    expect(submissions).toHaveLength(Number(sent));
  });

  it('sends only what neither delivered nor waits, and finds jobs that were not noted by their names', async () => {
    const slurm = programs({ sbatch: SBATCH, squeue: 'cat queue 2>/dev/null; true' });
    const fleet = join(emptyFolder(), 'fleet');
    await command(['fleet', 'slurm', '--output', fleet, '--nodelist', 'n[0-4]'], slurm.environment);
    const { id } = plan(fleet);
    const job = (index: number, state: string, why = 'None') =>
      `9${index}|N/A|${state}|n${index}|gvb-${id}-${index}|${why}`;
    const queue = [job(0, 'PENDING', 'Resources'), job(1, 'RUNNING'), job(2, 'TIMEOUT'), '7|N/A|RUNNING|n3|other|None'];
    writeFileSync(join(slurm.folder, 'queue'), `${queue.join('\n')}\n`);
    deliver(fleet, 4, document, { plan: id, node: 'n4' });
    const shown = await command(['fleet', 'status', fleet], slurm.environment);
    expect(shown).toEqual({
      code: 0,
      stdout: expect.stringContaining('5 tasks: 2 planned, 1 running, 1 delivered, 1 silent.'),
      stderr: '',
    });
    expect(shown.stdout).toMatch(/0 {2}n0 {4}planned {2}waits: Resources\n/);
    expect(shown.stdout).toMatch(/2 {2}n2 {4}silent {3}job 92 ended without a delivery: TIMEOUT\n/);
    await command(['fleet', 'submit', fleet], slurm.environment);
    expect(read(slurm.folder, 'sent').match(/gvb-20\S+|after\S+/g)).toEqual([
      `gvb-${id}-2`,
      `gvb-${id}-3`,
      'afterany:90:91:1:2',
    ]);
  });

  it('sends the merge of a command that was killed after the last task', async () => {
    const slurm = programs({ sbatch: SBATCH });
    const fleet = join(emptyFolder(), 'fleet');
    await command(['fleet', 'slurm', '--output', fleet, '--nodes', '1'], slurm.environment);
    const { id } = plan(fleet);
    deliver(fleet, 0, document, { plan: id });
    const note = { job: '5', indices: [0], submitted: '2026-01-01T00:00:00.000Z' };
    const notes = { kind: 'fleet-submissions', schemaVersion: 1, plan: id, submissions: [note] };
    writeFileSync(join(fleet, 'submissions.json'), JSON.stringify(notes));
    expect((await command(['fleet', 'submit', fleet], slurm.environment)).stderr).toBe(
      'Sent 0 of 1 tasks; job 1 merges when they have ended.\n',
    );
    expect(read(slurm.folder, 'sent')).toBe(`--parsable --export=ALL ${fleet}/merge.sh \n`);
    const again = await command(['fleet', 'submit', fleet], slurm.environment);
    expect(again.stderr).toMatch(/^Nothing to send: /);
  });

  it('asks the accounts what the queue no longer knows', async () => {
    const slurm = programs({
      sbatch: SBATCH,
      sacct: `printf '%s\\n' "$@" > asked; echo "1|CANCELLED by 1000|None assigned|gvb-$(cat id)-0"; echo "2|OUT_OF_MEMORY|n1|gvb-$(cat id)-1"`,
    });
    const fleet = join(emptyFolder(), 'fleet');
    await command(['fleet', 'slurm', '--output', fleet, '--nodelist', 'n[0-1]', '--submit'], slurm.environment);
    writeFileSync(join(slurm.folder, 'id'), plan(fleet).id);
    const { stdout } = await command(['fleet', 'status', fleet, '--json'], slurm.environment);
    expect(JSON.parse(stdout)).toMatchObject([
      { state: 'silent', why: 'job 1 ended without a delivery: CANCELLED' },
      { state: 'silent', why: 'job 2 ended without a delivery: OUT_OF_MEMORY' },
    ]);
    expect(read(slurm.folder, 'asked')).toContain('--jobs=1,2,3\n');
  });

  it('says that no scheduler could be asked', async () => {
    const fleet = join(emptyFolder(), 'fleet');
    await command(['fleet', 'slurm', '--output', fleet, '--nodes', '2']);
    const slurm = programs({ squeue: 'echo "squeue: error: no controller" >&2; exit 1' });
    const { code, stdout, stderr } = await command(['fleet', 'status', fleet], slurm.environment);
    expect(code).toBe(0);
    expect(stderr).toBe(
      'warning: squeue ended with exit code 1: squeue: error: no controller. States are of the deliveries alone.\n',
    );
    expect(stdout).toContain('2 tasks: 2 silent.');
    const sent = await command(['fleet', 'submit', fleet], slurm.environment);
    expect(sent).toMatchObject({
      code: 1,
      stderr: 'error: squeue ended with exit code 1: squeue: error: no controller.\n',
    });
  });

  it.each<[string, string[], RegExp]>([
    ['no folder', [], /required option '--output <dir>'/],
    ['no number of nodes', ['--output', 'f', '--nodes', '0'], /Expected --nodes to be an integer from 1 to 100000/],
    ['two kinds of nodes', ['--output', 'f', '--nodes', '1', '--nodelist', 'a'], /cannot be used with option '--nodes/],
    ['an output of the node', ['--output', 'f', '--nodes', '1', '--', 'run', '--json', 'x'], /must not be one of/],
    [
      'an option of no command',
      ['--output', 'f', '--nodes', '1', '--', 'compare', '--sytem', 'x'],
      /options of compare/,
    ],
    ['a variable that is not set', ['--output', 'f', '--nodes', '1', '--env', 'NOT_SET'], /'NOT_SET'/],
    ['a layer', ['--output', 'f', '--nodes', '1', '--env', 'LD_PRELOAD=/x.so'], /name the layer as a system/],
  ])('refuses %s', async (_, args, says) => {
    const cwd = emptyFolder();
    expectRefusal(await refused(['fleet', 'slurm', ...args], { cwd }), says);
    expect(existsSync(join(cwd, 'f/plan.json'))).toBe(false);
  });
});

const document = JSON.parse(read('test/golden/run.json')) as RunDocument;

describe('fleet collect', () => {
  it('refuses a document that is damaged, and takes deliveries from logs once', async () => {
    const slurm = programs({});
    const fleet = join(emptyFolder(), 'fleet');
    await command(['fleet', 'slurm', '--output', fleet, '--nodes', '3'], slurm.environment);
    const { id } = plan(fleet);
    deliver(fleet, 0, document, { plan: id, node: 'a' });
    writeFileSync(join(fleet, 'deliveries/0/document.json.gz'), 'damaged');
    const content = packed(document);
    const lines = (index: number, change: object) =>
      framed(deliveryOf(index, { document: sealOf(content), ...change }), content);
    const log = join(emptyFolder(), 'pods.log');
    const stamped = lines(1, { plan: id, node: 'b' }).map((line) => `2026-01-01T00:00:00Z ${line}`);
    writeFileSync(log, ['a line of the program', ...stamped, ...lines(2, { node: 'c' }), ''].join('\n'));
    const collected = () => command(['fleet', 'collect', fleet, '--from', log], slurm.environment);
    const { code, stdout, stderr } = await collected();
    expect(code).toBe(1);
    expect(stderr).toContain(`${log}: a delivery of task 2 is of another plan, plan-1.`);
    expect(stdout).toContain('3 tasks: 1 planned, 1 delivered, 1 refused.');
    expect(stdout).toMatch(/0 {2}a {5}refused {2}document\.json\.gz is damaged: it has another checksum/);
    await collected();
    const again = await command(['fleet', 'status', fleet, '--json'], slurm.environment);
    expect((JSON.parse(again.stdout) as { attempt: number | null }[]).map(({ attempt }) => attempt)).toEqual([
      1,
      1,
      null,
    ]);
  });

  it('removes what a node that died wrote aside, and keeps what is whole', async () => {
    const slurm = programs({});
    const fleet = join(emptyFolder(), 'fleet');
    await command(['fleet', 'slurm', '--output', fleet, '--nodes', '2'], slurm.environment);
    const { id } = plan(fleet);
    deliver(fleet, 0, document, { plan: id, node: 'a' });
    const aside = (name: string) => join(fleet, 'deliveries', name);
    mkdirSync(aside('0.0123456789abcdef.tmp'));
    mkdirSync(aside('1.old.0123456789abcdef.tmp'));
    writeFileSync(aside('1.old.0123456789abcdef.tmp/delivery.json'), JSON.stringify(deliveryOf(1, { plan: id })));
    writeFileSync(join(fleet, '.report.html.1-2-0123456789ab.01234567.tmp'), '<html');
    await command(['fleet', 'collect', fleet], slurm.environment);
    expect(readdirSync(fleet).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(existsSync(aside('0.0123456789abcdef.tmp'))).toBe(false);
    expect(existsSync(aside('1.old.0123456789abcdef.tmp'))).toBe(false);
    expect(existsSync(aside('1/delivery.json'))).toBe(true);
  });
});
