/** A fleet on a real Slurm of four virtual nodes: a slow card, a layer that is not active, a node that is lost. */
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import type { ComparisonDocument } from '../../lib/results/document.js';
import { root } from '../cli/command.js';
import { Cluster, withoutSlurm } from './cluster.js';
import { Fleet, nodeOn, type TaskLine } from './fleet-runs.js';

const nodes = [nodeOn('n1'), nodeOn('n2', ',tensor_tflops=3'), nodeOn('n3'), nodeOn('n4')];

const interposer = interposerLibrary() ?? 'the interposer is not built';

describe.skipIf(withoutSlurm('fleets on a real Slurm'))('a fleet on Slurm', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start(nodes);
  });
  afterAll(() => cluster.stop());

  const layerOf = (name: string) => join(cluster.diskOf(name), 'layer.so');

  it('measures each node once, names what is missing, and sends only that again', async () => {
    for (const { name } of nodes) copyFileSync(interposer, layerOf(name));
    // A library that intercepts nothing.
    copyFileSync(join(root, 'build/Release/libgvb-witness.so'), layerOf('n3'));
    const fleet = new Fleet(cluster);
    const layer = `custom:name=layer,env.LD_PRELOAD=${cluster.folder}/local/layer.so,env.GVB_INTERPOSE=cuMemAlloc_v2=+1us`;
    const compare = ['compare', 'LLM-001', '--simulate', '--tier', 'quick', '--rounds', '1'];
    const systems = ['--system', 'native', '--system', layer];
    const sent = await fleet.fleet('slurm', '--output', fleet.folder, '--submit', '--', ...compare, ...systems);
    expect(sent.stderr).toMatch(/Sent 4 of 4 tasks; job \d+ merges when they have ended\.\n$/);
    expect(sent.code).toBe(0);

    await expect.poll(() => cluster.temporary.some((name) => name.startsWith('n4'))).toBe(true);
    cluster.lose('n4');
    await cluster.settled();
    expect(await fleet.status()).toMatchObject([
      { index: 0, node: 'n1', state: 'delivered', attempt: 1, exitCode: 0 },
      { index: 1, node: 'n2', state: 'delivered', attempt: 1, exitCode: 0 },
      {
        index: 2,
        node: 'n3',
        state: 'refused',
        exitCode: 5,
        why: expect.stringMatching(/^a system was not proven active/),
      },
      { index: 3, node: 'n4', state: 'silent', why: expect.stringMatching(/^job \d+ ended .*: NODE_FAIL$/) },
    ]);
    expect(fleet.logs('-merge-')).toEqual([expect.stringContaining('4 tasks: 2 delivered, 1 refused, 1 silent.')]);

    await cluster.restore('n4');
    expect((await fleet.fleet('submit', fleet.folder)).stderr).toMatch(/^Sent 1 of 4 tasks; /);
    await cluster.settled();
    expect(await fleet.states()).toEqual(['0 n1 delivered', '1 n2 delivered', '2 n3 refused', '3 n4 delivered']);
    expect((await fleet.fleet('submit', fleet.folder)).stderr).toMatch(/^Nothing to send: .*1 are refused/);

    copyFileSync(interposer, layerOf('n3'));
    await fleet.fleet('submit', fleet.folder, '--refused');
    await cluster.settled();
    expect((await fleet.status()).map(({ state, attempt }) => [state, attempt])).toEqual([
      ['delivered', 1],
      ['delivered', 1],
      ['delivered', 2],
      ['delivered', 1],
    ]);
    expect(await fleet.fleet('collect', fleet.folder)).toEqual({
      code: 0,
      stdout: '4 tasks: 4 delivered.\n',
      stderr: '',
    });
    expect(fleet.logs('-merge-')).toHaveLength(3);
    expect(fleet.left()).toEqual([]);
    const speeds = nodes.map((_, index) => {
      const { systems: measured } = fleet.document(index) as ComparisonDocument;
      return measured[0]?.[0]?.metrics[0]?.value ?? NaN;
    });
    const [, slow = NaN] = speeds;
    expect(speeds.map((speed) => speed > slow * 1.5)).toEqual([true, false, true, true]);

    // The last merge job wrote it, and of four cards a limit finds the slow one.
    expect(JSON.parse(readFileSync(join(fleet.folder, 'report.json'), 'utf8'))).toMatchObject({
      coverage: { planned: 4, delivered: 4 },
    });
    expect(existsSync(join(fleet.folder, 'report.html'))).toBe(true);
    for (const [name, reasons] of [
      ['n1', []],
      ['n2', [expect.stringMatching(/^LLM-001 \(native\)/), expect.stringMatching(/^LLM-001 \(layer/)]],
    ] as const) {
      const { stdout } = await fleet.fleet('report', fleet.folder, '--limit', 'LLM-001=40%', '--node', name);
      const { findings } = JSON.parse(stdout) as { findings: { reason: string }[] };
      expect(findings.map(({ reason }) => reason).filter((reason) => reason.includes('limit'))).toEqual(reasons);
    }
  });

  it('names a node that ran two tasks of an array, and sends one of them to a node that ran none', async () => {
    cluster.slurm('scontrol', 'update', 'NodeName=n4', 'State=DRAIN', 'Reason=test');
    const fleet = new Fleet(cluster);
    const run = ['OH-002', '--iterations', '20', '--simulate'];
    await fleet.fleet('slurm', '--output', fleet.folder, '--nodes', '4', '--submit', '--', 'run', ...run);
    await cluster.settled();
    expect(fleet.logs('-merge-')[0]).toContain('4 tasks: 3 delivered, 1 refused.');
    cluster.slurm('scontrol', 'update', 'NodeName=n4', 'State=RESUME');
    const { stdout, stderr } = await fleet.fleet('status', fleet.folder, '--json');
    // It may not have answered yet.
    expect(stderr).toMatch(/^warning: Nodes with GPUs that ran no task: n4(?: \(\S+\))?\.\n$/);
    const before = JSON.parse(stdout) as TaskLine[];
    const twice = before.filter(({ state }) => state === 'refused');
    expect(twice).toEqual([
      expect.objectContaining({
        why: expect.stringMatching(/^its node n\d ran task \d too, so another node ran none$/),
      }),
    ]);
    expect(before.filter(({ state }) => state === 'delivered')).toHaveLength(3);
    expect((await fleet.fleet('submit', fleet.folder)).stderr).toMatch(/^Sent 1 of 4 tasks; /);
    await cluster.settled();
    const after = await fleet.status();
    expect(after.map(({ state }) => state)).toEqual(Array(4).fill('delivered'));
    expect(after[twice[0]?.index ?? -1]).toMatchObject({ node: 'n4', attempt: 2 });
    expect(fleet.left()).toEqual([]);
    expect(existsSync(join(fleet.folder, 'submissions.json'))).toBe(true);
  });

  it('hands the scheduler a refusal, and says what it refused', async () => {
    const fleet = new Fleet(cluster);
    const { code, stderr } = await fleet.fleet(
      'slurm',
      '--output',
      fleet.folder,
      '--partition',
      'none',
      '--nodes',
      '1',
      '--submit',
    );
    expect(stderr).toMatch(/error: sbatch ended with exit code 1: .*[Ii]nvalid partition/);
    expect(code).toBe(1);
    expect(await fleet.states()).toEqual(['0 null planned']);
    expect(fleet.left()).toEqual([]);
  });
});
