/**
 * Pods as systems, through a kubectl of ours that runs them by podman (test/kubectl): the whole path of the launcher, what is adopted and
 * proven, and what is left after every way to fail. A few comparisons run at once, each judged by several tests.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import type { ComparisonDocument } from '../../lib/results/document.js';
import { sha256 } from '../../lib/systems/proof/file-hash.js';
import { type Fault, PodmanHost, TestCluster } from '../kubectl/cluster.js';
import { TEST_MS, WAIT_MS } from '../limits.js';
import { ownRegion } from '../temporary.js';
import { command, emptyFolder, hasDriver, parseComparison, root, simulatedFolder, start } from './command.js';
import { withoutPodman } from './containers.js';

const cannot = withoutPodman('systems of kind pod with a kubectl of ours');
const CARDS = [0, 1].map((index) => `GPU-67766273-696d-4000-8000-00000000000${index}`);
/** The difference of the cards is far larger than that of rounds. */
const SLOW_SECOND = 'devices=2,tensor_tflops@1=2,fp32_tflops@1=1,dram_gbs@1=200';
/** What the simulated card has. */
const CARD_MIB = 143_771;
const layer = interposerLibrary() as string;
const hami = { container: { resources: { limits: { 'nvidia.com/gpu': 1, 'nvidia.com/gpumem': 4096 } } } };
const paths = `package=${root.replace(/\/$/, '')},node=${process.execPath}`;
const pod = (name: string, template: string, more = '') => `pod:name=${name},template=${template},${paths}${more}`;
const few = ['--tier', 'quick', '--rounds', '1', '--iterations', '20'];

interface Measured {
  on: TestCluster;
  code: number | null;
  document: ComparisonDocument;
}

function started(on: TestCluster, systems: readonly string[], words: readonly string[], sim = '') {
  const named = systems.flatMap((each) => ['--system', each]);
  const output = ['--output', join(emptyFolder(), 'out'), '--json', '-'];
  const [name = '', ...more] = words;
  const [own, program] = [more.slice(0, more.indexOf('--')), more.slice(more.indexOf('--'))];
  const args = more.includes('--') ? [...own, ...named, ...output, ...program] : [...more, ...named, ...output];
  return start([name, ...args], on.environment, sim);
}

async function measured(...run: Parameters<typeof started>): Promise<Measured> {
  const { code, stdout } = await started(...run).done;
  return { on: run[0], code, document: parseComparison(stdout) };
}

const compare = (...metrics: string[]) => ['compare', ...metrics, '--simulate', ...few];

/** Systems of a comparison by name: what became of the first metric of their first round. */
const outcomeOf = ({ document }: Measured, name: string) =>
  document.systems.find(([round]) => round?.system.name === name)?.[0]?.metrics[0];

