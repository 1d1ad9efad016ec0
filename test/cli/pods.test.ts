/**
 * Pods as systems, through a kubectl of ours that runs them by podman (test/kubectl): the whole path of the launcher, what is adopted and
 * proven, and what is left after every way to fail.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import { sha256 } from '../../lib/systems/proof/file-hash.js';
import { type Fault, PodmanHost, TestCluster } from '../kubectl/cluster.js';
import { ownRegion } from '../temporary.js';
import { emptyFolder, hasDriver, parseComparison, root, simulatedFolder, start } from './command.js';
import { withoutPodman } from './containers.js';

const cannot = withoutPodman('systems of kind pod with a kubectl of ours');
const CARDS = [0, 1].map((index) => `GPU-67766273-696d-4000-8000-00000000000${index}`);
const layer = interposerLibrary() as string;

describe.skipIf(cannot)('pods', () => {
  let host: PodmanHost;
  const clusters: TestCluster[] = [];
  const cluster = (faults: Fault[] = [], more: object = {}) => {
    const made = new TestCluster(host, { gpus: CARDS.slice(0, 1), layer, faults, ...more });
    clusters.push(made);
    return made;
  };
  beforeAll(() => {
    host = new PodmanHost();
  });
  afterEach(() => {
    for (const each of clusters.splice(0)) each.stop();
  });
  afterAll(() => host.remove());

  const hami = { container: { resources: { limits: { 'nvidia.com/gpu': 1, 'nvidia.com/gpumem': 4096 } } } };
  const paths = `package=${root.replace(/\/$/, '')},node=${process.execPath}`;
  const pod = (name: string, template: string, more = '') => `pod:name=${name},template=${template},${paths}${more}`;

  function compare(on: TestCluster, systems: readonly string[], { metrics = ['OH-002'], rounds = 1, sim = '' } = {}) {
    const output = join(emptyFolder(), 'out');
    const named = systems.flatMap((each) => ['--system', each]);
    const few = ['--simulate', '--tier', 'quick', '--rounds', String(rounds), '--iterations', '20'];
    return start(['compare', ...metrics, ...few, ...named, '--output', output, '--json', '-'], on.environment, sim);
  }

  /** Nothing of the run is left, neither in the cluster nor in podman. */
  async function expectNothingLeft(on: TestCluster): Promise<void> {
    expect(on.pods()).toEqual([]);
    await expect.poll(() => host.containers()).toEqual([]);
  }

  it('are measured with what the cluster injected, which is proven inside', async () => {
    const on = cluster([], { replicas: 10 });
    const plain = on.template('plain');
    const limited = on.template('hami', hami);
    const systems = ['native', pod('plain', plain), pod('hami', limited)];
    const { code, stdout } = await compare(on, systems, { metrics: ['OH-002', 'IS-001'] }).done;
    const document = parseComparison(stdout);
    const [, bare, layered] = document.systems;
    expect(layered?.[0]?.system).toMatchObject({
      kind: 'pod',
      layer: { path: layer, sha256: await sha256(layer), active: true },
      settings: {
        'pod.node': 'node-1',
        'pod.under': 'layer',
        'injected.CUDA_DEVICE_MEMORY_LIMIT_0': '4096m',
        'injected./etc/ld.so.preload': layer,
      },
    });
    expect(bare?.[0]?.system.settings).toMatchObject({ 'pod.under': 'whole', 'pod.tenants': 'processes in one pod' });
    for (const rounds of [bare, layered])
      for (const round of rounds ?? []) {
        expect(round.system.attestation.filter(({ passed }) => !passed)).toEqual([]);
        expect(round.metrics.find(({ id }) => id === 'OH-002')).toMatchObject({ status: 'ok' });
      }
    const proof = (name: string) => layered?.[0]?.system.attestation.find((each) => each.proof === name)?.detail;
    expect(proof('in a pod of this run')).toMatch(/^pod gvb-[0-9a-f]{8}-hami-\d+ \(.*\) on node node-1$/);
    expect(proof('what the template asks for is there')).toContain(`${layer} owns`);
    expect(proof("memory view in the tenant against the coordinator's NVML")).toContain('the limit is 4096 MiB');
    expect(layered?.[0]?.metrics.find(({ id }) => id === 'IS-001')).toMatchObject({ status: 'ok' });
    expect(code).toBe(0);
    await expectNothingLeft(on);
  });

  const withoutGpu = hasDriver ? it.skip : it;
  withoutGpu('are measured from a machine without a GPU, with and without an unhooked pod', async () => {
    const on = cluster([], { replicas: 10 });
    // The driver of the node, which its runtime would mount.
    const env = [
      { name: 'LD_LIBRARY_PATH', value: simulatedFolder },
      { name: 'GVB_SIM', value: `region=${ownRegion('pods')},init_ms=4,context_ms=4` },
    ];
    const plain = on.template('plain', { container: { env } });
    const limited = on.template('hami', { container: { ...hami.container, env } });
    const truth = on.template('truth', { container: { env, resources: {} } });
    const measured = async (more: string) => {
      const systems = [pod('plain', plain, more), pod('hami', limited, more)].flatMap((each) => ['--system', each]);
      const few = ['--tier', 'quick', '--rounds', '1', '--iterations', '20', '--output', join(emptyFolder(), 'out')];
      const { stdout } = await start(['compare', 'OH-002', ...few, ...systems, '--json', '-'], on.environment).done;
      return parseComparison(stdout).systems.flat();
    };
    for (const [more, groundTruth] of [
      [`,truth=${truth}`, 'nvml'],
      ['', 'none'],
    ] as const)
      for (const round of await measured(more)) {
        expect(round).toMatchObject({ groundTruth, metrics: [{ status: 'ok' }] });
        expect(round.warnings.join().includes('No unhooked pod reads NVML')).toBe(groundTruth === 'none');
        expect(round.gpu[0]?.uuid).toBe(CARDS[0]);
      }
    await expectNothingLeft(on);
  });

  it('of which nothing enforces what they ask for are not published', async () => {
    const on = cluster([], { layer: undefined });
    const { code, stdout } = await compare(on, ['native', pod('hami', on.template('hami', hami))]).done;
    const [, rounds] = parseComparison(stdout).systems;
    expect(rounds?.[0]?.metrics).toEqual([
      expect.objectContaining({
        status: 'invalid',
        reason: expect.stringMatching(
          /what the template asks for is there: a layer that intercepts is asked for \(nvidia.com\/gpumem\), inside is the bare driver\. Nothing enforces/,
        ),
      }),
    ]);
    expect(code).toBe(5);
    await expectNothingLeft(on);
  });

  /** Pods are numbered as they are created: the first is looked at, the second is the first round's. */
  const cases: [string, Fault[], { more?: string }, number, string, RegExp][] = [
    [
      'is pending for ever',
      [{ kind: 'pending' }],
      { more: ',startTimeout=2s' },
      5,
      'invalid',
      /it did not run within 2 s: Unschedulable: 0\/1 nodes are available: 1 Insufficient nvidia.com\/gpu\. Other pods hold/,
    ],
    [
      'is in a namespace that is not there',
      [],
      { more: ',namespace=nowhere' },
      5,
      'invalid',
      /namespaces "nowhere" not found\. Name a namespace/,
    ],
    [
      'may not be created',
      [{ kind: 'forbidden', verb: 'create' }],
      {},
      5,
      'invalid',
      /cannot create resource "pods".*It needs the rights/,
    ],
    [
      'is evicted',
      [{ kind: 'evicted', nth: 2, afterExecs: 2 }],
      {},
      1,
      'failed',
      /the pod has ended \(Evicted: The node was low on resource: memory\.\)\. The node was short/,
    ],
    [
      'runs out of memory',
      [{ kind: 'oom', nth: 2, afterExecs: 2 }],
      {},
      1,
      'failed',
      /OOMKilled.*Raise the container's memory limit/,
    ],
    [
      'is on a node that is lost',
      [{ kind: 'node-lost', nth: 2, afterExecs: 2 }],
      {},
      1,
      'failed',
      /the node is lost: Node node-1/,
    ],
  ];
  it.each(cases)(
    'say why no number is known of one that %s, and leave nothing',
    async (_, faults, { more }, exit, status, reason) => {
      const on = cluster(faults);
      const { code, stdout } = await compare(on, ['native', pod('pod', on.template('plain'), more)]).done;
      const [, rounds] = parseComparison(stdout).systems;
      expect(rounds?.[0]?.metrics[0]).toMatchObject({ status, reason: expect.stringMatching(reason) });
      expect(code).toBe(exit);
      await expectNothingLeft(on);
    },
  );

  it('whose image is missing say so', async () => {
    const on = cluster();
    const template = on.template('plain', { container: { image: 'localhost/none:1', imagePullPolicy: 'Never' } });
    const { code, stdout } = await compare(on, ['native', pod('pod', template)]).done;
    const reason = parseComparison(stdout).systems[1]?.[0]?.metrics[0]?.reason;
    expect(reason).toMatch(/its container cannot start \(ImagePullBackOff: .*\)\. Load the image on the node/);
    expect(code).toBe(5);
    await expectNothingLeft(on);
  });

  it('go on where the API server does not answer at times', async () => {
    const on = cluster([
      { kind: 'api-timeout', verb: 'get', nth: [2, 3] },
      { kind: 'api-timeout', verb: 'delete', nth: 1 },
      { kind: 'lost-answer', nth: 1 },
    ]);
    const { code, stdout } = await compare(on, ['native', pod('pod', on.template('plain'))]).done;
    expect(parseComparison(stdout).systems[1]?.[0]?.metrics[0]).toMatchObject({ status: 'ok' });
    expect(code).toBe(0);
    await expectNothingLeft(on);
  });

  it('refuse a round on another card, and take a pod that gets the right one', async () => {
    const twoCards = { gpus: CARDS };
    const on = cluster([{ kind: 'other-gpu', nth: [2, 4, 5, 6] }], twoCards);
    const systems = ['native', pod('pod', on.template('plain'))];
    const { code, stdout } = await compare(on, systems, { rounds: 2, sim: 'devices=2' }).done;
    const rounds = parseComparison(stdout).systems[1] ?? [];
    expect(rounds[0]?.metrics[0]).toMatchObject({ status: 'ok' });
    expect(rounds[1]?.metrics[0]).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining(`3 pods in a row got ${CARDS[1]} where ${CARDS[0]} is measured`),
    });
    expect(code).toBe(1);
    await expectNothingLeft(on);
  });

  it('run programs, whose proof is said to be missing', async () => {
    const on = cluster();
    const output = join(emptyFolder(), 'out');
    const few = [
      '--simulate',
      '--rounds',
      '1',
      '--warmup',
      '0',
      '--iterations',
      '1',
      '--system',
      pod('pod', on.template('plain')),
    ];
    const running = start(
      ['exec', ...few, '--output', output, '--json', '-', '--', '/bin/sh', '-c', 'echo n=7'],
      on.environment,
    );
    const { code, stdout } = await running.done;
    const [round] = parseComparison(stdout).systems[0] ?? [];
    expect(round?.metrics.find(({ id }) => id.endsWith('/wall'))).toMatchObject({ status: 'ok' });
    expect(round?.system.processes).toEqual({ proven: 0, of: 1 });
    expect(code).toBe(0);
    await expectNothingLeft(on);
  });

  it('are deleted where the command is killed, and named by the next one where its guardian is, too', async () => {
    const on = cluster([], { replicas: 10 });
    const systems = ['native', pod('pod', on.template('plain'))];
    const first = compare(on, systems, {});
    await expect.poll(() => on.calls().filter((call) => call.includes('exec')).length).toBeGreaterThan(1);
    first.child.kill('SIGKILL');
    await first.done;
    await expect.poll(() => on.pods()).toEqual([]);

    const second = compare(on, systems, {});
    await expect.poll(() => on.pods()).not.toEqual([]);
    for (const pid of guardiansOf(second.child.pid as number)) process.kill(pid, 'SIGKILL');
    second.child.kill('SIGKILL');
    await second.done;
    const [left = ''] = on.pods();
    expect(left).toMatch(/gvb-/);
    const { stdout } = await compare(on, systems).done;
    const name = /gvb-[^/]*(?=\.json)/.exec(left)?.[0];
    expect(parseComparison(stdout).systems[1]?.[0]?.warnings.join()).toContain(
      `an earlier run left a pod: kubectl delete pod ${name}`,
    );
  });
});

const guardiansOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number)
    .filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('pod-guardian'));
