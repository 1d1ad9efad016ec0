/** A fleet by an Indexed Job: from its manifest, through a kubectl of ours and podman, to what was collected from the logs. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fault, PodmanHost, TestCluster } from '../kubectl/cluster.js';
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

    it('measures every node, and sends again what a pod took with it', async () => {
      const everywhere = [
        { from: root, to: root.replace(/\/$/, '') },
        { from: process.execPath, to: '/bin/node' },
      ];
      const cards = [0, 1, 2].map((index) => `GPU-67766273-696d-4000-8000-00000000000${index}`);
      const [first = '', ...others] = cards;
      const further = others.map((card) => [card]);
      // Of the first Job alone: pods of tasks that are sent again have other names.
      const faults: Fault[] = [{ kind: 'evicted', pod: '1' }];
      const on = new TestCluster(host, { gpus: [first], further, everywhere, faults });
      const folder = join(emptyFolder(), 'fleet');
      const asked = ['--nodes', '3', '--image', PodmanHost.IMAGE, '--tool', main, '--env', 'GVB_SIM=devices=3'];
      const metric = ['OH-002', '--iterations', '20'];
      const fleet = (...words: string[]) => command(['fleet', ...words], on.environment);
      const states = async () => {
        const { stdout } = await fleet('status', folder, '--json', '-');
        return (JSON.parse(stdout) as { state: string; why: string | null }[]).map(
          ({ state, why }) => `${state} ${why}`,
        );
      };

      expect(await fleet('kubernetes', ...asked, '--output', folder, '--', 'run', ...metric)).toMatchObject({
        code: 0,
      });
      expect(await states()).toEqual(Array(3).fill('planned not sent'));
      expect((await fleet('submit', folder)).stderr).toMatch(/Sent 3 of 3 tasks; .*fleet collect/);
      await expect.poll(() => on.phases().sort()).toEqual(['Failed', 'Succeeded', 'Succeeded']);
      expect(await states()).toEqual([
        expect.stringMatching(/^silent job gvb-\S+-0-\w+ ended without a delivery: Completed$/),
        expect.stringMatching(/^silent job gvb-\S+-1-\w+ ended without a delivery: .*Evicted/),
        expect.stringMatching(/^silent .*: Completed$/),
      ]);

      const plan = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')) as { id: string };
      const kubectl = (...words: string[]) =>
        execFileSync(on.kubectl, words, { env: { ...process.env, ...on.environment } });
      // The pods of another Job need it as well.
      kubectl('delete', 'configmap', `gvb-${plan.id}`);

      // Takes what is in the logs, and measures none of it again.
      expect((await fleet('submit', folder)).stderr).toContain('Sent 1 of 3 tasks');
      await expect.poll(() => on.phases().sort()).toEqual(['Failed', 'Succeeded', 'Succeeded', 'Succeeded']);
      expect(await fleet('collect', folder)).toMatchObject({ code: 0, stdout: '3 tasks: 3 delivered.\n' });
      expect((await fleet('submit', folder)).stderr).toContain('Nothing to send');

      const deliveries = [0, 1, 2].map(
        (index) =>
          JSON.parse(readFileSync(join(folder, `deliveries/${index}/delivery.json`), 'utf8')) as {
            index: number;
            node: string;
            gpus: string[];
          },
      );
      expect(deliveries.map(({ index }) => index)).toEqual([0, 1, 2]);
      expect(deliveries.map(({ node, gpus }) => `${node} ${gpus.join()}`).sort()).toEqual(
        cards.map((card, index) => `node-${index + 1} ${card}`),
      );
      const { submissions } = JSON.parse(readFileSync(join(folder, 'submissions.json'), 'utf8')) as {
        submissions: { job: string; indices: number[] }[];
      };
      expect(submissions.map(({ job, indices }) => [job.replace(/^gvb-[\d-]+-[0-9a-f]{8}/, ''), indices])).toEqual([
        ['', [0, 1, 2]],
        ['-2', [1]],
      ]);

      const { stderr } = await fleet('kubernetes', ...asked, '--output', join(emptyFolder(), 'other'));
      expect(stderr).toMatch(/Remove everything with: kubectl delete job,configmap --selector=/);
      kubectl('delete', 'job,configmap', `--selector=gpu-virt-bench/plan=${plan.id}`);
      await expect.poll(() => on.pods()).toEqual([]);
      await expect.poll(() => host.containers()).toEqual([]);
      on.stop();
    });

    it('says what it knows where the cluster does not answer', async () => {
      const on = new TestCluster(host, { gpus: [], faults: [{ kind: 'api-timeout', verb: 'get' }] });
      const folder = join(emptyFolder(), 'fleet');
      const asked = ['--nodes', '2', '--image', PodmanHost.IMAGE, '--output', folder];
      expect(await command(['fleet', 'kubernetes', ...asked], on.environment)).toMatchObject({ code: 0 });
      const { code, stdout, stderr } = await command(['fleet', 'status', folder], on.environment);
      expect(stderr).toContain('States are of the deliveries alone');
      expect(stdout).toContain('2 tasks: 2 silent.');
      expect(code).toBe(0);
    });
  });
});