describe.skipIf(cannot)('pods', () => {
  let host: PodmanHost;
  const clusters: TestCluster[] = [];
  const cluster = (faults: Fault[] = [], more: object = {}) => {
    const made = new TestCluster(host, { gpus: CARDS.slice(0, 1), layer, faults, ...more });
    clusters.push(made);
    return made;
  };
  let [injected, refused, failed, executed, proven, untold, split]: (Measured | undefined)[] = [];
  let placed: ComparisonDocument | undefined;
  let fromElsewhere: { groundTruth: string; run: Measured }[] = [];

  beforeAll(async () => {
    host = new PodmanHost();
    [[injected, executed, proven, untold], [refused], [failed, split], fromElsewhere, placed] = await Promise.all([
      inOrder(measureInjected, measureProgram, measureLayered, measureUntold),
      inOrder(measureRefused),
      inOrder(measureFailed, measureSplit),
      hasDriver ? [] : measureFromElsewhere(),
      measurePlaced(),
    ]);
  }, 3 * TEST_MS);
  afterAll(() => {
    for (const each of clusters) each.stop();
    host.remove();
  });

  /** After two commands that were killed in the same cluster, of which the second could not even be guarded. */
  async function measureInjected(): Promise<Measured> {
    const on = cluster([], { replicas: 10 });
    const plain = pod('plain', on.template('plain'));
    const begun = () => started(on, ['native', plain], compare('OH-002'));
    const first = begun();
    await until(() => on.calls().filter((call) => call.includes('exec')).length > 1);
    first.child.kill('SIGKILL');
    await first.done;
    await until(() => on.pods().length === 0);
    const second = begun();
    await until(() => on.pods().length > 0);
    for (const pid of guardiansOf(second.child.pid as number)) process.kill(pid, 'SIGKILL');
    second.child.kill('SIGKILL');
    await second.done;
    return measured(on, ['native', plain, pod('hami', on.template('hami', hami))], compare('OH-002', 'IS-001'));
  }

  function measureProgram(): Promise<Measured> {
    const on = cluster();
    const once = ['--simulate', '--rounds', '1', '--warmup', '0', '--iterations', '1'];
    const words = ['exec', ...once, '--', '/bin/sh', '-c', 'echo n=7'];
    return measured(on, [pod('pod', on.template('plain'))], words);
  }

  const task = [process.execPath, join(root, 'examples/programs/gpu-task.mjs'), 'cold-start'];
  const layered = (on: TestCluster, ...systems: string[]) => {
    const once = ['--simulate', '--rounds', '1', '--warmup', '0', '--iterations', '1'];
    return measured(on, [...systems, pod('hami', on.template('hami', hami))], ['exec', ...once, '--', ...task]);
  };
  const measureLayered = () => {
    const on = cluster();
    return layered(on, pod('plain', on.template('plain')));
  };
  /** The layer is loaded, and knows no limit. */
  const measureUntold = () => layered(cluster([], { tells: false }));

  /** With and without an unhooked pod, one comparison after the other. */
  async function measureFromElsewhere() {
    const on = cluster([], { replicas: 10 });
    // The driver of the node, which its runtime would mount.
    const env = [
      { name: 'LD_LIBRARY_PATH', value: simulatedFolder },
      { name: 'GVB_SIM', value: `region=${ownRegion('pods')},init_ms=4,context_ms=4` },
    ];
    const plain = on.template('plain', { container: { env } });
    const limited = on.template('hami', { container: { ...hami.container, env } });
    const truth = on.template('truth', { container: { env, resources: {} } });
    const systems = (more: string) => [pod('plain', plain, more), pod('hami', limited, more)];
    const words = ['compare', 'OH-002', ...few];
    return [
      { groundTruth: 'nvml', run: await measured(on, systems(`,truth=${truth}`), words) },
      { groundTruth: 'none', run: await measured(on, systems(''), words) },
    ];
  }

  /** The second card is slower. The first pod of a system is looked at; a round that gets another card has three. */
  async function measurePlaced(): Promise<ComparisonDocument> {
    const faults: Fault[] = [
      { kind: 'other-gpu', pod: 'one', nth: [3, 4, 5, 6, 7, 8] },
      { kind: 'other-gpu', pod: 'two', nth: [3, 4, 5] },
    ];
    const on = cluster(faults, { gpus: CARDS });
    const template = on.template('plain');
    const config = join(on.folder, 'config.yaml');
    const system = (name: string) => ({
      kind: 'pod',
      name,
      template,
      package: root.replace(/\/$/, ''),
      node: process.execPath,
    });
    const workload = {
      name: 'attention',
      argv: [process.execPath, join(root, 'examples/programs/gpu-task.mjs'), 'short-compute'],
      metrics: { rate: { jsonl: '/value', unit: 'TFLOPS', direction: 'higher' } },
    };
    writeFileSync(config, stringify({ systems: ['one', 'two'].map(system), workloads: [workload] }));
    const words = ['exec', '--config', config, '--simulate', '--rounds', '3', '--warmup', '0', '--iterations', '1'];
    const output = ['--output', join(emptyFolder(), 'out'), '--json', '-'];
    const { stdout } = await start([...words, ...output], on.environment, SLOW_SECOND).done;
    return parseComparison(stdout);
  }

  function measureRefused(): Promise<Measured> {
    const faults: Fault[] = [
      { kind: 'pending', pod: 'pending' },
      { kind: 'forbidden', verb: 'create', pod: 'forbidden' },
    ];
    const on = cluster(faults, { layer: undefined });
    const plain = on.template('plain');
    const image = on.template('image', { container: { image: 'localhost/none:1', imagePullPolicy: 'Never' } });
    const systems = [
      'native',
      pod('pending', plain, ',startTimeout=1s'),
      pod('nowhere', plain, ',namespace=nowhere'),
      pod('forbidden', plain),
      pod('image', image),
      pod('unenforced', on.template('hami', hami)),
    ];
    return measured(on, systems, compare('OH-002'));
  }

  /** The first pod of a system is looked at, the second is the round's. */
  function measureFailed(): Promise<Measured> {
    const faults: Fault[] = [
      { kind: 'evicted', pod: 'evicted', nth: 2, afterExecs: 2 },
      { kind: 'oom', pod: 'oom', nth: 2, afterExecs: 2 },
      { kind: 'node-lost', pod: 'lost', nth: 2, afterExecs: 2 },
      { kind: 'api-timeout', verb: 'get', pod: 'unsteady', nth: [2, 3] },
      { kind: 'api-timeout', verb: 'delete', pod: 'unsteady', nth: 1 },
      { kind: 'lost-answer', pod: 'unsteady', nth: 1 },
      { kind: 'other-gpu', pod: 'astray', nth: 2 },
      { kind: 'other-gpu', pod: 'elsewhere', nth: [2, 3, 4] },
    ];
    const on = cluster(faults, { gpus: CARDS });
    const plain = on.template('plain');
    const names = ['evicted', 'oom', 'lost', 'unsteady', 'astray', 'elsewhere'];
    const systems = ['native', ...names.map((name) => pod(name, plain))];
    return measured(on, systems, compare('OH-002'), 'devices=2');
  }

  /** Clients of daemons whose defaults are a share of 4, none, and no equal shares. */
  function measureSplit(): Promise<Measured> {
    const memory = (count: number) => `0=${Math.floor(CARD_MIB / count)}M`;
    const mps = {
      quarter: { threads: 25, memory: memory(4) },
      unset: {},
      unequal: { threads: 25, memory: memory(2) },
      stated: { threads: 25, memory: memory(4) },
    };
    const env = [
      { name: 'CUDA_MPS_ACTIVE_THREAD_PERCENTAGE', value: '10' },
      { name: 'CUDA_MPS_PINNED_DEVICE_MEM_LIMIT', value: '0=8G' },
    ];
    const on = cluster([], { replicas: 4, mps });
    const templateOf = (name: string) =>
      name === 'stated' ? on.template(name, { container: { env } }) : on.template('mps');
    const systems = Object.keys(mps).map((name) => pod(name, templateOf(name), ',under=mps'));
    return measured(on, ['native', ...systems], compare('OH-002', 'IS-001'));
  }

  it('are measured with what the cluster injected, which is proven inside', async () => {
    const { document, code } = injected as Measured;
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
  });

  const withoutGpu = hasDriver ? it.skip : it;
  withoutGpu('are measured from a machine without a GPU, with and without an unhooked pod', () => {
    expect(fromElsewhere).toHaveLength(2);
    for (const { groundTruth, run } of fromElsewhere)
      for (const round of run.document.systems.flat()) {
        expect(round).toMatchObject({ groundTruth, metrics: [{ status: 'ok' }] });
        expect(round.warnings.join().includes('No unhooked pod reads NVML')).toBe(groundTruth === 'none');
        expect(round.gpu[0]?.uuid).toBe(CARDS[0]);
      }
  });

  it.each([
    [
      'of which nothing enforces what they ask for',
      'unenforced',
      /what the template asks for is there: a layer that intercepts is asked for \(nvidia.com\/gpumem\), inside is the bare driver\. Nothing enforces/,
    ],
    [
      'that are pending for ever',
      'pending',
      /it did not run within 1 s: Unschedulable: 0\/1 nodes are available: 1 Insufficient nvidia.com\/gpu\. Other pods hold/,
    ],
    ['in a namespace that is not there', 'nowhere', /namespaces "nowhere" not found\. Name a namespace/],
    ['that may not be created', 'forbidden', /cannot create resource "pods".*It needs the rights/],
    [
      'whose image is missing',
      'image',
      /its container cannot start \(ImagePullBackOff: .*\)\. Load the image on the node/,
    ],
  ])('%s are not published, with the reason', (_, name, reason) => {
    expect(outcomeOf(refused as Measured, name)).toMatchObject({
      status: 'invalid',
      reason: expect.stringMatching(reason),
    });
    expect(refused?.code).toBe(5);
  });

  it.each([
    [
      'are evicted',
      'evicted',
      /the pod has ended \(Evicted: The node was low on resource: memory\.\)\. The node was short/,
    ],
    ['run out of memory', 'oom', /OOMKilled.*Raise the container's memory limit/],
    ['are on a node that is lost', 'lost', /the node is lost: Node node-1/],
  ])('that %s fail their round with the reason', (_, name, reason) => {
    expect(outcomeOf(failed as Measured, name)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(reason),
    });
    expect(failed?.code).toBe(1);
  });

  it.each([
    ['the API server does not answer at times', 'unsteady'],
    ['the first one gets another card', 'astray'],
  ])('go on where %s', (_, name) => {
    expect(outcomeOf(failed as Measured, name)).toMatchObject({ status: 'ok' });
  });

  it('that get another card each time are measured there, and compared with nothing on another', () => {
    const { document } = failed as Measured;
    const [round] = document.systems.find(([each]) => each?.system.name === 'elsewhere') ?? [];
    expect(round?.metrics[0]).toMatchObject({ status: 'ok' });
    expect(round?.gpu[0]?.uuid).toBe(CARDS[1]);
    expect(document.effects.find(({ system }) => system === 'elsewhere')).toMatchObject({
      verdict: 'invalid',
      ratio: null,
      reason: expect.stringContaining('both ran on one card in 0 of 1 rounds, 2 are needed'),
    });
    expect(document.warnings).toContain(
      `elsewhere is compared with native within no card; round 1 is left out: elsewhere ran on ${CARDS[1]}, native on ${CARDS[0]}`,
    );
  });

  it('are compared within each card, whatever card their rounds got', () => {
    const { systems = [], effects = [], cards, warnings = [] } = placed ?? {};
    const rates = systems.map((rounds) =>
      rounds.map(({ metrics }) => metrics.find(({ id }) => /rate$/.test(id))?.value ?? 0),
    );
    const [fast = 0, slow = 0] = rates[0] ?? [];
    expect(slow).toBeLessThan(0.9 * fast);
    expect(systems.map((rounds) => rounds.map(({ gpu }) => CARDS.indexOf(gpu[0]?.uuid ?? '')))).toEqual([
      [0, 1, 1],
      [0, 1, 0],
    ]);
    expect(systems.flat().map(({ system }) => system.processes)).toEqual(Array(6).fill({ proven: 1, of: 1 }));
    const effect = effects.find(({ metric }) => /rate$/.test(metric));
    // The system's rates against the baseline's within the rounds that both had on one card; less is worse.
    const within = [0, 1].map((round) => Math.log((rates[0]?.[round] ?? 0) / (rates[1]?.[round] ?? 0)));
    expect(effect?.rounds).toBe(2);
    expect(effect?.ratio).toBeCloseTo(Math.exp(within.reduce((sum, value) => sum + value) / within.length), 6);
    expect(cards).toMatchObject([
      {
        paired: [
          { uuid: CARDS[0], rounds: [1] },
          { uuid: CARDS[1], rounds: [2] },
        ],
        leftOut: [{ round: 3 }],
      },
    ]);
    expect(warnings.join('\n')).toContain(
      `two is compared with one within 2 cards: ${CARDS[0]} (round 1), ${CARDS[1]} (round 2); round 3 is left out`,
    );
  });

  it.each([
    [
      'equal shares of a daemon of MPS, read back in the process',
      'quarter',
      '1 of 4 equal shares, 25 % of the threads and 35942 MiB',
      'ok',
      ['multiprocessors in the tenant against the card', 'free memory in the tenant against its pinned limit'],
    ],
    ['no limit where a daemon of MPS sets none', 'unset', 'none', 'unsupported', []],
    [
      'no memory limit where the shares of a daemon of MPS are not of one number',
      'unequal',
      '25 % of the multiprocessors, no memory limit',
      'unsupported',
      ['multiprocessors in the tenant against the card'],
    ],
  ])('adopt %s', (_, name, limits, status, proofs) => {
    const [round] = split?.document.systems.find(([each]) => each?.system.name === name) ?? [];
    expect(round?.system.settings).toMatchObject({
      'pod.under': 'mps',
      'pod.limits': `read back in the process: ${limits}`,
    });
    expect(round?.metrics.map((metric) => [metric.id, metric.status])).toEqual([
      ['OH-002', 'ok'],
      ['IS-001', status],
    ]);
    const { attestation = [] } = round?.system ?? {};
    expect(attestation.filter(({ passed }) => !passed)).toEqual([]);
    expect(attestation.map(({ proof }) => proof)).toEqual(
      expect.arrayContaining(['multiprocessors are those of the first pod', ...proofs]),
    );
    const doubts = round?.warnings.filter((warning) => warning.startsWith('No memory limit is adopted')) ?? [];
    expect(doubts).toEqual(
      name === 'unequal' ? [expect.stringMatching(/33 of 132 multiprocessors \(1 of 4\) and .* \(1 of 2\)/)] : [],
    );
    expect(split?.code).toBe(0);
  });

  it('adopt the limits of a client of MPS from variables that state them', () => {
    const [round] = split?.document.systems.find(([each]) => each?.system.name === 'stated') ?? [];
    expect(round?.system.settings).not.toHaveProperty(['pod.limits']);
    expect(round?.metrics.map(({ status }) => status)).toEqual(['ok', 'ok']);
    const detail = (name: string) => round?.system.attestation.find(({ proof }) => proof === name)?.detail;
    expect(detail('multiprocessors in the tenant against the card')).toContain('14 of 132, 10 % was set');
    expect(detail('free memory in the tenant against its pinned limit')).toContain('the limit is 8192 MiB');
  });

  it('run programs that are proven inside, on the bare driver and under a layer', () => {
    for (const [round] of proven?.document.systems ?? []) {
      expect(round?.metrics.find(({ id }) => id.endsWith('/wall'))).toMatchObject({ status: 'ok' });
      expect(round?.system.processes).toEqual({ proven: 1, of: 1 });
    }
    expect(proven?.document.systems[1]?.[0]?.system.layer).toMatchObject({ path: layer, active: true });
    expect(proven?.code).toBe(0);
  });

  it('run no program where the layer was not told the limit that they ask for', () => {
    expect(outcomeOf(untold as Measured, 'hami')).toMatchObject({
      status: 'invalid',
      reason: expect.stringMatching(
        /limits that the template asks for were injected: .* no limit of memory is in the environment/,
      ),
    });
    expect(untold?.code).toBe(5);
  });

  it('run programs that are linked statically, whose proof is said to be missing', () => {
    const [round] = executed?.document.systems[0] ?? [];
    expect(round?.metrics.find(({ id }) => id.endsWith('/wall'))).toMatchObject({ status: 'ok' });
    expect(round?.system.processes).toEqual({ proven: 0, of: 1 });
    expect(executed?.code).toBe(0);
  });

  it('that a killed command left are named by the next one and by doctor, and removed by what they advise', async () => {
    const { on, document } = injected as Measured;
    const [file = ''] = on.pods();
    const name = /gvb-[^/]*(?=\.json)/.exec(file)?.[0] ?? 'none';
    const [, advice = ''] = /an earlier run left a pod: kubectl (delete pod \S+)/.exec(warningsOf(document)) ?? [];
    expect(advice).toBe(`delete pod ${name}`);
    const findings = async () => {
      const { stdout } = await command(['doctor', '--json', '-'], on.environment);
      return (JSON.parse(stdout) as { findings: object[] }).findings;
    };
    const left = { severity: 'warning', text: 'An earlier run left a pod.', fix: `kubectl ${advice}` };
    expect(await findings()).toContainEqual(left);
    execFileSync(on.kubectl, advice.split(' '), { env: { ...process.env, ...on.environment } });
    expect(await findings()).not.toContainEqual(left);
  });

  it('leave nothing, neither in the cluster nor in podman', async () => {
    for (const on of clusters) expect(on.pods()).toEqual([]);
    await expect.poll(() => host.containers()).toEqual([]);
  });
});

const warningsOf = ({ systems }: ComparisonDocument): string =>
  systems.flatMap((rounds) => rounds.flatMap(({ warnings }) => warnings)).join('\n');

const until = (isSo: () => boolean) => vi.waitFor(() => expect(isSo()).toBe(true), { timeout: WAIT_MS, interval: 20 });

/** One comparison after the other. */
async function inOrder(...runs: (() => Promise<Measured>)[]): Promise<Measured[]> {
  const all: Measured[] = [];
  for (const run of runs) all.push(await run());
  return all;
}

const guardiansOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number)
    .filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('pod-guardian'));
