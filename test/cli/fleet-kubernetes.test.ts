/** A fleet by an Indexed Job: from its manifest, through a kubectl of ours and podman, to what was collected from the logs. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PodmanHost, TestCluster } from '../kubectl/cluster.js';
import { command, emptyFolder, main, root } from './command.js';
import { withoutPodman } from './containers.js';

const image = (name: string) => ['--image', name, '--output', join(emptyFolder(), 'fleet')];

describe('fleet kubernetes', () => {
  it.each([
    [['--nodes', '2', '--env', 'MY_TOKEN=hush'], 'MY_TOKEN, which is secret'],
    [['--nodes', '2', '--env', 'HOME=/x'], 'none of NODE_NAME, HOME, JOB_COMPLETION_INDEX'],
    [['--nodes', '2', '--namespace', 'a b'], 'Expected --namespace'],
    [['--nodelist', 'a,a'], 'name each node once'],
    [['--nodelist', '$(x)'], 'a name of --nodelist'],
    [['--nodes', '0'], 'Expected --nodes to be an integer'],
    [[], '--nodes or --nodelist'],
    [['--nodes', '2', '--toleration', 'a:b'], 'the effect of --toleration'],
    [['--nodes', '2', '--gpu', 'a=1=2'], 'Expected --gpu'],
    [['--nodes', '2', '--', 'run', '--no-such-option'], '--no-such-option'],
  ])('refuses %j before anything is written', async (options, why) => {
    const { code, stderr } = await command(['fleet', 'kubernetes', ...image('there:1'), ...options]);
    expect(stderr).toContain(why);
    expect(stderr).not.toContain('hush');
    expect(code).toBe(2);
  });

  describe.skipIf(withoutPodman('fleets by an Indexed Job'))('through a cluster', () => {
    let host: PodmanHost;
    beforeAll(() => {
      host = new PodmanHost();
    });
    afterAll(() => host.remove());

    it('measures every node, and collects from the logs', async () => {
      const everywhere = [
        { from: root, to: root.replace(/\/$/, '') },
        { from: process.execPath, to: '/bin/node' },
      ];
      const [first = '', second = ''] = [0, 1].map((index) => `GPU-67766273-696d-4000-8000-00000000000${index}`);
      const on = new TestCluster(host, { gpus: [first], further: [[second]], everywhere });
      const folder = join(emptyFolder(), 'fleet');
      const asked = [
        '--nodes',
        '2',
        '--image',
        PodmanHost.IMAGE,
        '--tool',
        main,
        '--submit',
        '--output',
        folder,
        '--env',
        'GVB_SIM=devices=2',
      ];
      const metric = ['OH-002', '--iterations', '20'];
      const sent = await command(['fleet', 'kubernetes', ...asked, '--', 'run', ...metric], on.environment);
      expect(sent).toMatchObject({ code: 0, stderr: expect.stringMatching(/job\/gvb-\S+ created/) });
      await expect.poll(() => on.phases()).toEqual(['Succeeded', 'Succeeded']);
      const [, selector = ''] = /--selector=(\S+)/.exec(sent.stderr) ?? [];
      const log = join(emptyFolder(), 'fleet.log');
      const logs = ['logs', `--selector=${selector}`, '--tail=-1', '--max-log-requests=2'];
      writeFileSync(log, execFileSync(on.kubectl, logs, { env: { ...process.env, ...on.environment } }));
      expect(await command(['fleet', 'collect', folder, '--from', log])).toMatchObject({ code: 0 });
      const deliveries = [0, 1].map((index) => readFileSync(join(folder, `deliveries/${index}/delivery.json`), 'utf8'));
      expect(deliveries.map((text) => JSON.parse(text) as object)).toEqual(
        [0, 1].map((index) => expect.objectContaining({ index, exitCode: 0 })),
      );
      const nodes = deliveries.map((text) => JSON.parse(text) as { node: string; gpus: string[] });
      expect(nodes.map(({ node, gpus }) => `${node} ${gpus.join()}`).sort()).toEqual([
        `node-1 ${first}`,
        `node-2 ${second}`,
      ]);
      on.stop();
    });
  });
});
